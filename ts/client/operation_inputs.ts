// What a client is asked for, operation by operation, as the caller says it: with values, before
// anything is encoded. Ids that make an operation idempotent are chosen already.
import type { PayloadHeaders } from "./context.ts";
import type { AnyWorkflow } from "./definitions.ts";
import type { WorkflowOptions } from "./options.ts";
import type { ReapplyExclude, ResetPoint } from "./reset_options.ts";
import type { ScheduleDescription } from "./schedules/descriptions.ts";
import type { ScheduleOptions, SchedulePatch, ScheduleUpdateOptions } from "./schedules/options.ts";

/** Which workflow an operation goes to. */
export interface WorkflowTarget {
  /** Id of the workflow. */
  workflowId: string;
  /** The run; undefined: the current one. */
  runId: string | undefined;
  /** Only runs of the chain that began with this one; undefined: any. */
  firstExecutionRunId?: string | undefined;
}

/** `client.start`, and `client.execute` as far as its start. */
export interface StartInput {
  /** Name of the workflow type. */
  workflowType: string;
  /** Arguments of the workflow. */
  args: readonly unknown[];
  /** Id, queue, policies, timeouts, memo, search attributes, request id. */
  options: WorkflowOptions & { taskQueue: string; requestId: string };
  /** Go to the workflow: its worker's interceptors see them. */
  headers: PayloadHeaders;
}

/** `client.signalWithStart`. One set of headers goes to both, the start and the signal, as the service has it. */
export interface SignalWithStartInput extends StartInput {
  /** Name of the signal. */
  signalName: string;
  /** Arguments of the signal. */
  signalArgs: readonly unknown[];
}

/** `client.startUpdateWithStart` and `executeUpdateWithStart`, as far as the wanted stage. `headers` go with the start. */
export interface UpdateWithStartInput extends StartInput {
  /** Name of the update. */
  updateName: string;
  /** Arguments of the update. */
  updateArgs: readonly unknown[];
  /** Two updates of one workflow with one id are one. */
  updateId: string;
  /** What the caller waits for. */
  waitFor: "accepted" | "completed";
  /** Go to the workflow with the update. */
  updateHeaders: PayloadHeaders;
}

/** `handle.signal`. */
export interface SignalInput extends WorkflowTarget {
  /** Name of the signal. */
  signalName: string;
  /** Arguments of the signal. */
  args: readonly unknown[];
  /** Two signals with one request id are one. */
  requestId: string;
  /** Go to the workflow with the signal. */
  headers: PayloadHeaders;
}

/** `handle.update`, `executeUpdate` and `startUpdate`, as far as the wanted stage. */
export interface UpdateInput extends WorkflowTarget {
  /** Name of the update. */
  updateName: string;
  /** Arguments of the update. */
  args: readonly unknown[];
  /** Two updates of one workflow with one id are one. */
  updateId: string;
  /** What the caller waits for. */
  waitFor: "accepted" | "completed";
  /** Go to the workflow with the update. */
  headers: PayloadHeaders;
}

/** `handle.query`. */
export interface QueryInput extends WorkflowTarget {
  /** Name of the query. */
  queryType: string;
  /** Arguments of the query. */
  args: readonly unknown[];
  /** Do not ask a workflow that is closed, or that did not complete. */
  rejectCondition: "NOT_OPEN" | "NOT_COMPLETED_CLEANLY" | undefined;
  /** Go to the workflow with the query. */
  headers: PayloadHeaders;
}

/** `handle.cancel`. */
export interface CancelInput extends WorkflowTarget {
  /** For people; in history. */
  reason: string;
  /** Two requests with one id are one. */
  requestId: string;
}

/** `handle.terminate`. */
export interface TerminateInput extends WorkflowTarget {
  /** For people; in history. */
  reason: string;
  /** Values that history keeps. */
  details: readonly unknown[];
}

/** `handle.reset`. */
export interface ResetInput extends WorkflowTarget {
  /** Where the workflow goes on. */
  point: ResetPoint;
  /** For people; in history. */
  reason: string;
  /** What is not given to the new run again. */
  reapplyExclude: "ALL" | readonly ReapplyExclude[];
  /** Two resets with one id are one. */
  requestId: string;
}

/** One request of `client.list`, which asks page by page. */
export interface ListInput {
  /** The visibility query; "" selects all. */
  query: string;
  /** Runs in a page; 0 leaves it to the service. */
  pageSize: number;
  /** Where the page begins; empty for the first one. */
  nextPageToken: Uint8Array;
}

/** `client.schedule.create`. */
export interface CreateScheduleInput {
  /** The whole schedule. */
  options: ScheduleOptions<AnyWorkflow>;
  /** Two creations with one request id are one. */
  requestId: string;
  /** Go to every workflow that the schedule starts. */
  headers: PayloadHeaders;
}

/** `scheduleHandle.update`: what it makes of the schedule is known once `next` has described it. */
export interface UpdateScheduleInput {
  /** Id of the schedule. */
  scheduleId: string;
  /** Makes the new schedule of the description. */
  change: (previous: ScheduleDescription) => ScheduleUpdateOptions<AnyWorkflow> | Promise<ScheduleUpdateOptions<AnyWorkflow>>;
  /** Two updates with one request id are one. */
  requestId: string;
  /** Go to every workflow that the schedule starts; those that it has stay. */
  headers: PayloadHeaders;
}

/** `scheduleHandle.pause`, `unpause`, `trigger` and `backfill`. */
export interface PatchScheduleInput {
  /** Id of the schedule. */
  scheduleId: string;
  /** What is done. */
  patch: SchedulePatch;
  /** Two of them with one request id are one. */
  requestId: string;
}
