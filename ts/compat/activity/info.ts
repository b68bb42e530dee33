// Information about an activity of `@temporalio/activity`, with the official fields.
import type { Priority, RetryPolicy } from "../common/mod.ts";

/** Information about the running attempt. */
export interface Info {
  /** Task token of the attempt, for completion from outside. */
  readonly taskToken: Uint8Array;
  /** Task token in base64. */
  readonly base64TaskToken: string;
  /** The activity's id. */
  readonly activityId: string;
  readonly activityType: string;
  /** Namespace of the worker. Deprecated: use `namespace`. */
  readonly activityNamespace: string;
  /** From 1. */
  readonly attempt: number;
  /** True if it runs within a workflow task. */
  readonly isLocal: boolean;
  /** Workflow that called it; undefined for a standalone activity. */
  readonly workflowExecution?: { readonly workflowId: string; readonly runId: string };
  /** Namespace of that workflow. Deprecated: use `namespace`. */
  readonly workflowNamespace?: string;
  readonly workflowType?: string;
  /** Time of the first scheduling, in milliseconds. */
  readonly scheduledTimestampMs: number;
  /** Limit of all attempts together, in milliseconds; 0: no limit. */
  readonly scheduleToCloseTimeoutMs: number;
  /** Limit of this attempt, in milliseconds; 0: no limit. */
  readonly startToCloseTimeoutMs: number;
  /** Time of the scheduling of this attempt, in milliseconds. */
  readonly currentAttemptScheduledTimestampMs: number;
  /** Limit between two heartbeats, in milliseconds. */
  readonly heartbeatTimeoutMs?: number;
  /** Details of the last heartbeat of the previous attempt. */
  // deno-lint-ignore no-explicit-any
  readonly heartbeatDetails: any;
  readonly taskQueue: string;
  /** Priority of the task. */
  readonly priority?: Priority;
  /** Retry policy from the server. */
  readonly retryPolicy?: RetryPolicy;
  readonly namespace: string;
  /** Run id of a standalone activity. */
  readonly activityRunId?: string;
  /** True if a workflow called it. */
  readonly inWorkflow: boolean;
}
