// Interceptors of clients, with the official types.
import type { ActivityClientInterceptor } from "./activity_types.ts";
import { type OptionNames, rejectMisspelledMethods } from "../../base/option_names.ts";
import { composeInterceptors, type Headers, type Next } from "../common/interceptors.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import type { PayloadTypeInfo, SignalTypeInfo, TypeInfo } from "../common/type_info.ts";
import type { WorkflowExecution } from "./infos.ts";
import type { CompiledScheduleOptions } from "./schedule_types.ts";
import type { CompiledWorkflowOptions, WorkflowUpdateOptions } from "./workflow_options.ts";

export type { Headers, Next };

/** Input of a start. */
export interface WorkflowStartInput {
  readonly workflowType: string;
  readonly headers: Headers;
  /** Options, with arguments. */
  readonly options: CompiledWorkflowOptions;
}
/** Result of a start. */
export interface WorkflowStartOutput {
  readonly runId: string;
  /** True if the response contained the first task. */
  readonly eagerlyStarted: boolean;
}
/** Input of an update. */
export interface WorkflowStartUpdateInput {
  readonly updateName: string;
  /** Arguments of the update. */
  readonly args: unknown[];
  /** Type hints of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  readonly workflowExecution: WorkflowExecution;
  readonly firstExecutionRunId?: string | undefined;
  readonly headers: Headers;
  readonly options: WorkflowUpdateOptions;
}
/** Result of an update's request. */
export interface WorkflowStartUpdateOutput {
  readonly updateId: string;
  readonly workflowRunId: string;
  /** Outcome, if the update has completed. */
  readonly outcome?: PlainMessage;
  /** Type hint of the result. */
  readonly outputTypeInfo?: TypeInfo | undefined;
}
/** Input of an update-with-start. */
export interface WorkflowStartUpdateWithStartInput {
  readonly workflowType: string;
  /** Options of the start, with arguments. */
  readonly workflowStartOptions: CompiledWorkflowOptions;
  readonly workflowStartHeaders: Headers;
  readonly updateName: string;
  /** Arguments of the update. */
  readonly updateArgs: unknown[];
  /** Type hints of arguments and result. */
  readonly updateTypeInfo?: PayloadTypeInfo | undefined;
  readonly updateOptions: WorkflowUpdateOptions;
  readonly updateHeaders: Headers;
}
/** Result of an update-with-start. */
export interface WorkflowStartUpdateWithStartOutput {
  readonly workflowExecution: WorkflowExecution;
  readonly updateId: string;
  /** Outcome, if the update has completed. */
  readonly updateOutcome?: PlainMessage;
  /** Type hint of the result. */
  readonly updateOutputTypeInfo?: TypeInfo | undefined;
}
/** Input of a signal. */
export interface WorkflowSignalInput {
  readonly signalName: string;
  /** Arguments of the signal. */
  readonly args: unknown[];
  /** Type hints of the arguments. */
  readonly typeInfo?: SignalTypeInfo | undefined;
  readonly workflowExecution: WorkflowExecution;
  readonly headers: Headers;
}
/** Input of a signal with start. */
export interface WorkflowSignalWithStartInput {
  readonly workflowType: string;
  readonly signalName: string;
  /** Arguments of the signal. */
  readonly signalArgs: unknown[];
  /** Type hints of the arguments. */
  readonly signalTypeInfo?: SignalTypeInfo | undefined;
  readonly headers: Headers;
  /** Options of the start, with arguments. */
  readonly options: CompiledWorkflowOptions;
}
/** Input of a query. */
export interface WorkflowQueryInput {
  readonly queryType: string;
  /** Arguments of the query. */
  readonly args: unknown[];
  /** Type hints of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  readonly workflowExecution: WorkflowExecution;
  /** temporal.api.enums.v1.QueryRejectCondition */
  readonly queryRejectCondition?: number | undefined;
  readonly headers: Headers;
}
/** Input of a termination. */
export interface WorkflowTerminateInput {
  readonly workflowExecution: WorkflowExecution;
  /** Reason in history. */
  readonly reason?: string | undefined;
  /** Values in history. */
  readonly details?: unknown[];
  readonly firstExecutionRunId?: string | undefined;
}
/** Input of a cancel request. */
export interface WorkflowCancelInput {
  readonly workflowExecution: WorkflowExecution;
  readonly firstExecutionRunId?: string | undefined;
}
/** Input of a description. */
export interface WorkflowDescribeInput {
  readonly workflowExecution: WorkflowExecution;
}

/** Interceptor of a client's operations. */
export interface WorkflowClientInterceptor {
  /** Intercepts a start and returns the run id. Deprecated: use `startWithDetails`. */
  start?: (
    input: WorkflowStartInput,
    next: (input: WorkflowStartInput) => Promise<string>,
  ) => Promise<string>;
  /** Intercepts a start. */
  startWithDetails?: (
    input: WorkflowStartInput,
    next: (input: WorkflowStartInput) => Promise<WorkflowStartOutput>,
  ) => Promise<WorkflowStartOutput>;
  /** Intercepts an update, up to the stage that its caller waits for. */
  startUpdate?: (
    input: WorkflowStartUpdateInput,
    next: (input: WorkflowStartUpdateInput) => Promise<WorkflowStartUpdateOutput>,
  ) => Promise<WorkflowStartUpdateOutput>;
  /** Intercepts an update-with-start. */
  startUpdateWithStart?: (
    input: WorkflowStartUpdateWithStartInput,
    next: (input: WorkflowStartUpdateWithStartInput) => Promise<WorkflowStartUpdateWithStartOutput>,
  ) => Promise<WorkflowStartUpdateWithStartOutput>;
  /** Intercepts a signal. */
  signal?: (
    input: WorkflowSignalInput,
    next: (input: WorkflowSignalInput) => Promise<void>,
  ) => Promise<void>;
  /** Intercepts a signal with start and returns the run id. */
  signalWithStart?: (
    input: WorkflowSignalWithStartInput,
    next: (input: WorkflowSignalWithStartInput) => Promise<string>,
  ) => Promise<string>;
  /** Intercepts a query. */
  query?: (
    input: WorkflowQueryInput,
    next: (input: WorkflowQueryInput) => Promise<unknown>,
  ) => Promise<unknown>;
  /** Intercepts a termination. */
  terminate?: (
    input: WorkflowTerminateInput,
    next: (input: WorkflowTerminateInput) => Promise<PlainMessage>,
  ) => Promise<PlainMessage>;
  /** Intercepts a cancel request. */
  cancel?: (
    input: WorkflowCancelInput,
    next: (input: WorkflowCancelInput) => Promise<PlainMessage>,
  ) => Promise<PlainMessage>;
  /** Intercepts a description. */
  describe?: (
    input: WorkflowDescribeInput,
    next: (input: WorkflowDescribeInput) => Promise<PlainMessage>,
  ) => Promise<PlainMessage>;
}

/** Alias of {@link WorkflowClientInterceptor}. */
export type WorkflowClientCallsInterceptor = WorkflowClientInterceptor;
/** Input of an interceptor factory. */
export interface WorkflowClientCallsInterceptorFactoryInput {
  workflowId: string;
  runId?: string | undefined;
}
/** Creates the interceptor of a workflow's operations. */
export interface WorkflowClientCallsInterceptorFactory {
  (input: WorkflowClientCallsInterceptorFactoryInput): WorkflowClientCallsInterceptor;
}
/** Deprecated form of a client's interceptors. */
export interface WorkflowClientInterceptors {
  calls?: WorkflowClientCallsInterceptorFactory[];
}

/** Input of a schedule's creation. */
export interface CreateScheduleInput {
  /** Headers for every workflow that it starts. */
  readonly headers: Headers;
  readonly options: CompiledScheduleOptions;
}
/** Result of a schedule's creation. */
export type CreateScheduleOutput = {
  /** Changes with the schedule. */
  readonly conflictToken: Uint8Array;
};
/** Interceptor of a schedule client's operations. */
export interface ScheduleClientInterceptor {
  /** Intercepts the creation of a schedule. */
  create?: (
    input: CreateScheduleInput,
    next: (input: CreateScheduleInput) => Promise<CreateScheduleOutput>,
  ) => Promise<CreateScheduleOutput>;
}

/** Interceptors of a client. */
export interface ClientInterceptors {
  /** Interceptors of workflow operations. */
  workflow?: WorkflowClientInterceptors | WorkflowClientInterceptor[];
  /** Interceptors of schedule operations. */
  schedule?: ScheduleClientInterceptor[];
  /** Interceptors of standalone Nexus operations, which are not supported. */
  nexus?: unknown[];
  /** Interceptors of standalone activities. */
  activity?: ActivityClientInterceptor[];
}

const WORKFLOW_METHODS: OptionNames<WorkflowClientInterceptor> = {
  ...{
    start: 1,
    startWithDetails: 1,
    startUpdate: 1,
    startUpdateWithStart: 1,
    signal: 1,
    signalWithStart: 1,
    query: 1,
  },
  ...{ terminate: 1, cancel: 1, describe: 1 },
};
const SCHEDULE_METHODS: OptionNames<ScheduleClientInterceptor> = { create: 1 };

/**
 * Returns the interceptors. Throws a TypeError for a misspelled method, which would never be
 * called.
 */
export function checkWorkflowInterceptors(
  interceptors: WorkflowClientInterceptor[],
): WorkflowClientInterceptor[] {
  for (const each of interceptors) {
    rejectMisspelledMethods("a workflow interceptor of the client", each, WORKFLOW_METHODS);
  }
  return interceptors;
}

/** Same for interceptors of schedules. */
export function checkScheduleInterceptors(
  interceptors: readonly ScheduleClientInterceptor[],
): void {
  for (const each of interceptors) {
    rejectMisspelledMethods("a schedule interceptor of the client", each, SCHEDULE_METHODS);
  }
}

/** Adds `startWithDetails` to an interceptor that has only the deprecated `start`. */
export function withStartDetails(
  interceptor: WorkflowClientInterceptor,
): WorkflowClientInterceptor {
  const { start } = interceptor;
  if (interceptor.startWithDetails !== undefined || start === undefined) return interceptor;
  return {
    ...interceptor,
    async startWithDetails(input, next) {
      let answered: WorkflowStartOutput | undefined;
      const runId = await start.call(interceptor, input, async (changed) => {
        answered = await next(changed);
        return answered.runId;
      });
      return { eagerlyStarted: false, ...answered, runId };
    },
  };
}

/** Calls an operation through the interceptors. */
export function through<M extends keyof WorkflowClientInterceptor>(
  interceptors: readonly WorkflowClientInterceptor[],
  method: M,
  last: Next<WorkflowClientInterceptor, M>,
): Next<WorkflowClientInterceptor, M> {
  return composeInterceptors([...interceptors], method, last);
}
