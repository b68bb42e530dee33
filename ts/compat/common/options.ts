// Options and small enumerations of `@temporalio/common` in their official form.
import type { Duration } from "./time.ts";

export const ActivityCancellationType = {
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  ABANDON: "ABANDON",
} as const;
export type ActivityCancellationType = keyof typeof ActivityCancellationType;

/** What becomes of a message handler that is still running when the workflow ends. Numbers are the official ones. */
export const HandlerUnfinishedPolicy = { WARN_AND_ABANDON: 1, ABANDON: 2 } as const;
export type HandlerUnfinishedPolicy = (typeof HandlerUnfinishedPolicy)[keyof typeof HandlerUnfinishedPolicy];

export interface RetryPolicy {
  backoffCoefficient?: number;
  initialInterval?: Duration;
  maximumAttempts?: number;
  maximumInterval?: Duration;
  nonRetryableErrorTypes?: string[];
}

/** One of startToCloseTimeout and scheduleToCloseTimeout is required. */
export interface ActivityOptions {
  activityId?: string;
  taskQueue?: string;
  heartbeatTimeout?: Duration;
  retry?: RetryPolicy;
  startToCloseTimeout?: Duration;
  scheduleToStartTimeout?: Duration;
  scheduleToCloseTimeout?: Duration;
  cancellationType?: ActivityCancellationType;
  /** Shown in user interfaces. */
  summary?: string;
}

/** Options of activities that run within the workflow task. */
export interface LocalActivityOptions extends Omit<ActivityOptions, "activityId" | "taskQueue" | "heartbeatTimeout"> {
  /** Retries that are further away than this wait in a timer of the workflow. Default: 1 minute. */
  localRetryThreshold?: Duration;
}
