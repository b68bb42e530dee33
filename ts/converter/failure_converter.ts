// Errors to Failure messages and back (temporal.api.failure.v1). Stack traces travel as text; an unknown thing that was thrown is an
// ApplicationFailure of its constructor's name, as Temporal's SDKs do.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Failure, FailureSchema } from "../temporal/generated/temporal/api/failure/v1/message_pb.ts";
import {
  RetryState as RetryStateEnum,
  TimeoutType as TimeoutTypeEnum,
} from "../temporal/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "./failures.ts";
import { enumName } from "./enums.ts";
import { encodingReplay, LossyValueError } from "./lossy_value.ts";
import { defaultPayloadConverter, fromPayloads, type Payload, type PayloadConverter, toPayloads } from "./payload.ts";
import { stackTrace } from "./stack.ts";
import { durationMs } from "../temporal/well_known.ts";

const SOURCE = "TypeScriptSDK";

/** The Failure message of anything that was thrown. */
export function toFailure(error: unknown, converter: PayloadConverter = defaultPayloadConverter): Failure {
  if (error instanceof TemporalFailure) {
    if (error.failure !== undefined) return fromBinary(FailureSchema, error.failure);
    const base = {
      message: error.message,
      source: error.source ?? SOURCE,
      stackTrace: stackTrace(error),
      ...(error.cause === undefined ? {} : { cause: toFailure(error.cause, converter) }),
    };
    const payloads = (values: unknown[]) => values.length > 0 ? { payloads: detailPayloads(base, converter, values) } : undefined;
    if (error instanceof ApplicationFailure) {
      const delay = error.nextRetryDelayMs;
      return create(FailureSchema, {
        failureInfo: {
          case: "applicationFailureInfo",
          value: {
            type: error.type ?? "",
            nonRetryable: error.nonRetryable,
            details: payloads(error.details),
            ...(delay === undefined
              ? {}
              : { nextRetryDelay: { seconds: BigInt(Math.trunc(delay / 1000)), nanos: Math.round((delay % 1000) * 1e6) } }),
          },
        },
        ...base, // after the details, which may have changed its message
      });
    }
    if (error instanceof CancelledFailure) {
      return create(FailureSchema, {
        failureInfo: { case: "canceledFailureInfo", value: { details: payloads(error.details) } },
        ...base, // after the details, which may have changed its message
      });
    }
    if (error instanceof TimeoutFailure) {
      const type = error.timeoutType;
      return create(FailureSchema, {
        failureInfo: {
          case: "timeoutFailureInfo",
          value: {
            timeoutType: type === undefined ? TimeoutTypeEnum.UNSPECIFIED : TimeoutTypeEnum[type],
            lastHeartbeatDetails: error.lastHeartbeatDetails === undefined ? undefined : payloads([error.lastHeartbeatDetails]),
          },
        },
        ...base, // after the details, which may have changed its message
      });
    }
    if (error instanceof TerminatedFailure) {
      return create(FailureSchema, { ...base, failureInfo: { case: "terminatedFailureInfo", value: {} } });
    }
    if (error instanceof ServerFailure) {
      return create(FailureSchema, {
        ...base,
        failureInfo: { case: "serverFailureInfo", value: { nonRetryable: error.nonRetryable } },
      });
    }
    if (error instanceof ActivityFailure) {
      return create(FailureSchema, {
        ...base,
        failureInfo: {
          case: "activityFailureInfo",
          value: {
            activityType: { name: error.activityType },
            activityId: error.activityId,
            identity: error.identity,
            retryState: error.retryState === undefined ? RetryStateEnum.UNSPECIFIED : RetryStateEnum[error.retryState],
          },
        },
      });
    }
    if (error instanceof ChildWorkflowFailure) {
      return create(FailureSchema, {
        ...base,
        failureInfo: {
          case: "childWorkflowExecutionFailureInfo",
          value: {
            workflowType: { name: error.workflowType },
            workflowExecution: { workflowId: error.workflowId, runId: error.runId },
            retryState: error.retryState === undefined ? RetryStateEnum.UNSPECIFIED : RetryStateEnum[error.retryState],
          },
        },
      });
    }
    return create(FailureSchema, { ...base, failureInfo: { case: "applicationFailureInfo", value: { type: error.name } } });
  }
  if (error instanceof Error) {
    return create(FailureSchema, {
      message: error.message,
      source: SOURCE,
      stackTrace: stackTrace(error),
      ...(error.cause === undefined ? {} : { cause: toFailure(error.cause, converter) }),
      failureInfo: { case: "applicationFailureInfo", value: { type: error.name } },
    });
  }
  return create(FailureSchema, {
    message: describe(error),
    source: SOURCE,
    failureInfo: { case: "applicationFailureInfo", value: { type: "" } },
  });
}

/**
 * Details in full, or as JSON has them where something of them would be refused: the failure matters more than its details, and its message
 * says what they lack.
 */
function detailPayloads(base: { message: string }, converter: PayloadConverter, values: unknown[]): Payload[] {
  try {
    return toPayloads(converter, values);
  } catch (error) {
    if (!(error instanceof LossyValueError)) throw error;
    const said = base.message === "" ? "" : `${base.message} `;
    base.message = `${said}(of its details something is lost: details${error.message.replace(/^args/, "")})`;
    return encodingReplay(true, () => toPayloads(converter, values));
  }
}

/** The error of a Failure message. */
export function fromFailure(encoded: Failure, converter: PayloadConverter = defaultPayloadConverter): TemporalFailure {
  const failure = withText(encoded, converter);
  const cause = failure.cause === undefined ? undefined : fromFailure(failure.cause, converter);
  const options: ErrorOptions | undefined = cause === undefined ? undefined : { cause };
  const error = bare(failure, converter, options);
  error.source = failure.source;
  error.failure = toBinary(FailureSchema, failure);
  if (failure.stackTrace !== "") error.stack = `${error.name}: ${error.message}\n${failure.stackTrace}`;
  return error;
}

/**
 * A failure whose message and stack trace another SDK put into a payload. A codec's have been put back before; these were not encoded, or
 * the codec for them is not here, and then the failure says as much as it can.
 */
function withText(failure: Failure, converter: PayloadConverter): Failure {
  if (failure.encodedAttributes === undefined) return failure;
  try {
    const text = converter.fromPayload(failure.encodedAttributes) as { message?: unknown; stack_trace?: unknown } | null;
    if (typeof text?.message !== "string") return failure;
    const stackTrace = typeof text.stack_trace === "string" ? text.stack_trace : "";
    return create(FailureSchema, { ...failure, message: text.message, stackTrace, encodedAttributes: undefined });
  } catch {
    return failure;
  }
}

function bare(failure: Failure, converter: PayloadConverter, options: ErrorOptions | undefined): TemporalFailure {
  const info = failure.failureInfo;
  switch (info.case) {
    case "applicationFailureInfo": {
      const delay = info.value.nextRetryDelay;
      return new ApplicationFailure(failure.message, {
        type: info.value.type === "" ? undefined : info.value.type,
        nonRetryable: info.value.nonRetryable,
        details: fromPayloads(converter, info.value.details?.payloads),
        nextRetryDelayMs: delay === undefined ? undefined : durationMs(delay),
        cause: options?.cause,
      });
    }
    case "canceledFailureInfo":
      return new CancelledFailure(failure.message, fromPayloads(converter, info.value.details?.payloads), options);
    case "timeoutFailureInfo":
      return new TimeoutFailure(
        failure.message,
        enumName(TimeoutTypeEnum, info.value.timeoutType),
        fromPayloads(converter, info.value.lastHeartbeatDetails?.payloads)[0],
        options,
      );
    case "terminatedFailureInfo":
      return new TerminatedFailure(failure.message, options);
    case "serverFailureInfo":
      return new ServerFailure(failure.message, info.value.nonRetryable, options);
    case "activityFailureInfo":
      return new ActivityFailure(failure.message, {
        activityType: info.value.activityType?.name ?? "",
        activityId: info.value.activityId,
        identity: info.value.identity,
        retryState: enumName(RetryStateEnum, info.value.retryState),
      }, options);
    case "childWorkflowExecutionFailureInfo":
      return new ChildWorkflowFailure(failure.message, {
        workflowType: info.value.workflowType?.name ?? "",
        workflowId: info.value.workflowExecution?.workflowId ?? "",
        runId: info.value.workflowExecution?.runId ?? "",
        retryState: enumName(RetryStateEnum, info.value.retryState),
      }, options);
    default:
      return new TemporalFailure(failure.message, options);
  }
}

/** Bytes of the Failure of anything that was thrown. */
export function encodeFailure(error: unknown, converter?: PayloadConverter): Uint8Array {
  return toBinary(FailureSchema, toFailure(error, converter));
}

/** The error of an encoded Failure. */
export function decodeFailure(bytes: Uint8Array, converter?: PayloadConverter): TemporalFailure {
  return fromFailure(fromBinary(FailureSchema, bytes), converter);
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
