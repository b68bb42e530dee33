// Waiting between attempts: exponential back-off with jitter, so that many callers that failed together do not come back together.
// Used by clients (idempotent calls) and by workers (polls and reports).
import { Code, ServiceError } from "./raw.ts";

export interface BackoffOptions {
  /** First delay in milliseconds. */
  initialIntervalMs: number;
  maximumIntervalMs: number;
  backoffCoefficient: number;
  /** Share of the delay that is random, 0 to 1. */
  jitter: number;
}

/** How often and how fast a call is tried again while the service is unavailable. */
export interface RetryOptions extends BackoffOptions {
  /** Attempts in all; 1 never retries. */
  maximumAttempts: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  initialIntervalMs: 50,
  maximumIntervalMs: 5000,
  backoffCoefficient: 2,
  jitter: 0.3,
  maximumAttempts: 10,
};

/** Delay after the `attempt`-th failed attempt (from 1). Never negative, never above the maximum. */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number = Math.random): number {
  // The exponent is bounded: a service that is away for a day must not overflow into Infinity * 0.
  const full = Math.min(
    options.maximumIntervalMs,
    options.initialIntervalMs * options.backoffCoefficient ** Math.min(attempt - 1, 60),
  );
  return full * (1 - options.jitter * random());
}

/** The service was not reached, or says that it did nothing: asking again is right for idempotent calls. A closed engine stays closed. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE && !isServiceGone(error);
}

/**
 * A connection could not be made, and will not be with the options that it has: a certificate, a name, TLS or none. A client tells that at
 * once; a worker goes on asking, because certificates are renewed.
 */
export function isMisconfigured(error: unknown): boolean {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE && error.metadata["setup"] === "yes";
}

/** The service is an engine in this process that was closed, or has stopped by itself: it never answers again. */
export function isServiceGone(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === Code.UNAVAILABLE &&
    (error.reason === "EngineClosed" || error.metadata["engine"] === "stopped");
}

/** Causes of RESOURCE_EXHAUSTED that pass by themselves (temporal.api.enums.v1.ResourceExhaustedCause): rates, too much at once, load. */
const PASSING: ReadonlySet<string> = new Set(["1", "2", "3", "4", "5", "6", "9"]);

/** The service took no notice of the call, because it has too much to do: asking again is right, but later than after UNAVAILABLE. */
export function isThrottled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === Code.RESOURCE_EXHAUSTED && error.reason === "ResourceExhausted" &&
    PASSING.has(error.metadata["cause"] ?? "");
}
