// Retry options of `@temporalio/client`. Without them, clients retry with native settings.
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../service/raw.ts";

/** Status of a call. */
export interface StatusObject {
  code: number;
  /** Message of the service. */
  details: string;
  /** Further data of the error. */
  metadata?: unknown;
}

/** Retry options of a connection. */
export interface GrpcRetryOptions {
  /** Returns the delay of the next attempt in milliseconds. */
  delayFunction: (attempt: number, status: StatusObject) => number;
  /** Returns whether another attempt follows. */
  retryableDecider: (attempt: number, status: StatusObject) => boolean;
}

/** Backoff of attempts. */
export interface BackoffOptions {
  /** Factor of consecutive delays. */
  factor: number;
  /** Maximum number of attempts. */
  maxAttempts: number;
  /** Random share of a delay, in both directions. */
  maxJitter: number;
  /** Returns the first delay in milliseconds. */
  initialIntervalMs(status: StatusObject): number;
  /** Returns the maximum delay in milliseconds. */
  maxIntervalMs(status: StatusObject): number;
}

const RETRYABLE: ReadonlySet<number> = new Set([
  Code.UNKNOWN,
  Code.RESOURCE_EXHAUSTED,
  Code.UNAVAILABLE,
  Code.ABORTED,
  Code.DATA_LOSS,
  Code.OUT_OF_RANGE,
]);

/** Returns whether a call with this status is retried. */
export function isRetryableError(status: StatusObject): boolean {
  if (status.code === Code.INTERNAL) {
    // The response of a proxy that does not support gRPC.
    if (/RST_STREAM with code 0|Call ended without gRPC status/i.test(status.details)) return true;
    return /RST_STREAM with code 2/i.test(status.details) &&
      !/SSL alert number/i.test(status.details);
  }
  return RETRYABLE.has(status.code);
}

/** Returns the default options of connections. */
export function defaultGrpcRetryOptions(options: Partial<BackoffOptions> = {}): GrpcRetryOptions {
  const {
    maxAttempts = 10,
    factor = 1.7,
    maxJitter = 0.2,
    initialIntervalMs = ({ code }: StatusObject) => code === Code.RESOURCE_EXHAUSTED ? 1000 : 100,
    maxIntervalMs = () => 5_000,
  } = options;
  return {
    delayFunction: (attempt, status) =>
      Math.min(maxIntervalMs(status), initialIntervalMs(status) * factor ** attempt) *
      (1 - maxJitter + Math.random() * maxJitter * 2),
    retryableDecider: (attempt, status) => attempt < maxAttempts && isRetryableError(status),
  };
}

/** Result of `makeGrpcRetryInterceptor`; a connection reads its options. */
export interface GrpcRetryInterceptor {
  readonly retryOptions: GrpcRetryOptions;
}

/**
 * Returns an interceptor for `ConnectionOptions.interceptors`: the connection retries calls with
 * these options.
 */
export function makeGrpcRetryInterceptor(retryOptions: GrpcRetryOptions): GrpcRetryInterceptor {
  return { retryOptions };
}

/**
 * Returns a service that retries calls with these options, within their timeouts and until their
 * signals are aborted.
 */
export function retrying(inner: RawService, options: GrpcRetryOptions): RawService {
  return {
    losesCancelledPolls: inner.losesCancelledPolls ?? false,
    checksPayloads: inner.checksPayloads ?? false,
    ...(inner.runningTasks && { runningTasks: () => inner.runningTasks!() }),
    closedRuns: inner.closedRuns,
    ...(inner.callOther && {
      callOther: (path: string, request: Uint8Array, of: CallOptions = {}) =>
        repeated((all) => inner.callOther!(path, request, all), of, options),
    }),
    call: (method: MethodName, request: Uint8Array, of: CallOptions = {}) =>
      repeated((all) => inner.call(method, request, all), of, options),
  };
}

async function repeated(
  call: (options: CallOptions) => Promise<Uint8Array>,
  options: CallOptions,
  { delayFunction, retryableDecider }: GrpcRetryOptions,
): Promise<Uint8Array> {
  const { timeoutMs = Infinity, signal } = options;
  const start = performance.now();
  for (let attempt = 1;; attempt++) {
    const left = timeoutMs - (performance.now() - start);
    try {
      return await call({ ...options, ...(left < Infinity && { timeoutMs: Math.max(1, left) }) });
    } catch (error) {
      if (!(error instanceof ServiceError) || signal?.aborted) throw error;
      const status = { code: error.code, details: error.message, metadata: error.metadata };
      if (!retryableDecider(attempt, status)) throw error;
      const delay = delayFunction(attempt, status);
      if (performance.now() - start + delay >= timeoutMs) throw error;
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, delay);
        signal?.addEventListener("abort", end);
      });
      if (signal?.aborted) throw error;
    }
  }
}
