// Failure converter for subclasses: conversions of failure_converter.ts over failures in the
// official packages' form. Causes are converted by methods of the object, so that subclasses can
// override them.
import { create } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { CAUSES_LEFT_OUT, CIRCULAR_CAUSE } from "../../converter/failure_converter.ts";
import { failureTrace } from "../../converter/stack.ts";
import { MAX_CAUSES, setStack } from "../../converter/thrown.ts";
import {
  cameAs,
  hasKind,
  inWords,
  makeFailureError,
  makeHandlerError,
  messageOfError,
  NOT_AN_ERROR,
  type ProtoFailure,
} from "./failure_converter.ts";
import { FAILURE_SOURCE, TemporalFailure } from "./failures.ts";
import { type PayloadConverter, productConverter } from "./payload_converters.ts";
import { fromPlain, toPlain } from "./plain_proto.ts";
import type { SerializationContext } from "./type_info.ts";

/** Converts errors to failures and back. */
export interface FailureConverter {
  /** Returns the failure of a thrown value. */
  errorToFailure(
    err: unknown,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure;
  /** Returns the error of a failure. */
  failureToError(
    err: ProtoFailure,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): Error;
}

/** Attributes of a failure that are moved into a payload, which codecs encrypt. */
export interface DefaultEncodedFailureAttributes {
  message: string;
  stack_trace: string;
}

/** Options of a {@link DefaultFailureConverter}. */
export interface DefaultFailureConverterOptions {
  /** Moves messages and stack traces into payloads, which codecs encrypt. Default: false. */
  encodeCommonAttributes: boolean;
}

/** Removes frames of this package and of the runtime from a stack trace. */
export function cutoffStackTrace(stack?: string): string {
  if (!stack) return "";
  return failureTrace(Object.assign(new Error(""), { stack })).split("\n").slice(1).join("\n");
}

/**
 * Errors whose causes are being converted, outermost first: detects cycles whatever subclasses
 * override.
 */
const above: unknown[] = [];

/** Failures in the form of all SDKs. */
export class DefaultFailureConverter implements FailureConverter {
  readonly options: DefaultFailureConverterOptions;

  constructor(options?: Partial<DefaultFailureConverterOptions>) {
    this.options = { encodeCommonAttributes: options?.encodeCommonAttributes ?? false };
  }

  failureToError(
    failure: ProtoFailure,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): Error {
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
    setStack(error, readable.stackTrace ?? "");
    if (error instanceof TemporalFailure) cameAs(error, fromPlain(FailureSchema, failure), failure);
    return error;
  }

  /** Same without encoded attributes and without a stack. */
  failureToErrorInner(
    failure: ProtoFailure,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): Error {
    const cause = this.optionalFailureToOptionalError(failure.cause, payloadConverter, context);
    const { message, failureInfo } = fromPlain(FailureSchema, { ...failure, cause: undefined });
    if (failureInfo.case === "nexusHandlerFailureInfo") {
      return makeHandlerError(message, failureInfo.value, failure, cause);
    }
    return makeFailureError(
      { message, info: failureInfo },
      cause as TemporalFailure | undefined,
      productConverter(payloadConverter, context),
    );
  }

  /** Returns the failure of a thrown value. */
  errorToFailure(
    err: unknown,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure {
    const failure = this.errorToFailureInner(err, payloadConverter, context);
    // A failure that is passed on already has its text in the payload; encoding again would lose
    // it.
    if (!this.options.encodeCommonAttributes || failure.encodedAttributes) return failure;
    const { message, stackTrace } = failure;
    return Object.assign(failure, {
      message: "Encoded failure",
      stackTrace: "",
      encodedAttributes: payloadConverter.toPayload({ message, stack_trace: stackTrace }, context),
    });
  }

  /** Same without encoded attributes. */
  errorToFailureInner(
    err: unknown,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure {
    if (!(err instanceof Error)) {
      return { source: FAILURE_SOURCE, message: inWords(err) + NOT_AN_ERROR } as ProtoFailure;
    }
    if (above.includes(err) || above.length > MAX_CAUSES) {
      return {
        source: FAILURE_SOURCE,
        message: above.includes(err) ? CIRCULAR_CAUSE : CAUSES_LEFT_OUT,
      } as ProtoFailure;
    }
    const causeOf = (cause: unknown): Failure =>
      fromPlain(
        FailureSchema,
        this.optionalErrorToOptionalFailure(cause, payloadConverter, context) ?? {},
      );
    above.push(err);
    let message: Failure;
    try {
      message = messageOfError(err, productConverter(payloadConverter, context), causeOf);
    } finally {
      above.pop();
    }
    // An error that is not a Temporal failure has no type until a workflow or activity converts it.
    if (!hasKind(err)) message.failureInfo = create(FailureSchema).failureInfo;
    return toPlain(FailureSchema, message) as ProtoFailure;
  }

  /** Returns the error of a failure; undefined without one. */
  optionalFailureToOptionalError(
    failure: ProtoFailure | undefined | null,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): Error | undefined {
    return failure ? this.failureToError(failure, payloadConverter, context) : undefined;
  }

  /** Returns the failure of a thrown value; undefined for undefined. */
  optionalErrorToOptionalFailure(
    err: unknown,
    payloadConverter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure | undefined {
    return err ? this.errorToFailure(err, payloadConverter, context) : undefined;
  }
}
