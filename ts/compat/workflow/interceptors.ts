// Types of workflow interceptors of the official SDK. ../interception.ts calls them.
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
// A function type with deferred lookup, because an interceptor's own type is part of it.
type WithoutLast<F extends AnyFunction> = (...args: AllButLast<Parameters<F>>) => ReturnType<F>;

/** The next interceptor, or the operation itself. */
export type Next<I, M extends keyof I> = Required<I>[M] extends AnyFunction
  ? WithoutLast<Required<I>[M]>
  : never;

/** Payloads in addition to the arguments, by name. */
export type Headers = Record<string, Payload>;

/** Creates the interceptors of a run; exported by modules as `interceptors`. */
export type WorkflowInterceptorsFactory = () => WorkflowInterceptors;

/** Interceptors of a run. The first one of a list is the outermost. */
export interface WorkflowInterceptors {
  /** Interceptors of the workflow's function and its handlers. */
  inbound?: WorkflowInboundCallsInterceptor[];
  /** Interceptors of calls by workflow code. */
  outbound?: WorkflowOutboundCallsInterceptor[];
  /** Interceptors of activations. */
  internals?: WorkflowInternalsInterceptor[];
}

/** Input of the workflow's function. */
export interface WorkflowExecuteInput {
  /** Arguments of the workflow. */
  readonly args: unknown[];
  /** Headers of the start. */
  readonly headers: Headers;
}

/** Input of an update's handler and validator. */
export interface UpdateInput {
  readonly updateId: string;
  readonly name: string;
  /** Arguments of the update. */
  readonly args: unknown[];
  readonly headers: Headers;
}

/** Input of a signal's handler. */
export interface SignalInput {
  readonly signalName: string;
  /** Arguments of the signal. */
  readonly args: unknown[];
  readonly headers: Headers;
}

/** Input of a query's handler. */
export interface QueryInput {
  readonly queryId: string;
  readonly queryName: string;
  /** Arguments of the query. */
  readonly args: unknown[];
  readonly headers: Headers;
}

/** Interceptor of the workflow's function and its handlers. */
export interface WorkflowInboundCallsInterceptor {
  /** Intercepts the workflow's function. */
  execute?: (
    input: WorkflowExecuteInput,
    next: Next<WorkflowInboundCallsInterceptor, "execute">,
  ) => Promise<unknown>;
  /** Intercepts an update's handler. */
  handleUpdate?: (
    input: UpdateInput,
    next: Next<WorkflowInboundCallsInterceptor, "handleUpdate">,
  ) => Promise<unknown>;
  /** Intercepts an update's validator; not called without one. */
  validateUpdate?: (
    input: UpdateInput,
    next: Next<WorkflowInboundCallsInterceptor, "validateUpdate">,
  ) => void;
  /** Intercepts a signal's handler. */
  handleSignal?: (
    input: SignalInput,
    next: Next<WorkflowInboundCallsInterceptor, "handleSignal">,
  ) => Promise<void>;
  /** Intercepts a query's handler. */
  handleQuery?: (
    input: QueryInput,
    next: Next<WorkflowInboundCallsInterceptor, "handleQuery">,
  ) => Promise<unknown>;
}

/** Input of a timer. */
export interface TimerInput {
  /** Duration in milliseconds. */
  readonly durationMs: number;
  readonly seq: number;
  /** Options of the call. */
  readonly options?: TimerOptions | undefined;
}

/** Input of an activity. */
export interface ActivityInput {
  readonly activityType: string;
  /** Arguments of the activity. */
  readonly args: unknown[];
  readonly options: ActivityOptions;
  /** Type hints of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  readonly headers: Headers;
  readonly seq: number;
}

/** Input of an attempt of a local activity. */
export interface LocalActivityInput {
  readonly activityType: string;
  /** Arguments of the activity. */
  readonly args: unknown[];
  readonly options: LocalActivityOptions;
  /** Type hints of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  readonly headers: Headers;
  readonly seq: number;
  /**
   * Time of the first attempt's scheduling, in milliseconds since the epoch; undefined for the
   * first attempt.
   */
  readonly originalScheduleTime?: number | undefined;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** Options of a call of a Nexus operation. */
export interface StartNexusOperationOptions {
  /** Limit until the operation has ended. Default: the server's. */
  readonly scheduleToCloseTimeout?: Duration;
  /** Limit until the operation has started. Default: none. */
  readonly scheduleToStartTimeout?: Duration;
  /** Limit from start to end, for an asynchronous operation. Default: none. */
  readonly startToCloseTimeout?: Duration;
  /** Effect of a cancellation of its scope. Default: WAIT_CANCELLATION_COMPLETED. */
  readonly cancellationType?: NexusOperationCancellationType;
  /** Text for user interfaces. */
  readonly summary?: string;
  /** Event groups for user interfaces. */
  readonly eventGroups?: EventGroupMarker[];
}

/** Input of a Nexus operation. */
export interface StartNexusOperationInput {
  readonly input: unknown;
  /** Type hint of the input. */
  readonly inputType?: TypeInfo;
  /** Type hint of the result. */
  readonly outputType?: TypeInfo;
  readonly endpoint: string;
  readonly service: string;
  /** Options of the call. */
  readonly options: StartNexusOperationOptions;
  readonly operation: string;
  readonly seq: number;
  /** Headers of the request to the handler: plain text, visible in history. */
  readonly headers: Record<string, string>;
}

/** Result of an operation's start. */
export interface StartNexusOperationOutput {
  /** Token from the handler; empty for a synchronous result. */
  readonly token?: string;
  readonly result: Promise<unknown>;
}

/** Input of a child workflow's start. */
export interface StartChildWorkflowExecutionInput {
  readonly workflowType: string;
  /** Options of the child, with id and arguments. */
  readonly options: ChildWorkflowOptions & { workflowId: string; args: unknown[] };
  readonly headers: Headers;
  readonly seq: number;
}

/** Input of a signal to another workflow. */
export interface SignalWorkflowInput {
  readonly seq: number;
  readonly signalName: string;
  /** Arguments of the signal. */
  readonly args: unknown[];
  readonly headers: Headers;
  /** Receiver of the signal. */
  readonly target:
    | {
      readonly type: "external";
      readonly workflowExecution: { workflowId?: string; runId?: string | undefined };
    }
    | { readonly type: "child"; readonly childWorkflowId: string };
  /** Type hints of the arguments. */
  readonly typeInfo?: SignalTypeInfo;
}

/** Input of continue-as-new. */
export interface ContinueAsNewInput {
  /** Arguments of the next run. */
  readonly args: unknown[];
  /** Headers for the next run. */
  readonly headers: Headers;
  /** Options of the next run, with its type. */
  readonly options: ContinueAsNewInputOptions;
}
/** Options of the next run, with its type. */
export type ContinueAsNewInputOptions =
  & ContinueAsNewOptions
  & Required<Pick<ContinueAsNewOptions, "workflowType">>;

/** Attributes of a log line. */
export type GetLogAttributesInput = Record<string, unknown>;
/** Tags of a metric. */
export type GetMetricTagsInput = Record<string, string | number | boolean>;

/** Interceptor of calls by workflow code. */
export interface WorkflowOutboundCallsInterceptor {
  /** Intercepts a timer. */
  startTimer?: (
    input: TimerInput,
    next: Next<WorkflowOutboundCallsInterceptor, "startTimer">,
  ) => Promise<void>;
  /** Intercepts an activity. */
  scheduleActivity?: (
    input: ActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, "scheduleActivity">,
  ) => Promise<unknown>;
  /** Intercepts an attempt of a local activity. */
  scheduleLocalActivity?: (
    input: LocalActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, "scheduleLocalActivity">,
  ) => Promise<unknown>;
  /** Intercepts a Nexus operation: settles with its start, which contains a promise of its end. */
  startNexusOperation?: (
    input: StartNexusOperationInput,
    next: Next<WorkflowOutboundCallsInterceptor, "startNexusOperation">,
  ) => Promise<StartNexusOperationOutput>;
  /** Intercepts a child workflow: promises of its start and of its end. */
  startChildWorkflowExecution?: (
    input: StartChildWorkflowExecutionInput,
    next: Next<WorkflowOutboundCallsInterceptor, "startChildWorkflowExecution">,
  ) => Promise<[Promise<string>, Promise<unknown>]>;
  /** Intercepts a signal to another workflow. */
  signalWorkflow?: (
    input: SignalWorkflowInput,
    next: Next<WorkflowOutboundCallsInterceptor, "signalWorkflow">,
  ) => Promise<void>;
  /** Intercepts continue-as-new. */
  continueAsNew?: (
    input: ContinueAsNewInput,
    next: Next<WorkflowOutboundCallsInterceptor, "continueAsNew">,
  ) => Promise<never>;
  /** Returns changed attributes of a log line. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<WorkflowOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Returns changed tags of a metric. */
  getMetricTags?: (
    input: GetMetricTagsInput,
    next: Next<WorkflowOutboundCallsInterceptor, "getMetricTags">,
  ) => GetMetricTagsInput;
}

/**
 * Content of an activation. Jobs have the official core's form in the fields that interceptors
 * read: `variant`, and that field.
 */
export interface ActivateInput {
  readonly activation: {
    readonly runId: string;
    /** Workflow time. */
    readonly timestamp: { readonly seconds: number; readonly nanos: number };
    readonly isReplaying: boolean;
    readonly historyLength: number;
    readonly jobs: readonly { readonly variant: string; readonly [variant: string]: unknown }[];
  };
  /** 0, or 1 for the second batch of histories before 1.11. */
  readonly batchIndex: number;
}

/** Commands of an activation by name, read-only. */
export interface ConcludeActivationInput {
  /** Commands in order. */
  readonly commands: readonly { readonly [command: string]: unknown }[];
}
/** The same commands. */
export type ConcludeActivationOutput = ConcludeActivationInput;
/** Empty. */
// deno-lint-ignore no-empty-interface
export interface DisposeInput {}

/** Synchronous interceptor of activations. */
export interface WorkflowInternalsInterceptor {
  /** Called around the application of jobs, which happens in `next`. */
  activate?(input: ActivateInput, next: (input: ActivateInput) => void): void;
  /** Called when the run is idle, before the commands are sent. */
  concludeActivation?(
    input: ConcludeActivationInput,
    next: (input: ConcludeActivationInput) => ConcludeActivationOutput,
  ): ConcludeActivationOutput;
  /** Called when the run is evicted. */
  dispose?(input: DisposeInput, next: (input: DisposeInput) => void): void;
}
