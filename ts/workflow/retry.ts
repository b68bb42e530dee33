// Retry policies of activities and child workflows.
import { checkNumber, MAX_INT32 } from "../base/number_ranges.ts";
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import type { ActivityOptionsShape } from "../executor/primitives/activities.ts";

/** Retry policy of an activity or child workflow. Durations: milliseconds or text such as "10s". */
export interface RetryOptions {
  /** Delay before the second attempt. Default: 1 s. */
  readonly initialInterval?: Duration;
  /** Factor between delays, >= 1. Default: 2. */
  readonly backoffCoefficient?: number;
  /** Default: 100 times the initial interval. */
  readonly maximumInterval?: Duration;
  /** 1: no retries. Default: no limit. */
  readonly maximumAttempts?: number;
  /** Types of ApplicationFailure that are not retried. */
  readonly nonRetryableErrorTypes?: readonly string[];
}

/** Returns a duration > 0 in milliseconds; `before` if undefined. */
export function ms(option: string, duration: Duration | undefined, before: number): number {
  if (duration === undefined) return before;
  const value = toMs(duration);
  if (value === 0) throw new RangeError(`${option} must be more than 0`);
  return value;
}

/** Describes a value of the wrong type for an error message. */
export function quoteValue(value: unknown): string {
  return typeof value === "string"
    ? JSON.stringify(value)
    : Array.isArray(value)
    ? "an array"
    : value === null
    ? "null"
    : typeof value;
}

/** Returns a string or undefined. Throws a TypeError for everything else. */
export function optionalText(what: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError(`${what} must be a string, not ${quoteValue(value)}`);
}

const RETRY_OPTIONS: OptionNames<RetryOptions> = {
  ...{
    initialInterval: 1,
    backoffCoefficient: 1,
    maximumInterval: 1,
    maximumAttempts: 1,
    nonRetryableErrorTypes: 1,
  },
};

/** Converts the policy for the core. Throws a RangeError or TypeError for invalid values. */
export function readRetryPolicy(
  retry: RetryOptions,
): NonNullable<ActivityOptionsShape["retryPolicy"]> {
  if (typeof retry !== "object" || retry === null) {
    throw new TypeError(`retry must be an object of its options, not ${quoteValue(retry)}`);
  }
  rejectUnknownOptions("retry", retry, RETRY_OPTIONS);
  const { backoffCoefficient = 2, maximumAttempts = 0, nonRetryableErrorTypes = [] } = retry;
  checkNumber("retry.backoffCoefficient", backoffCoefficient, { min: 1, whole: false });
  checkNumber("retry.maximumAttempts", maximumAttempts, { min: 0, max: MAX_INT32 });
  if (
    !Array.isArray(nonRetryableErrorTypes) ||
    !nonRetryableErrorTypes.every((type) => typeof type === "string")
  ) {
    throw new TypeError(
      `retry.nonRetryableErrorTypes must be an array of names, not ${
        quoteValue(nonRetryableErrorTypes)
      }`,
    );
  }
  const initialIntervalMs = ms("retry.initialInterval", retry.initialInterval, 1000);
  const maximumIntervalMs = ms("retry.maximumInterval", retry.maximumInterval, 0);
  if (maximumIntervalMs !== 0 && maximumIntervalMs < initialIntervalMs) {
    throw new RangeError(
      `retry.maximumInterval (${maximumIntervalMs} ms) must not be less than the initial interval (${initialIntervalMs} ms)`,
    );
  }
  return {
    initialIntervalMs,
    backoffCoefficient,
    maximumIntervalMs,
    maximumAttempts,
    nonRetryableErrorTypes: [...nonRetryableErrorTypes],
  };
}
