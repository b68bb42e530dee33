// What an activity of `@temporalio/activity` knows about itself, in the official fields.
import type { Priority, RetryPolicy } from "../common/mod.ts";

/** Facts about the attempt that runs. */
export interface Info {
  /** Names the attempt to whoever completes it from outside. */
  readonly taskToken: Uint8Array;
  /** The same in base64. */
  readonly base64TaskToken: string;
  /** The activity's id. */
  readonly activityId: string;
  /** Its name on the wire. */
  readonly activityType: string;
  /** Namespace of the worker. Deprecated: use `namespace`. */
  readonly activityNamespace: string;
  /** From 1. */
  readonly attempt: number;
  /** It runs within a workflow task. */
  readonly isLocal: boolean;
  /** The workflow that called it; absent for an activity that no workflow called. */
  readonly workflowExecution?: { readonly workflowId: string; readonly runId: string };
  /** Namespace of that workflow. Deprecated: use `namespace`. */
  readonly workflowNamespace?: string;
  /** Type of that workflow. */
  readonly workflowType?: string;
  /** When it was first scheduled, milliseconds. */
  readonly scheduledTimestampMs: number;
  /** Longest time of all attempts together, milliseconds; 0: no limit. */
  readonly scheduleToCloseTimeoutMs: number;
  /** Longest time of this attempt, milliseconds; 0: no limit. */
  readonly startToCloseTimeoutMs: number;
  /** When this attempt became due, milliseconds. */
  readonly currentAttemptScheduledTimestampMs: number;
  /** Longest time between two heartbeats, milliseconds. */
  readonly heartbeatTimeoutMs?: number;
  /** What the attempt before reported last. */
  // deno-lint-ignore no-explicit-any
  readonly heartbeatDetails: any;
  /** The queue that the task came from. */
  readonly taskQueue: string;
  /** How urgent it is. */
  readonly priority?: Priority;
  /** When and how often it is tried again, as the server has it. */
  readonly retryPolicy?: RetryPolicy;
  /** Its namespace. */
  readonly namespace: string;
  /** Run of an activity that no workflow called. */
  readonly activityRunId?: string;
  /** A workflow called it. */
  readonly inWorkflow: boolean;
}
