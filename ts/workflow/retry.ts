// Retry policies of activities and child workflows.
import { type Duration, toMs } from "../converter/duration.ts";
import type { ActivityOptionsShape } from "../executor/activities.ts";

/** How a failed attempt of an activity, or a failed run of a child workflow, is tried again. Durations: milliseconds or text such as "10s". */
export interface RetryOptions {
  /** Delay before the second attempt. Default: 1 s. */
  readonly initialInterval?: Duration;
  /** Factor between delays, >= 1. Default: 2. */
  readonly backoffCoefficient?: number;
  /** Default: 100 times the initial interval. */
  readonly maximumInterval?: Duration;
  /** 1: no retry. Default: no limit. */
  readonly maximumAttempts?: number;
  /** Types of ApplicationFailure that are not retried. */
  readonly nonRetryableErrorTypes?: readonly string[];
}

/** A duration that must not be 0, in milliseconds; `before` when it is not given. */
export function ms(option: string, duration: Duration | undefined, before: number): number {
  if (duration === undefined) return before;
  const value = toMs(duration);
  if (value === 0) throw new RangeError(`${option} must be more than 0`);
  return value;
}

/** The policy as the core wants it. Throws a RangeError for what no server would take. */
export function retryPolicy(retry: RetryOptions): NonNullable<ActivityOptionsShape["retryPolicy"]> {
  const { backoffCoefficient = 2, maximumAttempts = 0 } = retry;
  if (!(backoffCoefficient >= 1)) throw new RangeError(`retry.backoffCoefficient must be at least 1, not ${backoffCoefficient}`);
  if (!Number.isInteger(maximumAttempts) || maximumAttempts < 0) {
    throw new RangeError(`retry.maximumAttempts must be a whole number >= 0, not ${maximumAttempts}`);
  }
  return {
    initialIntervalMs: ms("retry.initialInterval", retry.initialInterval, 1000),
    backoffCoefficient,
    maximumIntervalMs: ms("retry.maximumInterval", retry.maximumInterval, 0),
    maximumAttempts,
    nonRetryableErrorTypes: [...retry.nonRetryableErrorTypes ?? []],
  };
}
