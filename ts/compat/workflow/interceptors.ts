// Types of workflow interceptors, as modules of the official SDK declare them. How they are called: ../interception.ts.
import type { PayloadTypeInfo, SignalTypeInfo, TypeInfo } from "../common/type_info.ts";
import type { Duration } from "../common/time.ts";
import type { Payload } from "../../converter/payload.ts";
import type { NexusOperationCancellationType } from "./nexus_types.ts";
import type {
  ActivityOptions,
  ChildWorkflowOptions,
  ContinueAsNewOptions,
  EventGroupMarker,
  LocalActivityOptions,
  TimerOptions,
} from "./options.ts";

// deno-lint-ignore no-explicit-any
type AnyFunction = (...args: any[]) => any;
type AllButLast<A extends unknown[]> = A extends [...infer First, unknown] ? First : never;
// A function type whose parts are looked up late: an interceptor's own type is among them.
type WithoutLast<F extends AnyFunction> = (...args: AllButLast<Parameters<F>>) => ReturnType<F>;

/** What comes after an interceptor: the next one, or the operation itself. */
export type Next<I, M extends keyof I> = Required<I>[M] extends AnyFunction ? WithoutLast<Required<I>[M]> : never;

/** Values beside the arguments, by name. */
export type Headers = Record<string, Payload>;

/** Makes the interceptors of one run; modules export it as `interceptors`. */
export type WorkflowInterceptorsFactory = () => WorkflowInterceptors;

/** Interceptors of one run. The first of a list is the outermost. */
export interface WorkflowInterceptors {
  /** Around the workflow's function and its message handlers. */
  inbound?: WorkflowInboundCallsInterceptor[];
  /** Around what workflow code asks for. */
  outbound?: WorkflowOutboundCallsInterceptor[];
  /** Around activations. */
  internals?: WorkflowInternalsInterceptor[];
}

/** What the workflow's function is called with. */
export interface WorkflowExecuteInput {
  /** Its arguments. */
  readonly args: unknown[];
  /** Of the start. */
  readonly headers: Headers;
}

/** What an update's handler and its validator are called with. */
export interface UpdateInput {
  /** Id of the update. */
  readonly updateId: string;
  /** Its name. */
  readonly name: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Of the request. */
  readonly headers: Headers;
}

/** What a signal's handler is called with. */
export interface SignalInput {
  /** Its name. */
  readonly signalName: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Of the request. */
  readonly headers: Headers;
}

/** What a query's handler is called with. */
export interface QueryInput {
  /** Id of the query. */
  readonly queryId: string;
  /** Its name. */
  readonly queryName: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Of the request. */
  readonly headers: Headers;
}

/** Around the workflow's function and its message handlers. */
export interface WorkflowInboundCallsInterceptor {
  /** The workflow's function. */
  execute?: (input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, "execute">) => Promise<unknown>;
  /** An update's handler. */
  handleUpdate?: (input: UpdateInput, next: Next<WorkflowInboundCallsInterceptor, "handleUpdate">) => Promise<unknown>;
  /** An update's validator; not called where there is none. */
  validateUpdate?: (input: UpdateInput, next: Next<WorkflowInboundCallsInterceptor, "validateUpdate">) => void;
  /** A signal's handler. */
  handleSignal?: (input: SignalInput, next: Next<WorkflowInboundCallsInterceptor, "handleSignal">) => Promise<void>;
  /** A query's handler. */
  handleQuery?: (input: QueryInput, next: Next<WorkflowInboundCallsInterceptor, "handleQuery">) => Promise<unknown>;
}

/** What a timer is started with. */
export interface TimerInput {
  /** Milliseconds. */
  readonly durationMs: number;
  /** Its number in the run. */
  readonly seq: number;
  /** Options of the call. */
  readonly options?: TimerOptions | undefined;
}

/** What an activity is scheduled with. */
export interface ActivityInput {
  /** Its type. */
  readonly activityType: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Its options. */
  readonly options: ActivityOptions;
  /** Types of its arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  /** Go to the activity. */
  readonly headers: Headers;
  /** Its number in the run. */
  readonly seq: number;
}

/** What an attempt of a local activity is scheduled with. */
export interface LocalActivityInput {
  /** Its type. */
  readonly activityType: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Its options. */
  readonly options: LocalActivityOptions;
  /** Types of its arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  /** Go to the activity. */
  readonly headers: Headers;
  /** Its number in the run. */
  readonly seq: number;
  /** When the first attempt was scheduled, milliseconds since the epoch; absent for the first. */
  readonly originalScheduleTime?: number | undefined;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** Options of a call of a Nexus operation. */
export interface StartNexusOperationOptions {
  /** The longest time until the operation is over. Default: the server's. */
  readonly scheduleToCloseTimeout?: Duration;
  /** The longest time until it has started. Default: none. */
  readonly scheduleToStartTimeout?: Duration;
  /** The longest time from its start to its end, for one that does not end at once. Default: none. */
  readonly startToCloseTimeout?: Duration;
  /** What a cancellation of its scope does. Default WAIT_CANCELLATION_COMPLETED. */
  readonly cancellationType?: NexusOperationCancellationType;
  /** Shown in user interfaces. */
  readonly summary?: string;
  /** Groups that it belongs to, in user interfaces. */
  readonly eventGroups?: EventGroupMarker[];
}

/** What a Nexus operation is started with. */
export interface StartNexusOperationInput {
  /** Its input. */
  readonly input: unknown;
  /** Type of its input. */
  readonly inputType?: TypeInfo;
  /** Type of its result. */
  readonly outputType?: TypeInfo;
  /** The endpoint. */
  readonly endpoint: string;
  /** The service. */
  readonly service: string;
  /** Options of the call. */
  readonly options: StartNexusOperationOptions;
  /** The operation. */
  readonly operation: string;
  /** Its number in the run. */
  readonly seq: number;
  /** Go to the handler, as headers of its request: plain texts that history shows as they are. */
  readonly headers: Record<string, string>;
}

/** What the start of a Nexus operation gives. */
export interface StartNexusOperationOutput {
  /** What its handler calls it; empty for one that had its result at once. */
  readonly token?: string;
  /** Of its end. */
  readonly result: Promise<unknown>;
}

/** What a child workflow is started with. */
export interface StartChildWorkflowExecutionInput {
  /** Its type. */
  readonly workflowType: string;
  /** Its options, with id and arguments. */
  readonly options: ChildWorkflowOptions & { workflowId: string; args: unknown[] };
  /** Go to the child. */
  readonly headers: Headers;
  /** Its number in the run. */
  readonly seq: number;
}

/** What a signal to another workflow is sent with. */
export interface SignalWorkflowInput {
  /** Its number in the run. */
  readonly seq: number;
  /** Its name. */
  readonly signalName: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Go to the workflow. */
  readonly headers: Headers;
  /** Whom it is for. */
  readonly target:
    | { readonly type: "external"; readonly workflowExecution: { workflowId?: string; runId?: string | undefined } }
    | { readonly type: "child"; readonly childWorkflowId: string };
  /** Types of its arguments. */
  readonly typeInfo?: SignalTypeInfo;
}

/** What the next run starts with. */
export interface ContinueAsNewInput {
  /** Its arguments. */
  readonly args: unknown[];
  /** Go to the next run. */
  readonly headers: Headers;
  /** Its options, with its type. */
  readonly options: ContinueAsNewInputOptions;
}
/** Options of the next run, with its type. */
export type ContinueAsNewInputOptions = ContinueAsNewOptions & Required<Pick<ContinueAsNewOptions, "workflowType">>;

/** Attributes of a log line. */
export type GetLogAttributesInput = Record<string, unknown>;
/** Tags of a metric. */
export type GetMetricTagsInput = Record<string, string | number | boolean>;

/** Around what workflow code asks for. */
export interface WorkflowOutboundCallsInterceptor {
  /** A timer. */
  startTimer?: (input: TimerInput, next: Next<WorkflowOutboundCallsInterceptor, "startTimer">) => Promise<void>;
  /** An activity. */
  scheduleActivity?: (
    input: ActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, "scheduleActivity">,
  ) => Promise<unknown>;
  /** An attempt of a local activity. */
  scheduleLocalActivity?: (
    input: LocalActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, "scheduleLocalActivity">,
  ) => Promise<unknown>;
  /** A Nexus operation: settled with its start, and a promise of its end in it. */
  startNexusOperation?: (
    input: StartNexusOperationInput,
    next: Next<WorkflowOutboundCallsInterceptor, "startNexusOperation">,
  ) => Promise<StartNexusOperationOutput>;
  /** A child workflow: promises of its start and of its end. */
  startChildWorkflowExecution?: (
    input: StartChildWorkflowExecutionInput,
    next: Next<WorkflowOutboundCallsInterceptor, "startChildWorkflowExecution">,
  ) => Promise<[Promise<string>, Promise<unknown>]>;
  /** A signal to another workflow. */
  signalWorkflow?: (input: SignalWorkflowInput, next: Next<WorkflowOutboundCallsInterceptor, "signalWorkflow">) => Promise<void>;
  /** The start of the next run. */
  continueAsNew?: (input: ContinueAsNewInput, next: Next<WorkflowOutboundCallsInterceptor, "continueAsNew">) => Promise<never>;
  /** Attributes of each log line. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<WorkflowOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Tags of each metric. */
  getMetricTags?: (
    input: GetMetricTagsInput,
    next: Next<WorkflowOutboundCallsInterceptor, "getMetricTags">,
  ) => GetMetricTagsInput;
}

/** What an activation brings. Its jobs are in the official core's form as far as interceptors read it: `variant`, and that field. */
export interface ActivateInput {
  /** The activation. */
  readonly activation: {
    readonly runId: string;
    /** Workflow time. */
    readonly timestamp: { readonly seconds: number; readonly nanos: number };
    readonly isReplaying: boolean;
    readonly historyLength: number;
    readonly jobs: readonly { readonly variant: string; readonly [variant: string]: unknown }[];
  };
  /** 0, or 1 for the second batch of histories of before 1.11. */
  readonly batchIndex: number;
}

/** Commands of an activation, each under its name. They are shown; they cannot be changed here. */
export interface ConcludeActivationInput {
  /** In order. */
  readonly commands: readonly { readonly [command: string]: unknown }[];
}
/** The same commands. */
export type ConcludeActivationOutput = ConcludeActivationInput;
/** Nothing yet. */
// deno-lint-ignore no-empty-interface
export interface DisposeInput {}

/** Around activations: synchronous. */
export interface WorkflowInternalsInterceptor {
  /** Jobs are applied in `next`. */
  activate?(input: ActivateInput, next: (input: ActivateInput) => void): void;
  /** All is quiet, and the commands are about to leave. */
  concludeActivation?(
    input: ConcludeActivationInput,
    next: (input: ConcludeActivationInput) => ConcludeActivationOutput,
  ): ConcludeActivationOutput;
  /** The run leaves memory. */
  dispose?(input: DisposeInput, next: (input: DisposeInput) => void): void;
}
