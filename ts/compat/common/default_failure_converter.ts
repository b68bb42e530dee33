// The failure converter that programs extend: the conversions of failure_converter.ts, over failures in the official packages' form. Causes
// go through the methods of the object, so that a subclass sees each of them.
import { create } from "@bufbuild/protobuf";
import { type Failure, FailureSchema } from "../../api/generated/temporal/api/failure/v1/message_pb.ts";
import { CAUSES_LEFT_OUT, CIRCULAR_CAUSE } from "../../converter/failure_converter.ts";
import { failureTrace } from "../../converter/stack.ts";
import { MAX_CAUSES } from "../../converter/thrown.ts";
import {
  cameAs,
  errorOf,
  handlerErrorOf,
  hasKind,
  inWords,
  messageOfError,
  NOT_AN_ERROR,
  type ProtoFailure,
} from "./failure_converter.ts";
import { FAILURE_SOURCE, TemporalFailure } from "./failures.ts";
import { type PayloadConverter, productConverter } from "./payload_converters.ts";
import { fromPlain, toPlain } from "./plain_proto.ts";
import type { SerializationContext } from "./type_info.ts";

/** Turns what was thrown into a failure and back. */
export interface FailureConverter {
  /** The failure of what was thrown. */
  errorToFailure(err: unknown, payloadConverter: PayloadConverter, context?: SerializationContext): ProtoFailure;
  /** The error of a failure. */
  failureToError(err: ProtoFailure, payloadConverter: PayloadConverter, context?: SerializationContext): Error;
}

/** What of a failure is put into a payload, where codecs encrypt it. */
export interface DefaultEncodedFailureAttributes {
  /** Its message. */
  message: string;
  /** Its stack trace. */
  stack_trace: string;
}

/** Options of a {@link DefaultFailureConverter}. */
export interface DefaultFailureConverterOptions {
  /** Puts messages and stack traces into payloads, where codecs encrypt them. Default: false. */
  encodeCommonAttributes: boolean;
}

/** The stack trace of a failure: frames of this package and of the runtime are cut off. */
export function cutoffStackTrace(stack?: string): string {
  if (!stack) return "";
  return failureTrace(Object.assign(new Error(""), { stack })).split("\n").slice(1).join("\n");
}

/** The errors whose causes are being converted, the outermost first: subclasses may change how, so a circle is not seen elsewhere. */
const above: unknown[] = [];

/** Failures as all SDKs write and read them. */
export class DefaultFailureConverter implements FailureConverter {
  /** Its options. */
  readonly options: DefaultFailureConverterOptions;

  constructor(options?: Partial<DefaultFailureConverterOptions>) {
    this.options = { encodeCommonAttributes: options?.encodeCommonAttributes ?? false };
  }

  /** The error of a failure. */
  failureToError(failure: ProtoFailure, payloadConverter: PayloadConverter, context?: SerializationContext): Error {
    const attributes: unknown = failure.encodedAttributes
      ? payloadConverter.fromPayload(failure.encodedAttributes, context)
      : undefined;
    const readable = { ...failure } as ProtoFailure;
    if (typeof attributes === "object" && attributes !== null) {
      const { message, stack_trace } = attributes as Partial<DefaultEncodedFailureAttributes>;
      if (typeof message === "string") readable.message = message;
      if (typeof stack_trace === "string") readable.stackTrace = stack_trace;
    }
    const error = this.failureToErrorInner(readable, payloadConverter, context);
    error.stack = readable.stackTrace ?? "";
    if (error instanceof TemporalFailure) cameAs(error, fromPlain(FailureSchema, failure), failure);
    return error;
  }

  /** The same without what was put into a payload, and without stack. */
  failureToErrorInner(failure: ProtoFailure, payloadConverter: PayloadConverter, context?: SerializationContext): Error {
    const cause = this.optionalFailureToOptionalError(failure.cause, payloadConverter, context);
    const { message, failureInfo } = fromPlain(FailureSchema, { ...failure, cause: undefined });
    if (failureInfo.case === "nexusHandlerFailureInfo") return handlerErrorOf(message, failureInfo.value, failure, cause);
    return errorOf(
      { message, info: failureInfo },
      cause as TemporalFailure | undefined,
      productConverter(payloadConverter, context),
    );
  }

  /** The failure of what was thrown. */
  errorToFailure(err: unknown, payloadConverter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    const failure = this.errorToFailureInner(err, payloadConverter, context);
    // A failure that is passed on has its text in the payload already; encoding it again would lose the text.
    if (!this.options.encodeCommonAttributes || failure.encodedAttributes) return failure;
    const { message, stackTrace } = failure;
    return Object.assign(failure, {
      message: "Encoded failure",
      stackTrace: "",
      encodedAttributes: payloadConverter.toPayload({ message, stack_trace: stackTrace }, context),
    });
  }

  /** The same with nothing put into a payload. */
  errorToFailureInner(err: unknown, payloadConverter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    if (!(err instanceof Error)) return { source: FAILURE_SOURCE, message: inWords(err) + NOT_AN_ERROR } as ProtoFailure;
    if (above.includes(err) || above.length > MAX_CAUSES) {
      return { source: FAILURE_SOURCE, message: above.includes(err) ? CIRCULAR_CAUSE : CAUSES_LEFT_OUT } as ProtoFailure;
    }
    const causeOf = (cause: unknown): Failure =>
      fromPlain(FailureSchema, this.optionalErrorToOptionalFailure(cause, payloadConverter, context) ?? {});
    above.push(err);
    let message: Failure;
    try {
      message = messageOfError(err, productConverter(payloadConverter, context), causeOf);
    } finally {
      above.pop();
    }
    // What is not one of Temporal's failures has no type on the wire until a workflow or activity makes one of it.
    if (!hasKind(err)) message.failureInfo = create(FailureSchema).failureInfo;
    return toPlain(FailureSchema, message) as ProtoFailure;
  }

  /** The error of a failure; undefined where there is none. */
  optionalFailureToOptionalError(
    failure: ProtoFailure | undefined | null,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): Error | undefined {
    return failure ? this.failureToError(failure, payloadConverter, context) : undefined;
  }

  /** The failure of what was thrown; undefined where nothing was. */
  optionalErrorToOptionalFailure(
    err: unknown,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure | undefined {
    return err ? this.errorToFailure(err, payloadConverter, context) : undefined;
  }
}
