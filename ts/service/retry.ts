// Exponential backoff with jitter, so that callers that failed together do not retry together. Used
// by clients (idempotent calls) and workers (polls and reports).
import { Code, OPERATION_ABORTED, ServiceError } from "./raw.ts";

export interface BackoffOptions {
  /** First delay in milliseconds. */
  initialIntervalMs: number;
  maximumIntervalMs: number;
  backoffCoefficient: number;
  /** Share of the delay that is random, 0 to 1. */
  jitter: number;
}

/** Retries of a call while the service is unavailable. */
export interface RetryOptions extends BackoffOptions {
  /** Maximum number of attempts; 1 disables retries. */
  maximumAttempts: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  initialIntervalMs: 50,
  maximumIntervalMs: 5000,
  backoffCoefficient: 2,
  jitter: 0.3,
  maximumAttempts: 10,
};

/**
 * Returns the delay in milliseconds after failed attempt `attempt` (from 1): 0 to the maximum
 * interval.
 */
export function backoffMs(
  attempt: number,
  options: BackoffOptions,
  random: () => number = Math.random,
): number {
  // Bounded exponent: after a day of failures it must not overflow to Infinity * 0.
  const full = Math.min(
    options.maximumIntervalMs,
    options.initialIntervalMs * options.backoffCoefficient ** Math.min(attempt - 1, 60),
  );
  return full * (1 - options.jitter * random());
}

/**
 * Returns whether the service was not reached or reports that it did nothing, so that an idempotent
 * call can be retried. False for a closed engine, which stays closed.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE && !isServiceGone(error);
}

/**
 * Returns whether a connection cannot be made with its options: certificate, name, or TLS. A client
 * reports this at once; a worker continues to retry, because certificates are renewed.
 */
export function isMisconfigured(error: unknown): boolean {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE &&
    error.metadata["setup"] === "yes";
}

/**
 * Returns whether the service is an engine in this process that was closed or has stopped. It never
 * responds again.
 */
export function isServiceGone(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE &&
    (error.reason === "EngineClosed" || error.metadata["engine"] === "stopped");
}

/**
 * Causes of RESOURCE_EXHAUSTED that pass (temporal.api.enums.v1.ResourceExhaustedCause): rates,
 * concurrency, load.
 */
const PASSING: ReadonlySet<string> = new Set(["1", "2", "3", "4", "5", "6", "9"]);

/**
 * Returns whether the service rejected the call because of its load. Retry after a longer delay
 * than for UNAVAILABLE. A call of several operations is rejected for the one that failed.
 */
export function isThrottled(error: unknown): boolean {
  const cause = operationThatFailed(error)?.error ?? error;
  return cause instanceof ServiceError && cause.code === Code.RESOURCE_EXHAUSTED &&
    cause.reason === "ResourceExhausted" &&
    PASSING.has(cause.metadata["cause"] ?? "");
}

/**
 * Returns the operation that a call of several operations was rejected for; the others were only
 * aborted. Undefined for other errors.
 */
export function operationThatFailed(
  error: unknown,
): { error: ServiceError; index: number } | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const index =
    error.operations?.findIndex((one) => one !== undefined && one.reason !== OPERATION_ABORTED) ??
      -1;
  return index < 0 ? undefined : { error: error.operations![index]!, index };
}
