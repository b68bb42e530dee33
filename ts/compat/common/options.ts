// Options and small enumerations of `@temporalio/common` in their official form.
import type { Duration } from "./time.ts";

export const ActivityCancellationType = {
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  ABANDON: "ABANDON",
} as const;
export type ActivityCancellationType = keyof typeof ActivityCancellationType;

/** What a cancellation of its scope does to a child workflow. */
export const ChildWorkflowCancellationType = {
  ABANDON: "ABANDON",
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  WAIT_CANCELLATION_REQUESTED: "WAIT_CANCELLATION_REQUESTED",
} as const;
export type ChildWorkflowCancellationType = keyof typeof ChildWorkflowCancellationType;

/** What becomes of a child when its parent closes. In the order of the numbers, from 1. */
export const ParentClosePolicy = { TERMINATE: "TERMINATE", ABANDON: "ABANDON", REQUEST_CANCEL: "REQUEST_CANCEL" } as const;
export type ParentClosePolicy = keyof typeof ParentClosePolicy;

/** May a start take an id that was used before? In the order of the numbers, from 1. */
export const WorkflowIdReusePolicy = {
  ALLOW_DUPLICATE: "ALLOW_DUPLICATE",
  ALLOW_DUPLICATE_FAILED_ONLY: "ALLOW_DUPLICATE_FAILED_ONLY",
  REJECT_DUPLICATE: "REJECT_DUPLICATE",
  TERMINATE_IF_RUNNING: "TERMINATE_IF_RUNNING",
} as const;
export type WorkflowIdReusePolicy = keyof typeof WorkflowIdReusePolicy;

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
