// Interceptors: code around the operations of a client, for tracing, authorization, default
// options, and headers for the worker. An interceptor sees the operation as its caller requested it
// (operation_inputs.ts), so `next` may be called again after a failure.
import { type OptionNames, rejectMisspelledMethods } from "../base/option_names.ts";
import type { ActivityDescription, ActivitySummary } from "./activities/descriptions.ts";
import type { ClientContext } from "./context.ts";
import type { WorkflowCount } from "./counts.ts";
import type { WorkflowDescription, WorkflowSummary } from "./descriptions.ts";
import type {
  ActivityTarget,
  CallFunctionInput,
  CancelInput,
  ChangeActivityInput,
  CreateScheduleInput,
  ListInput,
  PatchScheduleInput,
  QueryInput,
  ResetInput,
  SignalInput,
  SignalWithStartInput,
  StartActivityInput,
  StartInput,
  TerminateInput,
  UpdateInput,
  UpdateScheduleInput,
  UpdateWithStartInput,
  WorkflowTarget,
} from "./operation_inputs.ts";
import type { ScheduleDescription, ScheduleSummary } from "./schedules/descriptions.ts";
import type { UpdateHandle } from "./updates.ts";

/** The run that a start created or joined. */
export interface StartedWorkflow {
  workflowId: string;
  runId: string;
  /** First run of its chain, if the service reports it. */
  firstExecutionRunId: string | undefined;
  /**
   * False if an existing run was used (`idConflictPolicy: "USE_EXISTING"`, or a repeated start).
   */
  started: boolean;
}

/** A page of `client.list`. */
export interface WorkflowPage {
  runs: readonly WorkflowSummary[];
  /** Token of the next page; empty after the last one. */
  nextPageToken: Uint8Array;
}

/** A page of `client.schedule.list`. */
export interface SchedulePage {
  schedules: readonly ScheduleSummary[];
  /** Token of the next page; empty after the last one. */
  nextPageToken: Uint8Array;
}

/** The standalone activity that a start created or joined. */
export interface StartedActivity {
  id: string;
  runId: string;
  /** False if an existing activity was used. */
  started: boolean;
}

/** A page of `client.activity.list`. */
export interface ActivityPage {
  activities: readonly ActivitySummary[];
  /** Token of the next page; empty after the last one. */
  nextPageToken: Uint8Array;
}

/** Operations that interceptors see, with input and result. */
export interface ClientOperations {
  start: { input: StartInput; output: StartedWorkflow };
  /** A signal, with a start if needed. */
  signalWithStart: { input: SignalWithStartInput; output: StartedWorkflow };
  signal: { input: SignalInput; output: void };
  /** An update, up to the stage that its caller waits for. */
  update: { input: UpdateInput; output: UpdateHandle };
  /** An update with a start, or with a running workflow. */
  updateWithStart: {
    input: UpdateWithStartInput;
    output: { workflow: StartedWorkflow; update: UpdateHandle };
  };
  query: { input: QueryInput; output: unknown };
  /** A cancel request. */
  cancel: { input: CancelInput; output: void };
  /** A termination. */
  terminate: { input: TerminateInput; output: void };
  /** A reset; returns the new run. */
  reset: { input: ResetInput; output: { runId: string } };
  /** A deletion. */
  delete: { input: WorkflowTarget; output: void };
  describe: { input: WorkflowTarget; output: WorkflowDescription };
  list: { input: ListInput; output: WorkflowPage };
  count: { input: { query: string }; output: WorkflowCount };
  /** A call of a function of the application. */
  callFunction: { input: CallFunctionInput; output: unknown };
  /** The start of a standalone activity. */
  startActivity: { input: StartActivityInput; output: StartedActivity };
  describeActivity: { input: ActivityTarget; output: ActivityDescription };
  /** Each method of an activity's handle that changes the activity. */
  changeActivity: { input: ChangeActivityInput; output: void };
  listActivities: { input: ListInput; output: ActivityPage };
  countActivities: { input: { query: string }; output: WorkflowCount };
  /** The creation of a schedule. */
  createSchedule: { input: CreateScheduleInput; output: { scheduleId: string } };
  describeSchedule: { input: { scheduleId: string }; output: ScheduleDescription };
  updateSchedule: { input: UpdateScheduleInput; output: void };
  /** Pause, unpause, trigger or backfill of a schedule. */
  patchSchedule: { input: PatchScheduleInput; output: void };
  /** The deletion of a schedule. */
  deleteSchedule: { input: { scheduleId: string }; output: void };
  listSchedules: { input: ListInput; output: SchedulePage };
}

/** Names of the operations. */
export type ClientOperation = keyof ClientOperations;

/** The rest of the chain, then the call itself. Rejects like the call. */
export type Next<K extends ClientOperation> = (
  input: ClientOperations[K]["input"],
) => Promise<ClientOperations[K]["output"]>;

/** An operation with its input for `ClientInterceptor.any`, discriminated by `operation`. */
export type AnyClientInput =
  & {
    [K in ClientOperation]: { operation: K; input: ClientOperations[K]["input"] };
  }[ClientOperation]
  & {
    /**
     * The client has `encodeCommonAttributes`: do not log or trace messages and stacks of errors.
     */
    readonly hidesText: boolean;
  };

/**
 * Code around the operations of a client (`ClientOptions.interceptors`). Each method receives the
 * input and `next`, which continues the operation. A method may change the input or pass another
 * one, change or replace the result, call `next` not at all or several times, and throw. The first
 * interceptor of the list is the outermost one. Operations without a method are not intercepted;
 * `any` sees every operation, outside of the interceptor's own methods.
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
    /**
     * Every operation: `{ operation, input, hidesText }`; `input` is the same object that the
     * operation's method receives.
     */
    readonly any?: (call: AnyClientInput, next: () => Promise<unknown>) => Promise<unknown>;
  };

const METHODS: OptionNames<ClientInterceptor> = {
  ...{
    start: 1,
    signalWithStart: 1,
    signal: 1,
    update: 1,
    updateWithStart: 1,
    query: 1,
    cancel: 1,
    terminate: 1,
    reset: 1,
  },
  ...{
    delete: 1,
    describe: 1,
    list: 1,
    count: 1,
    callFunction: 1,
    createSchedule: 1,
    describeSchedule: 1,
    updateSchedule: 1,
    patchSchedule: 1,
  },
  ...{ deleteSchedule: 1, listSchedules: 1, any: 1 },
  ...{ startActivity: 1, describeActivity: 1, changeActivity: 1, listActivities: 1 },
  countActivities: 1,
};

/** Throws a TypeError for an interceptor with a misspelled method, which would never be called. */
export function checkInterceptors(interceptors: readonly ClientInterceptor[]): void {
  interceptors.forEach((each, i) =>
    rejectMisspelledMethods(`interceptors[${i}] of Client`, each, METHODS)
  );
}

/** Context of a client with its interceptors. */
export interface OperationContext extends ClientContext {
  readonly interceptors: readonly ClientInterceptor[];
}

/**
 * Passes the input through the client's interceptors, the first one outermost, and then to `last`.
 */
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
    const own = interceptor[operation] as
      | ((input: unknown, next: Next<K>) => ReturnType<Next<K>>)
      | undefined;
    // `async`, so that a synchronous throw of an interceptor becomes a rejection.
    const step: Next<K> = own === undefined
      ? inner
      : async (given) => own.call(interceptor, given, inner);
    const { any } = interceptor;
    next = any === undefined
      ? step
      : async (given) =>
        await any.call(interceptor, { operation, input: given, hidesText } as AnyClientInput, () =>
          step(given)) as Awaited<
            ReturnType<Next<K>>
          >;
  }
  return next(input);
}
