// Inputs of client operations, with values before encoding. Ids that make an operation idempotent
// are chosen already.
import type { ActivityStartOptions, ActivityTaskOptions } from "./activities/options.ts";
import type { PayloadHeaders } from "./context.ts";
import type { AnyWorkflow } from "./definitions.ts";
import type { WorkflowOptions } from "./options.ts";
import type { ReapplyExclude, ResetPoint } from "./reset_options.ts";
import type { ScheduleDescription } from "./schedules/descriptions.ts";
import type { ScheduleOptions, SchedulePatch, ScheduleUpdateOptions } from "./schedules/options.ts";

/** The workflow of an operation. */
export interface WorkflowTarget {
  workflowId: string;
  /** The run; undefined: the current one. */
  runId: string | undefined;
  /** Only runs of the chain that began with this one; undefined: any. */
  firstExecutionRunId?: string | undefined;
}

/** `client.call`. */
export interface CallFunctionInput {
  name: string;
  /** Arguments of the function. */
  args: readonly unknown[];
}

/** `client.start`, and the start of `client.execute`. */
export interface StartInput {
  workflowType: string;
  /** Arguments of the workflow. */
  args: readonly unknown[];
  /** Id, queue, policies, timeouts, memo, search attributes, request id. */
  options: WorkflowOptions & { taskQueue: string; requestId: string };
  /** Sent to the workflow, for its worker's interceptors. */
  headers: PayloadHeaders;
}

/**
 * `client.signalWithStart`. Start and signal have the same headers, as in the service's request.
 */
export interface SignalWithStartInput extends StartInput {
  signalName: string;
  /** Arguments of the signal. */
  signalArgs: readonly unknown[];
}

/**
 * `client.startUpdateWithStart` and `executeUpdateWithStart`, up to the requested stage. `headers`
 * belong to the start.
 */
export interface UpdateWithStartInput extends StartInput {
  updateName: string;
  /** Arguments of the update. */
  updateArgs: readonly unknown[];
  /** Deduplicates updates of one workflow. */
  updateId: string;
  /** Stage that the caller waits for. */
  waitFor: "accepted" | "completed";
  /** Sent to the workflow with the update. */
  updateHeaders: PayloadHeaders;
}

/** `handle.signal`. */
export interface SignalInput extends WorkflowTarget {
  signalName: string;
  /** Arguments of the signal. */
  args: readonly unknown[];
  /** Deduplicates signals. */
  requestId: string;
  /** Sent to the workflow with the signal. */
  headers: PayloadHeaders;
}

/** `handle.update`, `executeUpdate` and `startUpdate`, up to the requested stage. */
export interface UpdateInput extends WorkflowTarget {
  updateName: string;
  /** Arguments of the update. */
  args: readonly unknown[];
  /** Deduplicates updates of one workflow. */
  updateId: string;
  /** Stage that the caller waits for. */
  waitFor: "accepted" | "completed";
  /** Sent to the workflow with the update. */
  headers: PayloadHeaders;
}

/** `handle.query`. */
export interface QueryInput extends WorkflowTarget {
  queryType: string;
  /** Arguments of the query. */
  args: readonly unknown[];
  /** Reject queries to a workflow that is closed, or that did not complete. */
  rejectCondition: "NOT_OPEN" | "NOT_COMPLETED_CLEANLY" | undefined;
  /** Sent to the workflow with the query. */
  headers: PayloadHeaders;
}

/** `handle.cancel`. */
export interface CancelInput extends WorkflowTarget {
  /** Text in history. */
  reason: string;
  /** Deduplicates cancel requests. */
  requestId: string;
}

/** `handle.terminate`. */
export interface TerminateInput extends WorkflowTarget {
  /** Text in history. */
  reason: string;
  /** Values in history. */
  details: readonly unknown[];
}

/** `handle.reset`. */
export interface ResetInput extends WorkflowTarget {
  /** Event from which the workflow continues. */
  point: ResetPoint;
  /** Text in history. */
  reason: string;
  /** Events that are not applied to the new run. */
  reapplyExclude: "ALL" | readonly ReapplyExclude[];
  /** Deduplicates resets. */
  requestId: string;
}

/** One request of `client.list`, which reads by page. */
export interface ListInput {
  /** The visibility query; "" selects all. */
  query: string;
  /** Runs in a page; 0: default of the service. */
  pageSize: number;
  /** Token of the page; empty for the first one. */
  nextPageToken: Uint8Array;
}

/** `client.activity.start`, and the start of `client.activity.execute`. */
export interface StartActivityInput {
  activityType: string;
  /** Arguments of the activity. */
  args: readonly unknown[];
  /** Id, queue, policies, timeouts, retries, request id. */
  options: ActivityStartOptions & { id: string; taskQueue: string; requestId: string };
  /** Sent to the activity, for its worker's interceptors. */
  headers: PayloadHeaders;
}

/** The standalone activity of an operation. */
export interface ActivityTarget {
  id: string;
  /** Undefined: the latest activity with this id. */
  runId: string | undefined;
}

/** A change of a standalone activity, as the methods of its handle have it. */
export type ActivityChange =
  | { readonly type: "cancel" | "terminate" | "pause" | "unpause"; readonly reason: string }
  | {
    readonly type: "reset";
    readonly keepPaused: boolean;
    readonly resetHeartbeat: boolean;
    readonly restoreOptions: boolean;
  }
  | { readonly type: "options"; readonly options: ActivityTaskOptions }
  | { readonly type: "delete" };

/** The methods of an activity's handle that change the activity. */
export interface ChangeActivityInput extends ActivityTarget {
  change: ActivityChange;
  /** Deduplicates changes. */
  requestId: string;
}

/** `client.schedule.create`. */
export interface CreateScheduleInput {
  /** The complete schedule. */
  options: ScheduleOptions<AnyWorkflow>;
  /** Deduplicates creations. */
  requestId: string;
  /** Sent to every workflow that the schedule starts. */
  headers: PayloadHeaders;
}

/** `scheduleHandle.update`: `next` describes the schedule and applies `change`. */
export interface UpdateScheduleInput {
  scheduleId: string;
  /** Returns the new schedule for a description. */
  change: (
    previous: ScheduleDescription,
  ) => ScheduleUpdateOptions<AnyWorkflow> | Promise<ScheduleUpdateOptions<AnyWorkflow>>;
  /** Deduplicates updates. */
  requestId: string;
  /** Sent to every workflow that the schedule starts, in addition to existing headers. */
  headers: PayloadHeaders;
}

/** `scheduleHandle.pause`, `unpause`, `trigger` and `backfill`. */
export interface PatchScheduleInput {
  scheduleId: string;
  /** The requested action. */
  patch: SchedulePatch;
  /** Deduplicates patches. */
  requestId: string;
}
