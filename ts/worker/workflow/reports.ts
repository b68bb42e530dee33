// Sends reports of tasks. A report is repeated while the service is unavailable or overloaded, for
// at most a minute, and for some seconds after internal errors. Then it is dropped: the service
// times the task out and dispatches it again.
import { PayloadCodecError } from "../../codec/codec.ts";
import { hidesTextOf } from "../../codec/loggable.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { isA, messageOf, nameOf } from "../../converter/thrown.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { encodeRequest } from "../../codec/coded_service.ts";
import type { PayloadLimits } from "../../service/limits.ts";
import type { Logger } from "../../base/logger.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../service/raw.ts";
import { backoffMs, type BackoffOptions, isThrottled, isUnavailable } from "../../service/retry.ts";
import { sleepOn, type Timers } from "../../base/timers.ts";

const BACKOFF: BackoffOptions = {
  initialIntervalMs: 50,
  maximumIntervalMs: 3000,
  backoffCoefficient: 2,
  jitter: 0.3,
};
/** Delays after throttling; an immediate retry would add to the load. */
const THROTTLED: BackoffOptions = { ...BACKOFF, initialIntervalMs: 500, maximumIntervalMs: 10_000 };
const GIVE_UP_MS = 60_000;
/** Codes of internal errors in the service or a proxy, which are often transient. */
const HICCUPS: ReadonlySet<number> = new Set([
  Code.UNKNOWN,
  Code.INTERNAL,
  Code.ABORTED,
  Code.DATA_LOSS,
]);
/** Persistent internal errors must not keep a slot for longer, in ms. */
const HICCUPS_GIVE_UP_MS = 5000;
const ATTEMPT_MS = 10_000;

/** Reason of the error for a request that is too large to send. */
export const MESSAGE_TOO_LARGE = "MessageTooLarge";

export interface ReportContext {
  service: RawService;
  codec: MessageCodec | undefined;
  /** Sizes of payloads after encoding. Absent: the service decides. */
  payloadLimits?: PayloadLimits;
  /** Larger requests are rejected here. */
  maxBytes?: number;
  /** Checks the request as it will be sent; may throw. */
  check?: (request: Uint8Array) => void;
  /** What the completion shows of the run. */
  shown?: CallOptions["shown"] | undefined;
  timers: Timers;
  logger: Logger;
}

/**
 * Sends one report, encoded by the codec and repeated while the service is unavailable. Resolves to
 * the response. Rejects with the service's error, or before sending with a PayloadCodecError or
 * PayloadTooLargeError.
 */
export async function report(
  context: ReportContext,
  method: MethodName,
  message: Uint8Array,
): Promise<Uint8Array> {
  const { service, codec, timers, logger } = context;
  const request = codec === undefined ? message : await encodeRequest(codec, method, message, {
    limits: context.payloadLimits,
    logger,
  });
  // Before the size of the whole is checked: this names the part that is too large.
  context.check?.(request);
  if (request.length > (context.maxBytes ?? Infinity)) {
    throw new ServiceError(
      Code.RESOURCE_EXHAUSTED,
      `the request takes ${request.length} bytes`,
      MESSAGE_TOO_LARGE,
    );
  }
  const since = timers.now();
  const shown = context.shown === undefined ? {} : { shown: context.shown };
  for (let attempt = 1;; attempt++) {
    try {
      return await service.call(method, request, { timeoutMs: ATTEMPT_MS, ...shown });
    } catch (error) {
      const throttled = isThrottled(error);
      const away = throttled || isUnavailable(error) || hasCode(error, Code.DEADLINE_EXCEEDED);
      const patience = away
        ? GIVE_UP_MS
        : error instanceof ServiceError && HICCUPS.has(error.code)
        ? HICCUPS_GIVE_UP_MS
        : 0;
      if (timers.now() - since >= patience) throw error;
      logger.debug("a report could not be sent to the service; retrying", {
        method,
        attempt,
        error,
      });
      await sleepOn(timers, backoffMs(attempt, throttled ? THROTTLED : BACKOFF));
    }
  }
}

/**
 * Returns the failure that is reported instead of one that the codec cannot encode. It is sent
 * unencoded: without details, and without the message of an error whose text is hidden.
 */
export function unencodable(
  error: unknown,
  problem: PayloadCodecError,
  codec: MessageCodec,
): ApplicationFailure {
  const own = isA(error, PayloadCodecError) ? error : problem;
  const { type, nonRetryable, nextRetryDelayMs } = isA(error, ApplicationFailure) ? error : {
    type: isA(error, Error) ? nameOf(error) : own.name,
    nonRetryable: false,
    nextRetryDelayMs: undefined,
  };
  const message = hidesTextOf(error, codec)
    ? own.summary
    : own === error || !isA(error, Error)
    ? own.message
    : `${messageOf(error)} (its details were dropped: ${own.message})`;
  const failure = new ApplicationFailure(message, {
    nonRetryable,
    ...(type !== undefined && { type }),
    ...(nextRetryDelayMs !== undefined && { nextRetryDelayMs }),
  });
  failure.stack = "";
  return failure;
}

export function hasCode(error: unknown, code: Code): error is ServiceError {
  return error instanceof ServiceError && error.code === code;
}
