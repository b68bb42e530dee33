// Interceptors: code around the operations of a client, for tracing, authorization, default options, and headers that travel with a start
// or a message to the worker. What an interceptor sees is an operation as the caller asked for it, with values, before anything is
// encoded; ids that make it idempotent are chosen already, so `next` may be called again after a failure.
import type { Payload } from "../converter/payload.ts";
import type { WorkflowDescription, WorkflowSummary } from "./descriptions.ts";
import type { WorkflowCount } from "./counts.ts";
import type { ReapplyExclude, ResetPoint } from "./reset.ts";
import type { WorkflowOptions } from "./options.ts";
import type { AnyWorkflow } from "./definitions.ts";
import type { ScheduleDescription, ScheduleSummary } from "./schedules/descriptions.ts";
import type { SchedulePatch } from "./schedules/handle.ts";
import type { ScheduleOptions, ScheduleUpdateOptions } from "./schedules/options.ts";
import type { UpdateHandle } from "./updates.ts";

/**
 * Values beside the arguments, by name, for interceptors of the worker: a trace context, a tenant. A client's codec encodes them like any
 * other payload. They are the caller's own object: add, change and remove entries as needed.
 */
export type PayloadHeaders = { [name: string]: Payload };

/** Which workflow an operation goes to. */
export interface WorkflowTarget {
  /** Id of the workflow. */
  workflowId: string;
  /** The run; undefined: the current one. */
  runId: string | undefined;
  /** Only runs of the chain that began with this one; undefined: any. */
  firstExecutionRunId?: string | undefined;
}

/** The run that a start made or joined. */
export interface StartedWorkflow {
  /** Id of the workflow. */
  workflowId: string;
  /** The run that was made or joined. */
  runId: string;
  /** First run of its chain, where the service says so. */
  firstExecutionRunId: string | undefined;
  /** False when a run was there already and was taken (`idConflictPolicy: "USE_EXISTING"`, or a start that was repeated). */
  started: boolean;
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

/** A page of `client.list`. */
export interface WorkflowPage {
  /** The runs. */
  runs: readonly WorkflowSummary[];
  /** Where the next page begins; empty after the last one. */
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

/** A page of `client.schedule.list`. */
export interface SchedulePage {
  /** The schedules. */
  schedules: readonly ScheduleSummary[];
  /** Where the next page begins; empty after the last one. */
  nextPageToken: Uint8Array;
}

/** The operations that interceptors see: of each its input and what it answers. */
export interface ClientOperations {
  /** A start. */
  start: { input: StartInput; output: StartedWorkflow };
  /** A signal, with a start where it is needed. */
  signalWithStart: { input: SignalWithStartInput; output: StartedWorkflow };
  /** A signal. */
  signal: { input: SignalInput; output: void };
  /** An update, up to the stage that its caller waits for. */
  update: { input: UpdateInput; output: UpdateHandle };
  /** A start, or a workflow that runs already, with an update. */
  updateWithStart: { input: UpdateWithStartInput; output: { workflow: StartedWorkflow; update: UpdateHandle } };
  /** A query. */
  query: { input: QueryInput; output: unknown };
  /** A cancel request. */
  cancel: { input: CancelInput; output: void };
  /** A termination. */
  terminate: { input: TerminateInput; output: void };
  /** A reset; answers the new run. */
  reset: { input: ResetInput; output: { runId: string } };
  /** A deletion. */
  delete: { input: WorkflowTarget; output: void };
  /** A description. */
  describe: { input: WorkflowTarget; output: WorkflowDescription };
  /** A page of a list. */
  list: { input: ListInput; output: WorkflowPage };
  /** A count. */
  count: { input: { query: string }; output: WorkflowCount };
  /** The making of a schedule. */
  createSchedule: { input: CreateScheduleInput; output: { scheduleId: string } };
  /** A description of a schedule. */
  describeSchedule: { input: { scheduleId: string }; output: ScheduleDescription };
  /** A change of a schedule. */
  updateSchedule: { input: UpdateScheduleInput; output: void };
  /** Pausing and unpausing a schedule, triggering and backfilling it. */
  patchSchedule: { input: PatchScheduleInput; output: void };
  /** The removal of a schedule. */
  deleteSchedule: { input: { scheduleId: string }; output: void };
  /** A page of a list of schedules. */
  listSchedules: { input: ListInput; output: SchedulePage };
}

/** Names of the operations. */
export type ClientOperation = keyof ClientOperations;

/** The rest of the chain and then the call itself. Rejects as the call does. */
export type Next<K extends ClientOperation> = (input: ClientOperations[K]["input"]) => Promise<ClientOperations[K]["output"]>;

/** An operation with its input, as `ClientInterceptor.any` gets it: told apart by `operation`. */
export type AnyClientInput = { [K in ClientOperation]: { operation: K; input: ClientOperations[K]["input"] } }[ClientOperation];

/**
 * Code around the operations of a client (`ClientOptions.interceptors`). Each method is given what was asked for and `next`, which goes on;
 * it may change the input or pass another one, change or replace the answer, call `next` not at all or again, and throw. The first
 * interceptor of the list is the outermost one. Only what it names is intercepted; `any` sees every operation, outside of the
 * interceptor's own methods.
 *
 * @example
 * const tenant: ClientInterceptor = {
 *   start(input, next) {
 *     input.headers["tenant"] = defaultPayloadConverter.toPayload("acme");
 *     return next(input);
 *   },
 * };
 * const client = new Client({ service, interceptors: [tenant] });
 */
export type ClientInterceptor =
  & {
    readonly [K in ClientOperation]?: (
      input: ClientOperations[K]["input"],
      next: Next<K>,
    ) => Promise<ClientOperations[K]["output"]>;
  }
  & {
    /** Every operation: `{ operation, input }`, where `input` is the object that the operation's own method would get. */
    readonly any?: (call: AnyClientInput, next: () => Promise<unknown>) => Promise<unknown>;
  };

/** Passes the input through the interceptors, the first one outermost, and then to `last`. */
export function intercept<K extends ClientOperation>(
  interceptors: readonly ClientInterceptor[],
  operation: K,
  input: ClientOperations[K]["input"],
  last: Next<K>,
): Promise<ClientOperations[K]["output"]> {
  let next = last;
  for (const interceptor of [...interceptors].reverse()) {
    const inner = next;
    const own = interceptor[operation] as ((input: unknown, next: Next<K>) => ReturnType<Next<K>>) | undefined;
    // `async`: what an interceptor throws at once is a rejection, too.
    const step: Next<K> = own === undefined ? inner : async (given) => own.call(interceptor, given, inner);
    const { any } = interceptor;
    next = any === undefined
      ? step
      : async (given) =>
        await any.call(interceptor, { operation, input: given } as AnyClientInput, () => step(given)) as Awaited<
          ReturnType<Next<K>>
        >;
  }
  return next(input);
}
