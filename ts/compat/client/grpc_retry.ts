// The retry options of `@temporalio/client`. The product's connections retry by themselves, on these terms.
import { Code } from "../../service/raw.ts";

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
    maxIntervalMs = () => 10_000,
  } = options;
  return {
    delayFunction: (attempt, status) =>
      Math.min(maxIntervalMs(status), initialIntervalMs(status) * factor ** (attempt - 1)) *
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
