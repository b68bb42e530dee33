// Types that programs of `@temporalio/*` are written in: workflows, messages, handles. Types alone, but for what names a workflow.
import type { HandlerUnfinishedPolicy } from "./options.ts";
import type { RetryPolicy } from "./options.ts";
import type { WorkflowIdReusePolicy } from "./options.ts";
import type { WorkflowIdConflictPolicy } from "./policies.ts";
import type { Priority } from "./priority.ts";
import type { SearchAttributePair, SearchAttributes, TypedSearchAttributes } from "./search_attributes.ts";
import type { Duration } from "./time.ts";
import {
  type ActivityFunction,
  isWorkflowFunctionWithStaticOptions,
  type PayloadTypeInfo,
  type SignalTypeInfo,
} from "./type_info.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What a workflow returns. */
export type WorkflowReturnType = Promise<Any>;
/** A workflow. */
export type Workflow = (...args: Any[]) => WorkflowReturnType;
/** What a workflow's promise resolves to. */
export type WorkflowResultType<W extends Workflow> = ReturnType<W> extends Promise<infer R> ? R : never;
/** A handler of an update. */
export type WorkflowUpdateType = (...args: Any[]) => Promise<Any> | Any;
/** A validator of an update. */
export type WorkflowUpdateValidatorType = (...args: Any[]) => void;
/** A handler of an update with what was said beside it. */
export type WorkflowUpdateAnnotatedType = {
  handler: WorkflowUpdateType;
  unfinishedPolicy: HandlerUnfinishedPolicy;
  validator?: WorkflowUpdateValidatorType;
  description?: string;
  typeInfo?: PayloadTypeInfo;
};
/** A handler of a signal. */
export type WorkflowSignalType = (...args: Any[]) => Promise<void> | void;
/** A handler of a signal with what was said beside it. */
export type WorkflowSignalAnnotatedType = {
  handler: WorkflowSignalType;
  unfinishedPolicy: HandlerUnfinishedPolicy;
  description?: string;
  typeInfo?: SignalTypeInfo;
};
/** A handler of a query. */
export type WorkflowQueryType = (...args: Any[]) => Any;
/** A handler of a query with what was said beside it. */
export type WorkflowQueryAnnotatedType = { handler: WorkflowQueryType; description?: string; typeInfo?: PayloadTypeInfo };

declare const argsBrand: unique symbol;
declare const retBrand: unique symbol;

/** Options of `defineUpdate`. */
export interface UpdateDefinitionOptions {
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}
/** Options of `defineSignal`. */
export interface SignalDefinitionOptions {
  /** Types of arguments. */
  typeInfo?: SignalTypeInfo;
}
/** Options of `defineQuery`. */
export interface QueryDefinitionOptions {
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** What `defineUpdate` gives. */
export interface UpdateDefinition<Ret, Args extends Any[] = [], Name extends string = string> {
  /** Says which it is. */
  type: "update";
  /** Name of the update. */
  name: Name;
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
  /** Type alone. */
  [argsBrand]?: Args;
  /** Type alone. */
  [retBrand]?: Ret;
}

/** What `defineSignal` gives. */
export interface SignalDefinition<Args extends Any[] = [], Name extends string = string> {
  /** Says which it is. */
  type: "signal";
  /** Name of the signal. */
  name: Name;
  /** Types of arguments. */
  typeInfo?: SignalTypeInfo;
  /** Type alone. */
  [argsBrand]?: Args;
}

/** What `defineQuery` gives. */
export interface QueryDefinition<Ret, Args extends Any[] = [], Name extends string = string> {
  /** Says which it is. */
  type: "query";
  /** Name of the query. */
  name: Name;
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
  /** Type alone. */
  [argsBrand]?: Args;
  /** Type alone. */
  [retBrand]?: Ret;
}

/** Activities by name. */
export type UntypedActivities = Record<string, ActivityFunction>;
/** The older name of {@link UntypedActivities}. */
export type ActivityInterface = UntypedActivities;

/** A history and whose it is. */
export interface HistoryAndWorkflowId {
  /** Id of the workflow. */
  workflowId: string;
  /** Its history. */
  history: Any;
}

/** Options of `handle.signalWithOptions`. */
export interface WorkflowSignalOptions<Args extends Any[] = []> {
  /** Arguments of the signal. */
  args?: Args;
  /** Types of arguments. */
  typeInfo?: SignalTypeInfo;
}

/** Options of `handle.queryWithOptions`. */
export interface WorkflowQueryOptions<Args extends Any[] = []> {
  /** Arguments of the query. */
  args?: Args;
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** What handles of clients and of child workflows share. */
export interface BaseWorkflowHandle<T extends Workflow> {
  /** What the workflow returns. */
  result(): Promise<WorkflowResultType<T>>;
  /** Sends a signal. */
  signal<Args extends Any[] = [], Name extends string = string>(
    def: SignalDefinition<Args, Name> | string,
    ...args: Args
  ): Promise<void>;
  /** Sends a signal with options. */
  signalWithOptions<Args extends Any[] = []>(signalName: string, options: WorkflowSignalOptions<Args>): Promise<void>;
  /** Id of the workflow. */
  readonly workflowId: string;
}

/** Options of starts, of clients, schedules and parents. */
export interface BaseWorkflowOptions {
  /** May a start take an id that was used before? */
  workflowIdReusePolicy?: WorkflowIdReusePolicy;
  /** What a start does where the id is in use. */
  workflowIdConflictPolicy?: WorkflowIdConflictPolicy;
  /** Starts it again where it fails. */
  retry?: RetryPolicy;
  /** Starts it again and again. */
  cronSchedule?: string;
  /** Kept with the workflow. */
  memo?: Record<string, unknown>;
  /** Older form of search attributes. */
  searchAttributes?: SearchAttributes;
  /** Search attributes. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Lines for people. */
  staticDetails?: string;
  /** A line for people. */
  staticSummary?: string;
  /** Order among tasks. */
  priority?: Priority;
}

/** Options of something that starts a workflow, with its arguments. */
export type WithWorkflowArgs<W extends Workflow, T> =
  & T
  & (Parameters<W> extends [Any, ...Any[]] ? { args: Parameters<W> | Readonly<Parameters<W>> }
    : { args?: Parameters<W> | Readonly<Parameters<W>> });

/** How long a workflow may take. */
export interface WorkflowDurationOptions {
  /** One run. */
  workflowRunTimeout?: Duration;
  /** All runs. */
  workflowExecutionTimeout?: Duration;
  /** One task. */
  workflowTaskTimeout?: Duration;
}

/** Options of starts. */
export type CommonWorkflowOptions = BaseWorkflowOptions & WorkflowDurationOptions;

/** The type of a workflow, and what is known of its values. */
export interface WorkflowTypeOptions {
  /** Name of the type. */
  type: string;
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo | undefined;
}

/** Name and types of a workflow that is given as its name or its function. */
export function extractWorkflowTypeAndConfig<T extends Workflow>(
  workflowTypeOrFunc: string | T,
  callSiteTypeInfo?: PayloadTypeInfo,
): WorkflowTypeOptions {
  if (typeof workflowTypeOrFunc === "string") return { type: workflowTypeOrFunc, typeInfo: callSiteTypeInfo };
  if (typeof workflowTypeOrFunc !== "function") {
    throw new TypeError(`Invalid workflow type: expected either a string or a function, got '${typeof workflowTypeOrFunc}'`);
  }
  if (!workflowTypeOrFunc.name) throw new TypeError("Invalid workflow type: the workflow function is anonymous");
  if (callSiteTypeInfo !== undefined) {
    throw new TypeError(
      "Workflow type information cannot be supplied at the call site when using a workflow function. " +
        "Use defineWorkflowOptions(..., { staticOptions: { typeInfo } }) on the workflow function instead, " +
        "or pass the workflow type as a string.",
    );
  }
  const options: unknown = workflowTypeOrFunc;
  const typeInfo = isWorkflowFunctionWithStaticOptions(options) ? options.staticOptions.typeInfo : undefined;
  return { type: workflowTypeOrFunc.name, typeInfo };
}

/** Name of a workflow that is given as its name or its function. */
export function extractWorkflowType<T extends Workflow>(workflowTypeOrFunc: string | T): string {
  return extractWorkflowTypeAndConfig(workflowTypeOrFunc).type;
}
