// Converts Failure messages (temporal.api.failure.v1) to the official classes and back, field by
// field. A decoded failure that is thrown again is written as it arrived.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  RetryState as RetryStateNumber,
  TimeoutType as TimeoutTypeNumber,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { ApplicationErrorCategory } from "../../messages/generated/temporal/api/enums/v1/common_pb.ts";
import { NexusHandlerErrorRetryBehavior } from "../../messages/generated/temporal/api/enums/v1/nexus_pb.ts";
import { enumName } from "../../converter/enums.ts";
import {
  fromPayloads,
  type Payload,
  type PayloadConverter,
  toPayloads,
} from "../../converter/payload.ts";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  FAILURE_SOURCE,
  NexusOperationFailure,
  type RetryState,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "./failures.ts";
import {
  CAUSES_LEFT_OUT,
  CIRCULAR_CAUSE,
  encodeFailure as encodeAnything,
} from "../../converter/failure_converter.ts";
import { failureTrace } from "../../converter/stack.ts";
import {
  MAX_CAUSES,
  MAX_NAME,
  messageOf,
  nameOf,
  safeText,
  setStack,
} from "../../converter/thrown.ts";
import { isHandlerError, NexusHandlerError } from "./handler_error.ts";
import { originalError } from "./originals.ts";
import { fromPlain, type PlainMessage, toPlain } from "./plain_proto.ts";
import { timeoutMs } from "./time.ts";
import type { SerializationContext } from "./type_info.ts";
import { durationFromMs } from "../../messages/well_known.ts";

/** A Failure message in the official packages' form. */
export type ProtoFailure = PlainMessage;
type Info = Failure["failureInfo"];
type InfoInit = NonNullable<Parameters<typeof create<typeof FailureSchema>>[1]>["failureInfo"];

/** The part of a program's failure converter that is used here. */
export interface CustomFailures {
  errorToFailure(
    error: unknown,
    converter: PayloadConverter,
    context?: SerializationContext,
  ): ProtoFailure;
  failureToError(
    failure: ProtoFailure,
    converter: PayloadConverter,
    context?: SerializationContext,
  ): Error;
}

/** By the associated payload converter. */
const custom = new WeakMap<
  PayloadConverter,
  { failures: CustomFailures; context: SerializationContext | undefined }
>();

/** Uses `failures`, for this owner of values, together with payload converter `converter`. */
export function convertFailuresBy(
  failures: CustomFailures,
  converter: PayloadConverter,
  context?: SerializationContext,
): void {
  custom.set(converter, { failures, context });
}

/** Returns the error of a Failure message. */
export function decodeCompatFailure(
  bytes: Uint8Array,
  converter: PayloadConverter,
): TemporalFailure {
  const own = custom.get(converter);
  if (own !== undefined) {
    const failure = toPlain(FailureSchema, fromBinary(FailureSchema, bytes));
    return own.failures.failureToError(failure, converter, own.context) as TemporalFailure;
  }
  // Errors outside Temporal's classes occur only as a cause.
  return toError(fromBinary(FailureSchema, bytes), converter) as TemporalFailure;
}

/** `shown`: the message in the official form, which contains those of the causes. */
function toError(
  failure: Failure,
  converter: PayloadConverter,
  shown: ProtoFailure = toPlain(FailureSchema, failure),
): Error {
  const readable = withEncodedAttributes(failure, converter);
  const cause = failure.cause === undefined
    ? undefined
    : toError(failure.cause, converter, shown.cause);
  const { info } = readable;
  const error = info.case === "nexusHandlerFailureInfo"
    ? makeHandlerError(readable.message, info.value, shown, cause)
    : makeFailureError(readable, cause as TemporalFailure | undefined, converter);
  setStack(error, readable.stackTrace);
  if (error instanceof TemporalFailure) cameAs(error, failure, shown);
  return error;
}

/** Marks the details of a NexusFailure as a Failure message. */
const TEMPORAL_FAILURE = "temporal.api.failure.v1.Failure";

type HandlerInfo = Extract<Info, { case: "nexusHandlerFailureInfo" }>["value"];

/** Returns the error of a handler's failure; `shown`: the message in the official form. */
export function makeHandlerError(
  message: string,
  { type, retryBehavior }: HandlerInfo,
  shown: ProtoFailure,
  cause: Error | undefined,
): Error {
  const { RETRYABLE, NON_RETRYABLE } = NexusHandlerErrorRetryBehavior;
  const { message: text = "" } = shown as { message?: string };
  return new NexusHandlerError(message, {
    rawErrorType: type,
    retryableOverride: retryBehavior === RETRYABLE
      ? true
      : retryBehavior === NON_RETRYABLE
      ? false
      : undefined,
    originalFailure: { message: text, metadata: { type: TEMPORAL_FAILURE }, details: { ...shown } },
    cause,
  });
}

/**
 * Returns the message that a handler error was decoded from, or its remains in another form;
 * undefined for a new error.
 */
function handlerErrorAsItCame(
  { originalFailure, retryable }: NexusHandlerError,
): Failure | undefined {
  if (originalFailure === undefined) return undefined;
  if (originalFailure.metadata?.["type"] === TEMPORAL_FAILURE) {
    return fromPlain(FailureSchema, originalFailure.details);
  }
  const data = new TextEncoder().encode(JSON.stringify({ ...originalFailure, message: "" }));
  const payload = { metadata: { encoding: new TextEncoder().encode("json/plain") }, data };
  const value = {
    type: "NexusFailure",
    nonRetryable: !retryable,
    details: { payloads: [payload] },
  };
  const { message, stackTrace = "" } = originalFailure;
  return create(FailureSchema, {
    message,
    stackTrace,
    failureInfo: { case: "applicationFailureInfo", value },
  });
}

/**
 * Messages of decoded failures with their public form: if the program replaces `failure`, the new
 * one counts.
 */
const encoded = new WeakMap<object, { readonly bytes: Uint8Array; readonly shown: ProtoFailure }>();

/**
 * Records the message of a decoded error and sets `failure` in the official form, as a plain
 * printable field.
 */
export function cameAs(error: TemporalFailure, failure: Failure, shown: ProtoFailure): void {
  encoded.set(error, { bytes: toBinary(FailureSchema, failure), shown });
  (error as { failure?: ProtoFailure }).failure = shown;
  Object.defineProperty(error, "source", {
    value: failure.source,
    configurable: true,
    writable: true,
  });
}

/**
 * Returns the message that an error was decoded from, or that the program set; undefined for a new
 * error.
 */
function asItCame(error: TemporalFailure): Failure | undefined {
  const given: unknown = error.failure;
  const read = encoded.get(error);
  if (read !== undefined && read.shown === given) return fromBinary(FailureSchema, read.bytes);
  return given === undefined || given === null ? undefined : fromPlain(FailureSchema, given);
}

/** Restores message and stack trace of a failure with encoded attributes. */
function withEncodedAttributes(
  failure: Failure,
  converter: PayloadConverter,
): { message: string; stackTrace: string; info: Info } {
  let { message, stackTrace } = failure;
  if (failure.encodedAttributes !== undefined) {
    const found = converter.fromPayload(failure.encodedAttributes);
    if (typeof found === "object" && found !== null) {
      const { message: text, stack_trace: trace } = found as {
        message?: unknown;
        stack_trace?: unknown;
      };
      if (typeof text === "string") message = text;
      if (typeof trace === "string") stackTrace = trace;
    }
  }
  return { message, stackTrace, info: failure.failureInfo };
}

/** Returns the error of one failure, without a stack, with its cause. */
export function makeFailureError(
  { message, info }: { message: string; info: Info },
  cause: TemporalFailure | undefined,
  converter: PayloadConverter,
): TemporalFailure {
  const values = (payloads: { payloads: Payload[] } | undefined) =>
    fromPayloads(converter, payloads?.payloads);
  switch (info.case) {
    case "applicationFailureInfo": {
      const { type, nonRetryable, details, category } = info.value;
      const kind = category === ApplicationErrorCategory.BENIGN ? "BENIGN" : undefined;
      return new ApplicationFailure(
        message,
        type,
        nonRetryable,
        values(details),
        cause,
        undefined,
        kind,
      );
    }
    case "serverFailureInfo":
      return new ServerFailure(message, info.value.nonRetryable, cause);
    case "timeoutFailureInfo": {
      const type = enumName(TimeoutTypeNumber, info.value.timeoutType);
      // Without a cause, like Temporal's converter; programs see no difference.
      return new TimeoutFailure(message, values(info.value.lastHeartbeatDetails)[0], type);
    }
    case "terminatedFailureInfo":
      return new TerminatedFailure(message, cause);
    case "canceledFailureInfo":
      return new CancelledFailure(message, values(info.value.details), cause);
    case "resetWorkflowFailureInfo":
      return new ApplicationFailure(
        message,
        "ResetWorkflow",
        false,
        values(info.value.lastHeartbeatDetails),
        cause,
      );
    case "activityFailureInfo": {
      const { activityType, activityId, retryState, identity } = info.value;
      const state = enumName(RetryStateNumber, retryState);
      return new ActivityFailure(
        message,
        activityType?.name ?? "",
        activityId,
        state,
        identity,
        cause,
      );
    }
    case "childWorkflowExecutionFailureInfo": {
      const { namespace, workflowExecution, workflowType, retryState } = info.value;
      const execution = {
        workflowId: workflowExecution?.workflowId ?? "",
        runId: workflowExecution?.runId ?? "",
      };
      const state = enumName(RetryStateNumber, retryState);
      return new ChildWorkflowFailure(namespace, execution, workflowType?.name ?? "", state, cause);
    }
    case "nexusOperationExecutionFailureInfo": {
      const { scheduledEventId, endpoint, service, operation, operationToken } = info.value;
      return new NexusOperationFailure(
        message,
        Number(scheduledEventId),
        endpoint,
        service,
        operation,
        operationToken,
        cause,
      );
    }
    default:
      return new TemporalFailure(message, cause);
  }
}

/**
 * Returns the Failure message of a thrown value, with as much as can be read. `strict`: values that
 * cannot be converted throw, as in the official SDK, because their message would be in history.
 */
export function encodeCompatFailure(
  error: unknown,
  converter: PayloadConverter,
  strict = false,
): Uint8Array {
  const own = custom.get(converter);
  if (own !== undefined) {
    return toBinary(
      FailureSchema,
      fromPlain(FailureSchema, own.failures.errorToFailure(error, converter, own.context)),
    );
  }
  try {
    return toBinary(FailureSchema, toMessage(error, converter, new Set()));
  } catch (cannot) {
    if (strict && !(cannot instanceof RangeError)) throw cannot;
    return encodeAnything(error, converter);
  }
}

/** Returns the message of one error; `causeOf` converts its cause. */
export function messageOfError(
  error: Error,
  converter: PayloadConverter,
  causeOf: (cause: unknown) => Failure,
): Failure {
  const came = error instanceof TemporalFailure
    ? asItCame(error)
    : isHandlerError(error)
    ? handlerErrorAsItCame(error)
    : undefined;
  if (came !== undefined) return came;
  return create(FailureSchema, {
    message: messageOf(error),
    source: FAILURE_SOURCE,
    stackTrace: formatTrace(error),
    ...(error.cause ? { cause: causeOf(error.cause) } : {}),
    failureInfo: makeFailureInfo(error, converter),
  });
}

/** Failures of this package have their class name; other errors have their name at construction. */
function formatTrace(error: Error): string {
  const original = originalError(error);
  return failureTrace(
    original ?? error,
    original !== undefined || !(error instanceof TemporalFailure),
  );
}

function toMessage(error: unknown, converter: PayloadConverter, above: Set<unknown>): Failure {
  if (above.has(error) || above.size > MAX_CAUSES) {
    const message = above.has(error) ? CIRCULAR_CAUSE : CAUSES_LEFT_OUT;
    return create(FailureSchema, { message, source: FAILURE_SOURCE });
  }
  above.add(error);
  if (!(error instanceof Error)) {
    return create(FailureSchema, {
      message: safeText(inWords(error)) + NOT_AN_ERROR,
      source: FAILURE_SOURCE,
    });
  }
  const message = messageOfError(error, converter, (cause) => toMessage(cause, converter, above));
  // A cause that is not a failure has no type, as in the official packages.
  if (above.size > 1 && !hasKind(error)) message.failureInfo = { case: undefined };
  return message;
}

/**
 * Returns whether the error has a failure type: Temporal's errors, and others that a workflow or an
 * activity has converted.
 */
export function hasKind(error: Error): boolean {
  return error instanceof TemporalFailure || isHandlerError(error);
}

export const NOT_AN_ERROR =
  " [A non-Error value was thrown from your code. We recommend throwing Error objects so that we can provide a stack trace]";

export function inWords(thrown: unknown): string {
  if (typeof thrown !== "object") return String(thrown);
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}

function makeFailureInfo(error: Error, converter: PayloadConverter): InfoInit {
  const payloads = (values: unknown[] | null | undefined) =>
    values === undefined || values === null || values.length === 0
      ? undefined
      : { payloads: toPayloads(converter, values) };
  if (error instanceof ApplicationFailure) {
    const delay = error.nextRetryDelay ?? undefined;
    return applicationInfo({
      type: safeText(error.type ?? "", MAX_NAME),
      nonRetryable: error.nonRetryable ?? false,
      details: payloads(error.details),
      // A delay of zero counts: the next attempt starts at once, whatever the retry policy.
      nextRetryDelay: delay === undefined ? undefined : durationFromMs(timeoutMs(delay)),
      category: error.category === "BENIGN"
        ? ApplicationErrorCategory.BENIGN
        : ApplicationErrorCategory.UNSPECIFIED,
    });
  }
  if (error instanceof CancelledFailure) {
    return { case: "canceledFailureInfo", value: { details: payloads(error.details) } };
  }
  if (error instanceof TimeoutFailure) {
    const { timeoutType, lastHeartbeatDetails } = error;
    return {
      case: "timeoutFailureInfo",
      value: {
        timeoutType: timeoutType === undefined
          ? TimeoutTypeNumber.UNSPECIFIED
          : TimeoutTypeNumber[timeoutType],
        lastHeartbeatDetails: lastHeartbeatDetails === undefined
          ? undefined
          : payloads([lastHeartbeatDetails]),
      },
    };
  }
  if (error instanceof TerminatedFailure) return { case: "terminatedFailureInfo", value: {} };
  if (error instanceof ServerFailure) {
    return { case: "serverFailureInfo", value: { nonRetryable: error.nonRetryable } };
  }
  const state = (name: RetryState | undefined) =>
    name === undefined ? RetryStateNumber.UNSPECIFIED : RetryStateNumber[name];
  if (error instanceof ActivityFailure) {
    return {
      case: "activityFailureInfo",
      value: {
        activityType: { name: error.activityType },
        activityId: error.activityId ?? "",
        identity: error.identity ?? "",
        retryState: state(error.retryState),
      },
    };
  }
  if (error instanceof ChildWorkflowFailure) {
    return {
      case: "childWorkflowExecutionFailureInfo",
      value: {
        namespace: error.namespace ?? "",
        workflowExecution: error.execution,
        workflowType: { name: error.workflowType },
        retryState: state(error.retryState),
      },
    };
  }
  if (error instanceof NexusOperationFailure) {
    const { scheduledEventId, endpoint, service, operation, operationToken } = error;
    return {
      case: "nexusOperationExecutionFailureInfo",
      value: {
        scheduledEventId: BigInt(scheduledEventId ?? 0),
        endpoint,
        service,
        operation,
        operationToken: operationToken ?? "",
      },
    };
  }
  if (isHandlerError(error)) {
    const { RETRYABLE, NON_RETRYABLE, UNSPECIFIED } = NexusHandlerErrorRetryBehavior;
    const { type, retryableOverride } = error;
    const retryBehavior = retryableOverride === undefined
      ? UNSPECIFIED
      : retryableOverride
      ? RETRYABLE
      : NON_RETRYABLE;
    return { case: "nexusHandlerFailureInfo", value: { type, retryBehavior } };
  }
  // As in the official packages: a failure without a type.
  if (error instanceof TemporalFailure) return { case: undefined };
  return applicationInfo({ type: nameOf(error), nonRetryable: false });
}

function applicationInfo(
  value: Extract<NonNullable<InfoInit>, { case: "applicationFailureInfo" }>["value"],
): InfoInit {
  return { case: "applicationFailureInfo", value };
}
