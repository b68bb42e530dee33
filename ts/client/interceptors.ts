// Interceptors: code around the operations of a client, for tracing, authorization, default options, and headers that travel with a start
// or a message to the worker. What an interceptor sees is an operation as the caller asked for it (operation_inputs.ts), so `next` may be
// called again after a failure.
import { type OptionNames, rejectMisspelledMethods } from "../base/option_names.ts";
import type { ClientContext } from "./context.ts";
import type { WorkflowCount } from "./counts.ts";
import type { WorkflowDescription, WorkflowSummary } from "./descriptions.ts";
import type {
  CancelInput,
  CreateScheduleInput,
  ListInput,
  PatchScheduleInput,
  QueryInput,
  ResetInput,
  SignalInput,
  SignalWithStartInput,
  StartInput,
  TerminateInput,
  UpdateInput,
  UpdateScheduleInput,
  UpdateWithStartInput,
  WorkflowTarget,
} from "./operation_inputs.ts";
import type { ScheduleDescription, ScheduleSummary } from "./schedules/descriptions.ts";
import type { UpdateHandle } from "./updates.ts";

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

/** A page of `client.list`. */
export interface WorkflowPage {
  /** The runs. */
  runs: readonly WorkflowSummary[];
  /** Where the next page begins; empty after the last one. */
  nextPageToken: Uint8Array;
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
export type AnyClientInput =
  & { [K in ClientOperation]: { operation: K; input: ClientOperations[K]["input"] } }[ClientOperation]
  & {
    /** The client has `encodeCommonAttributes`: an interceptor must not log or trace messages and stacks of errors. */
    readonly hidesText: boolean;
  };

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
    /** Every operation: `{ operation, input, hidesText }`, where `input` is the object that the operation's own method would get. */
    readonly any?: (call: AnyClientInput, next: () => Promise<unknown>) => Promise<unknown>;
  };

const METHODS: OptionNames<ClientInterceptor> = {
  ...{ start: 1, signalWithStart: 1, signal: 1, update: 1, updateWithStart: 1, query: 1, cancel: 1, terminate: 1, reset: 1 },
  ...{ delete: 1, describe: 1, list: 1, count: 1, createSchedule: 1, describeSchedule: 1, updateSchedule: 1, patchSchedule: 1 },
  ...{ deleteSchedule: 1, listSchedules: 1, any: 1 },
};

/** Throws a TypeError for an interceptor with a misspelled method, which would never be called. */
export function checkInterceptors(interceptors: readonly ClientInterceptor[]): void {
  interceptors.forEach((each, i) => rejectMisspelledMethods(`interceptors[${i}] of Client`, each, METHODS));
}

/** What the parts of a client share, with the interceptors that their operations pass through. */
export interface OperationContext extends ClientContext {
  readonly interceptors: readonly ClientInterceptor[];
}

/** Passes the input through the interceptors of the client, the first one outermost, and then to `last`. */
export function intercept<K extends ClientOperation>(
  { interceptors, codec }: Pick<OperationContext, "interceptors" | "codec">,
  operation: K,
  input: ClientOperations[K]["input"],
  last: Next<K>,
): Promise<ClientOperations[K]["output"]> {
  let next = last;
  const hidesText = codec?.hidesText === true;
  for (const interceptor of [...interceptors].reverse()) {
    const inner = next;
    const own = interceptor[operation] as ((input: unknown, next: Next<K>) => ReturnType<Next<K>>) | undefined;
    // `async`: what an interceptor throws at once is a rejection, too.
    const step: Next<K> = own === undefined ? inner : async (given) => own.call(interceptor, given, inner);
    const { any } = interceptor;
    next = any === undefined
      ? step
      : async (given) =>
        await any.call(interceptor, { operation, input: given, hidesText } as AnyClientInput, () => step(given)) as Awaited<
          ReturnType<Next<K>>
        >;
  }
  return next(input);
}
