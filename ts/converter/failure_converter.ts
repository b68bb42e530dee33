// Converts errors to Failure messages (temporal.api.failure.v1) and back. Stack traces are text. A
// thrown value of another class becomes an ApplicationFailure with its constructor's name as the
// type, as in Temporal's SDKs.
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { NexusHandlerErrorRetryBehavior as Retries } from "../messages/generated/temporal/api/enums/v1/nexus_pb.ts";
import {
  RetryState as RetryStateEnum,
  TimeoutType as TimeoutTypeEnum,
} from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  NexusHandlerFailure,
  NexusOperationFailure,
  type RetryState,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  type TimeoutType,
} from "./failures.ts";
import { enumName } from "./enums.ts";
import { encodingReplay, LossyValueError } from "./lossy_value.ts";
import {
  defaultPayloadConverter,
  fromPayloads,
  type Payload,
  type PayloadConverter,
  toPayloads,
} from "./payload.ts";
import { failureTrace, stackOfFailure } from "./stack.ts";
import {
  describeValue,
  isA,
  MAX_CAUSES,
  MAX_NAME,
  messageOf,
  nameOf,
  read as readField,
  safeText,
  setStack,
} from "./thrown.ts";
import { durationMs } from "../messages/well_known.ts";

type FailureInfo = NonNullable<MessageInitShape<typeof FailureSchema>["failureInfo"]>;

const SOURCE = "TypeScriptSDK";
/**
 * Maximum characters of all messages and stacks of one failure: below the limit of servers even at
 * three bytes each.
 */
const MAX_TEXT = 256 * 1024;
/** 10,000 years, the maximum of a protobuf Duration. */
const MAX_DELAY_MS = 315_576_000_000_000;
/** Message that replaces further causes. */
export const CAUSES_LEFT_OUT = "further causes were left out";
export const CIRCULAR_CAUSE = "circular cause: this error is already above in the chain";

/**
 * Returns the Failure message of a thrown value. Never throws: what cannot be read is left out,
 * long text is cut, cyclic causes end, and details that cannot be encoded are dropped; the message
 * reports it.
 */
export function toFailure(
  error: unknown,
  converter: PayloadConverter = defaultPayloadConverter,
): Failure {
  const writer = new FailureWriter(converter);
  const failure = writer.write(error);
  // A failure that was decoded is written as it arrived, with its causes.
  endCauses(failure);
  return failure;
}

/** Limits the chain of causes to what servers and the core accept. */
function endCauses(failure: Failure): void {
  let part: Failure | undefined = failure;
  for (let depth = 0; part !== undefined; depth++, part = part.cause) {
    if (depth === MAX_CAUSES && part.cause !== undefined) part.cause = note(CAUSES_LEFT_OUT);
  }
}

function note(message: string): Failure {
  return create(FailureSchema, {
    message,
    source: SOURCE,
    failureInfo: { case: "applicationFailureInfo", value: { type: "" } },
  });
}

/** Writes one error with its causes. */
class FailureWriter {
  readonly #converter: PayloadConverter;
  readonly #seen = new Set<unknown>();
  #left = MAX_TEXT;
  #dropped = "";

  constructor(converter: PayloadConverter) {
    this.#converter = converter;
  }

  write(error: unknown): Failure {
    if (!isA(error, Error)) return note(this.#text(messageOf(error)));
    const known = isA(error, TemporalFailure);
    const read = known ? asRead(error) : undefined;
    if (read !== undefined) return read;
    this.#seen.add(error);
    this.#dropped = "";
    const failureInfo = known
      ? this.#infoOf(error)
      : { case: "applicationFailureInfo" as const, value: { type: nameOf(error) } };
    const message = this.#text(
      [messageOf(error), this.#dropped].filter((text) => text !== "").join(" "),
    );
    const stack = this.#text(traceOf(error));
    return create(FailureSchema, {
      message,
      source: known ? stringOf(error, "source") ?? SOURCE : SOURCE,
      stackTrace: stack,
      ...this.#causeOf(error),
      failureInfo,
    });
  }

  /** Returns as much of a text as the remaining space of the failure allows. */
  #text(text: string): string {
    const taken = safeText(text, this.#left);
    this.#left = Math.max(0, this.#left - taken.length);
    return taken;
  }

  #causeOf(error: Error): { cause?: Failure } {
    const cause = readField(error, "cause");
    if (cause === undefined) return {};
    if (this.#seen.has(cause)) return { cause: note(CIRCULAR_CAUSE) };
    return { cause: this.#seen.size > MAX_CAUSES ? note(CAUSES_LEFT_OUT) : this.write(cause) };
  }

  /**
   * Encodes values as payloads: completely, or with the losses of JSON, or not at all. Details must
   * not hide the failure itself; its message reports what is missing.
   */
  #payloads(values: unknown): { payloads: Payload[] } | undefined {
    try {
      if (!Array.isArray(values) || values.length === 0) return undefined;
      try {
        return { payloads: toPayloads(this.#converter, values) };
      } catch (e) {
        if (!isA(e, LossyValueError)) throw e;
        this.#dropped = `(some details were lost: details${messageOf(e).replace(/^args/, "")})`;
        return encodingReplay(true, () => ({ payloads: toPayloads(this.#converter, values) }));
      }
    } catch (e) {
      this.#dropped = `(its details were dropped: ${messageOf(e)})`;
      return undefined;
    }
  }

  #infoOf(error: TemporalFailure): FailureInfo {
    if (isA(error, ApplicationFailure)) {
      return {
        case: "applicationFailureInfo",
        value: {
          type: stringOf(error, "type") ?? "",
          nonRetryable: readField(error, "nonRetryable") === true,
          details: this.#payloads(readField(error, "details")),
          ...delayOf(error),
        },
      };
    }
    if (isA(error, CancelledFailure)) {
      return {
        case: "canceledFailureInfo",
        value: { details: this.#payloads(readField(error, "details")) },
      };
    }
    if (isA(error, TimeoutFailure)) {
      const details = readField(error, "lastHeartbeatDetails");
      return {
        case: "timeoutFailureInfo",
        value: {
          timeoutType: TimeoutTypeEnum[(stringOf(error, "timeoutType") ?? "") as TimeoutType] ??
            TimeoutTypeEnum.UNSPECIFIED,
          lastHeartbeatDetails: details === undefined ? undefined : this.#payloads([details]),
        },
      };
    }
    if (isA(error, TerminatedFailure)) return { case: "terminatedFailureInfo", value: {} };
    if (isA(error, ServerFailure)) {
      return {
        case: "serverFailureInfo",
        value: { nonRetryable: readField(error, "nonRetryable") === true },
      };
    }
    if (isA(error, ActivityFailure)) {
      return {
        case: "activityFailureInfo",
        value: {
          activityType: { name: stringOf(error, "activityType") ?? "" },
          activityId: stringOf(error, "activityId") ?? "",
          identity: stringOf(error, "identity") ?? "",
          retryState: retryStateOf(error),
        },
      };
    }
    if (isA(error, ChildWorkflowFailure)) {
      return {
        case: "childWorkflowExecutionFailureInfo",
        value: {
          workflowType: { name: stringOf(error, "workflowType") ?? "" },
          workflowExecution: {
            workflowId: stringOf(error, "workflowId") ?? "",
            runId: stringOf(error, "runId") ?? "",
          },
          retryState: retryStateOf(error),
        },
      };
    }
    if (isA(error, NexusOperationFailure)) {
      const text = (field: keyof NexusOperationFailure) => stringOf(error, field) ?? "";
      return {
        case: "nexusOperationExecutionFailureInfo",
        value: {
          endpoint: text("endpoint"),
          service: text("service"),
          operation: text("operation"),
          operationToken: text("operationToken"),
        },
      };
    }
    if (isA(error, NexusHandlerFailure)) {
      const retryable = readField(error, "retryable");
      const retryBehavior = retryable === undefined
        ? Retries.UNSPECIFIED
        : retryable === true
        ? Retries.RETRYABLE
        : Retries.NON_RETRYABLE;
      return {
        case: "nexusHandlerFailureInfo",
        value: { type: stringOf(error, "type") ?? "", retryBehavior },
      };
    }
    return { case: "applicationFailureInfo", value: { type: nameOf(error) } };
  }
}

/** Returns the message that a failure was decoded from. */
function asRead(error: TemporalFailure): Failure | undefined {
  const bytes = readField(error, "failure");
  if (bytes === undefined) return undefined;
  try {
    return fromBinary(FailureSchema, bytes as Uint8Array);
  } catch {
    return undefined;
  }
}

function traceOf(error: Error): string {
  try {
    return failureTrace(error);
  } catch {
    return "";
  }
}

/** Returns a field as bounded text; undefined if it is missing. */
function stringOf(error: Error, field: string): string | undefined {
  const value = readField(error, field);
  return value === undefined || value === null
    ? undefined
    : safeText(describeValue(value), MAX_NAME);
}

function delayOf(error: ApplicationFailure) {
  const delay = readField(error, "nextRetryDelayMs");
  if (typeof delay !== "number" || !(delay >= 0) || delay > MAX_DELAY_MS) return {};
  return {
    nextRetryDelay: {
      seconds: BigInt(Math.trunc(delay / 1000)),
      nanos: Math.min(999_999_999, Math.round((delay % 1000) * 1e6)),
    },
  };
}

const retryStateOf = (error: Error): RetryStateEnum =>
  RetryStateEnum[(stringOf(error, "retryState") ?? "") as RetryState] ?? RetryStateEnum.UNSPECIFIED;

/** Returns the error of a Failure message. */
export function fromFailure(
  encoded: Failure,
  converter: PayloadConverter = defaultPayloadConverter,
): TemporalFailure {
  const { message, stackTrace } = textOfFailure(encoded, converter);
  const failure = { ...encoded, message, stackTrace };
  const cause = failure.cause === undefined ? undefined : fromFailure(failure.cause, converter);
  const options: ErrorOptions | undefined = cause === undefined ? undefined : { cause };
  const error = bare(failure, converter, options);
  error.source = failure.source;
  // Not enumerable, so that printed errors omit these bytes.
  Object.defineProperty(error, "failure", {
    // As it arrived: text in a payload stays there if the error is passed on.
    value: toBinary(FailureSchema, encoded),
    enumerable: false,
    configurable: true,
    writable: true,
  });
  if (failure.stackTrace !== "") {
    setStack(error, stackOfFailure(error.name, error.message, failure.stackTrace));
  }
  return error;
}

/**
 * Returns the message and the stack trace of a failure, also if they are in a payload. Uses the
 * plain fields if the payload does not decode (its codec is missing).
 */
function textOfFailure(
  failure: Failure,
  converter: PayloadConverter,
): { message: string; stackTrace: string } {
  if (failure.encodedAttributes === undefined) return failure;
  try {
    const text = converter.fromPayload(failure.encodedAttributes) as {
      message?: unknown;
      stack_trace?: unknown;
    } | null;
    if (typeof text?.message !== "string") return failure;
    return {
      message: text.message,
      stackTrace: typeof text.stack_trace === "string" ? text.stack_trace : "",
    };
  } catch {
    return failure;
  }
}

/**
 * Returns whether a failure, or a cause of it, has its message and stack trace in a payload: logs
 * must not show them.
 */
export function hasHiddenText(failure: Failure | undefined): boolean {
  for (let part = failure; part !== undefined; part = part.cause) {
    if (part.encodedAttributes !== undefined) return true;
  }
  return false;
}

/** Same as `hasHiddenText`, for a thrown value with its causes. */
export function throwsHiddenText(thrown: unknown): boolean {
  const seen = new Set<unknown>();
  for (
    let error = thrown;
    isA(error, Error) && !seen.has(error);
    error = readField(error, "cause")
  ) {
    seen.add(error);
    if (isA(error, TemporalFailure) && cameHidden(error)) return true;
  }
  return false;
}

/**
 * `failure` of an error is bytes; in programs that use Temporal's packages, an object with the same
 * fields.
 */
function cameHidden(error: TemporalFailure): boolean {
  const read = asRead(error);
  if (read !== undefined) return hasHiddenText(read);
  let part: unknown = readField(error, "failure");
  for (let depth = 0; typeof part === "object" && part !== null && depth <= MAX_CAUSES; depth++) {
    const encoded = readField(part, "encodedAttributes");
    if (encoded !== undefined && encoded !== null) return true;
    part = readField(part, "cause");
  }
  return false;
}

function bare(
  failure: Failure,
  converter: PayloadConverter,
  options: ErrorOptions | undefined,
): TemporalFailure {
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
      return new CancelledFailure(
        failure.message,
        fromPayloads(converter, info.value.details?.payloads),
        options,
      );
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
    case "nexusOperationExecutionFailureInfo":
      return new NexusOperationFailure(failure.message, info.value, options);
    case "nexusHandlerFailureInfo": {
      const { type, retryBehavior } = info.value;
      const retryable = retryBehavior === Retries.UNSPECIFIED
        ? undefined
        : retryBehavior === Retries.RETRYABLE;
      return new NexusHandlerFailure(failure.message, { type, retryable }, options);
    }
    default:
      return new TemporalFailure(failure.message, options);
  }
}

/** Returns the encoded Failure of a thrown value. Never throws. */
export function encodeFailure(error: unknown, converter?: PayloadConverter): Uint8Array {
  try {
    return toBinary(FailureSchema, toFailure(error, converter));
  } catch (e) {
    // A converter of the user returned invalid payloads.
    return toBinary(
      FailureSchema,
      note(`${messageOf(error)} (its details were dropped: ${messageOf(e)})`),
    );
  }
}

/** Returns the error of an encoded Failure. */
export function decodeFailure(bytes: Uint8Array, converter?: PayloadConverter): TemporalFailure {
  return fromFailure(fromBinary(FailureSchema, bytes), converter);
}
