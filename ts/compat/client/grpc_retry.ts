// The retry options of `@temporalio/client`. Without them clients retry by themselves, on the product's terms.
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";

/** What a call ended with. */
export interface StatusObject {
  /** The gRPC status code. */
  code: number;
  /** What the service says. */
  details: string;
  /** What it says beside that. */
  metadata?: unknown;
}

/** When a call is repeated. */
export interface GrpcRetryOptions {
  /** Milliseconds until the next attempt. */
  delayFunction: (attempt: number, status: StatusObject) => number;
  /** Is there another attempt? */
  retryableDecider: (attempt: number, status: StatusObject) => boolean;
}

/** How attempts are spread. */
export interface BackoffOptions {
  /** Factor from one delay to the next. */
  factor: number;
  /** Attempts in all. */
  maxAttempts: number;
  /** Share of a delay that is random, either way. */
  maxJitter: number;
  /** The first delay, in milliseconds. */
  initialIntervalMs(status: StatusObject): number;
  /** The longest delay, in milliseconds. */
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

/** Is a call repeated that ended so? */
export function isRetryableError(status: StatusObject): boolean {
  if (status.code === Code.INTERNAL) {
    // A proxy that does not know gRPC answered.
    if (/RST_STREAM with code 0|Call ended without gRPC status/i.test(status.details)) return true;
    return /RST_STREAM with code 2/i.test(status.details) && !/SSL alert number/i.test(status.details);
  }
  return RETRYABLE.has(status.code);
}

/** The options that connections have. */
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

/** What `makeGrpcRetryInterceptor` gives; a connection takes its options from it. */
export interface GrpcRetryInterceptor {
  /** The options. */
  readonly retryOptions: GrpcRetryOptions;
}

/** For `ConnectionOptions.interceptors`: the connection repeats calls on these terms. */
export function makeGrpcRetryInterceptor(retryOptions: GrpcRetryOptions): GrpcRetryInterceptor {
  return { retryOptions };
}

/** A service whose calls are repeated on these terms, within their timeouts, until their signals abort. */
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
