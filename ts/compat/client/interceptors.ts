// Interceptors of clients, in the official form.
import { type OptionNames, rejectMisspelledMethods } from "../../base/option_names.ts";
import { composeInterceptors, type Headers, type Next } from "../common/interceptors.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import type { PayloadTypeInfo, SignalTypeInfo, TypeInfo } from "../common/type_info.ts";
import type { WorkflowExecution } from "./infos.ts";
import type { CompiledScheduleOptions } from "./schedule_types.ts";
import type { CompiledWorkflowOptions, WorkflowUpdateOptions } from "./workflow_options.ts";

export type { Headers, Next };

/** A start. */
export interface WorkflowStartInput {
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Go to the workflow. */
  readonly headers: Headers;
  /** Options, with arguments. */
  readonly options: CompiledWorkflowOptions;
}
/** What a start answers. */
export interface WorkflowStartOutput {
  /** The run. */
  readonly runId: string;
  /** Its first task came with the answer. */
  readonly eagerlyStarted: boolean;
}
/** An update. */
export interface WorkflowStartUpdateInput {
  /** Name of the update. */
  readonly updateName: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Types of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** First run of the workflow. */
  readonly firstExecutionRunId?: string | undefined;
  /** Go to the workflow. */
  readonly headers: Headers;
  /** Options. */
  readonly options: WorkflowUpdateOptions;
}
/** What an update answers. */
export interface WorkflowStartUpdateOutput {
  /** Id of the update. */
  readonly updateId: string;
  /** The run that has it. */
  readonly workflowRunId: string;
  /** How it ended, where it has. */
  readonly outcome?: PlainMessage;
  /** Type of the result. */
  readonly outputTypeInfo?: TypeInfo | undefined;
}
/** A start with an update. */
export interface WorkflowStartUpdateWithStartInput {
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Options of the start, with arguments. */
  readonly workflowStartOptions: CompiledWorkflowOptions;
  /** Go to the workflow with the start. */
  readonly workflowStartHeaders: Headers;
  /** Name of the update. */
  readonly updateName: string;
  /** Its arguments. */
  readonly updateArgs: unknown[];
  /** Types of arguments and result. */
  readonly updateTypeInfo?: PayloadTypeInfo | undefined;
  /** Options of the update. */
  readonly updateOptions: WorkflowUpdateOptions;
  /** Go to the workflow with the update. */
  readonly updateHeaders: Headers;
}
/** What a start with an update answers. */
export interface WorkflowStartUpdateWithStartOutput {
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** Id of the update. */
  readonly updateId: string;
  /** How it ended, where it has. */
  readonly updateOutcome?: PlainMessage;
  /** Type of the result. */
  readonly updateOutputTypeInfo?: TypeInfo | undefined;
}
/** A signal. */
export interface WorkflowSignalInput {
  /** Name of the signal. */
  readonly signalName: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Types of them. */
  readonly typeInfo?: SignalTypeInfo | undefined;
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** Go to the workflow. */
  readonly headers: Headers;
}
/** A signal with start. */
export interface WorkflowSignalWithStartInput {
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Name of the signal. */
  readonly signalName: string;
  /** Its arguments. */
  readonly signalArgs: unknown[];
  /** Types of them. */
  readonly signalTypeInfo?: SignalTypeInfo | undefined;
  /** Go to the workflow. */
  readonly headers: Headers;
  /** Options of the start, with arguments. */
  readonly options: CompiledWorkflowOptions;
}
/** A query. */
export interface WorkflowQueryInput {
  /** Name of the query. */
  readonly queryType: string;
  /** Its arguments. */
  readonly args: unknown[];
  /** Types of arguments and result. */
  readonly typeInfo?: PayloadTypeInfo | undefined;
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** temporal.api.enums.v1.QueryRejectCondition */
  readonly queryRejectCondition?: number | undefined;
  /** Go to the workflow. */
  readonly headers: Headers;
}
/** A termination. */
export interface WorkflowTerminateInput {
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** For people. */
  readonly reason?: string | undefined;
  /** Values that history keeps. */
  readonly details?: unknown[];
  /** First run of the workflow. */
  readonly firstExecutionRunId?: string | undefined;
}
/** A cancel request. */
export interface WorkflowCancelInput {
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
  /** First run of the workflow. */
  readonly firstExecutionRunId?: string | undefined;
}
/** A description. */
export interface WorkflowDescribeInput {
  /** The workflow. */
  readonly workflowExecution: WorkflowExecution;
}

/** Code around the operations of a client. */
export interface WorkflowClientInterceptor {
  /** A start; answers the run. Deprecated: `startWithDetails`. */
  start?: (input: WorkflowStartInput, next: (input: WorkflowStartInput) => Promise<string>) => Promise<string>;
  /** A start. */
  startWithDetails?: (
    input: WorkflowStartInput,
    next: (input: WorkflowStartInput) => Promise<WorkflowStartOutput>,
  ) => Promise<WorkflowStartOutput>;
  /** An update, up to the stage that its caller waits for. */
  startUpdate?: (
    input: WorkflowStartUpdateInput,
    next: (input: WorkflowStartUpdateInput) => Promise<WorkflowStartUpdateOutput>,
  ) => Promise<WorkflowStartUpdateOutput>;
  /** A start with an update. */
  startUpdateWithStart?: (
    input: WorkflowStartUpdateWithStartInput,
    next: (input: WorkflowStartUpdateWithStartInput) => Promise<WorkflowStartUpdateWithStartOutput>,
  ) => Promise<WorkflowStartUpdateWithStartOutput>;
  /** A signal. */
  signal?: (input: WorkflowSignalInput, next: (input: WorkflowSignalInput) => Promise<void>) => Promise<void>;
  /** A signal with start; answers the run. */
  signalWithStart?: (
    input: WorkflowSignalWithStartInput,
    next: (input: WorkflowSignalWithStartInput) => Promise<string>,
  ) => Promise<string>;
  /** A query. */
  query?: (input: WorkflowQueryInput, next: (input: WorkflowQueryInput) => Promise<unknown>) => Promise<unknown>;
  /** A termination. */
  terminate?: (
    input: WorkflowTerminateInput,
    next: (input: WorkflowTerminateInput) => Promise<PlainMessage>,
  ) => Promise<PlainMessage>;
  /** A cancel request. */
  cancel?: (input: WorkflowCancelInput, next: (input: WorkflowCancelInput) => Promise<PlainMessage>) => Promise<PlainMessage>;
  /** A description. */
  describe?: (
    input: WorkflowDescribeInput,
    next: (input: WorkflowDescribeInput) => Promise<PlainMessage>,
  ) => Promise<PlainMessage>;
}

/** The older name of {@link WorkflowClientInterceptor}. */
export type WorkflowClientCallsInterceptor = WorkflowClientInterceptor;
/** What a factory of interceptors is given. */
export interface WorkflowClientCallsInterceptorFactoryInput {
  /** The workflow. */
  workflowId: string;
  /** Its run. */
  runId?: string | undefined;
}
/** Makes the interceptor of a workflow's operations. */
export interface WorkflowClientCallsInterceptorFactory {
  (input: WorkflowClientCallsInterceptorFactoryInput): WorkflowClientCallsInterceptor;
}
/** The older form of a client's interceptors. */
export interface WorkflowClientInterceptors {
  /** Made for each workflow. */
  calls?: WorkflowClientCallsInterceptorFactory[];
}

/** The making of a schedule. */
export interface CreateScheduleInput {
  /** Go to every workflow that it starts. */
  readonly headers: Headers;
  /** The schedule. */
  readonly options: CompiledScheduleOptions;
}
/** What it answers. */
export type CreateScheduleOutput = {
  /** Changes with the schedule. */
  readonly conflictToken: Uint8Array;
};
/** Code around the operations of a client of schedules. */
export interface ScheduleClientInterceptor {
  /** The making of a schedule. */
  create?: (
    input: CreateScheduleInput,
    next: (input: CreateScheduleInput) => Promise<CreateScheduleOutput>,
  ) => Promise<CreateScheduleOutput>;
}

/** Interceptors of a client. */
export interface ClientInterceptors {
  /** Of workflows. */
  workflow?: WorkflowClientInterceptors | WorkflowClientInterceptor[];
  /** Of schedules. */
  schedule?: ScheduleClientInterceptor[];
  /** Of standalone operations of Nexus, which are refused. */
  nexus?: unknown[];
  /** Of standalone activities, which are refused. */
  activity?: unknown[];
}

const WORKFLOW_METHODS: OptionNames<WorkflowClientInterceptor> = {
  ...{ start: 1, startWithDetails: 1, startUpdate: 1, startUpdateWithStart: 1, signal: 1, signalWithStart: 1, query: 1 },
  ...{ terminate: 1, cancel: 1, describe: 1 },
};
const SCHEDULE_METHODS: OptionNames<ScheduleClientInterceptor> = { create: 1 };

/** Throws a TypeError for an interceptor of workflows with a misspelled method, which would never be called. Returns them. */
export function checkWorkflowInterceptors(interceptors: WorkflowClientInterceptor[]): WorkflowClientInterceptor[] {
  for (const each of interceptors) rejectMisspelledMethods("a workflow interceptor of the client", each, WORKFLOW_METHODS);
  return interceptors;
}

/** The same for interceptors of schedules. */
export function checkScheduleInterceptors(interceptors: readonly ScheduleClientInterceptor[]): void {
  for (const each of interceptors) rejectMisspelledMethods("a schedule interceptor of the client", each, SCHEDULE_METHODS);
}

/** An interceptor that has the older `start` alone, with the newer one. */
export function withStartDetails(interceptor: WorkflowClientInterceptor): WorkflowClientInterceptor {
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

/** An operation through the interceptors. */
export function through<M extends keyof WorkflowClientInterceptor>(
  interceptors: readonly WorkflowClientInterceptor[],
  method: M,
  last: Next<WorkflowClientInterceptor, M>,
): Next<WorkflowClientInterceptor, M> {
  return composeInterceptors([...interceptors], method, last);
}
