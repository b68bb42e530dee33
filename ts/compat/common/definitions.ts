// Types for programs of `@temporalio/*`: workflows, messages, handles; and functions that name a
// workflow.
import type { HandlerUnfinishedPolicy } from "./options.ts";
import type { RetryPolicy } from "./options.ts";
import type { WorkflowIdReusePolicy } from "./options.ts";
import type { WorkflowIdConflictPolicy } from "./policies.ts";
import type { Priority } from "./priority.ts";
import type {
  SearchAttributePair,
  SearchAttributes,
  TypedSearchAttributes,
} from "./search_attributes.ts";
import type { Duration } from "./time.ts";
import {
  type ActivityFunction,
  isWorkflowFunctionWithStaticOptions,
  type PayloadTypeInfo,
  type SignalTypeInfo,
} from "./type_info.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Return type of a workflow. */
export type WorkflowReturnType = Promise<Any>;
/** A workflow. */
export type Workflow = (...args: Any[]) => WorkflowReturnType;
/** Result type of a workflow. */
export type WorkflowResultType<W extends Workflow> = ReturnType<W> extends Promise<infer R> ? R
  : never;
/** A handler of an update. */
export type WorkflowUpdateType = (...args: Any[]) => Promise<Any> | Any;
/** A validator of an update. */
export type WorkflowUpdateValidatorType = (...args: Any[]) => void;
/** An update handler with options. */
export type WorkflowUpdateAnnotatedType = {
  handler: WorkflowUpdateType;
  unfinishedPolicy: HandlerUnfinishedPolicy;
  validator?: WorkflowUpdateValidatorType;
  description?: string;
  typeInfo?: PayloadTypeInfo;
};
/** A handler of a signal. */
export type WorkflowSignalType = (...args: Any[]) => Promise<void> | void;
/** A signal handler with options. */
export type WorkflowSignalAnnotatedType = {
  handler: WorkflowSignalType;
  unfinishedPolicy: HandlerUnfinishedPolicy;
  description?: string;
  typeInfo?: SignalTypeInfo;
};
/** A handler of a query. */
export type WorkflowQueryType = (...args: Any[]) => Any;
/** A query handler with options. */
export type WorkflowQueryAnnotatedType = {
  handler: WorkflowQueryType;
  description?: string;
  typeInfo?: PayloadTypeInfo;
};

declare const argsBrand: unique symbol;
declare const retBrand: unique symbol;

/** Options of `defineUpdate`. */
export interface UpdateDefinitionOptions {
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}
/** Options of `defineSignal`. */
export interface SignalDefinitionOptions {
  /** Type hints of arguments. */
  typeInfo?: SignalTypeInfo;
}
/** Options of `defineQuery`. */
export interface QueryDefinitionOptions {
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** Result of `defineUpdate`. */
export interface UpdateDefinition<Ret, Args extends Any[] = [], Name extends string = string> {
  /** Discriminator. */
  type: "update";
  name: Name;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
  /** Exists only in the type. */
  [argsBrand]?: Args;
  /** Exists only in the type. */
  [retBrand]?: Ret;
}

/** Result of `defineSignal`. */
export interface SignalDefinition<Args extends Any[] = [], Name extends string = string> {
  /** Discriminator. */
  type: "signal";
  name: Name;
  /** Type hints of arguments. */
  typeInfo?: SignalTypeInfo;
  /** Exists only in the type. */
  [argsBrand]?: Args;
}

/** Result of `defineQuery`. */
export interface QueryDefinition<Ret, Args extends Any[] = [], Name extends string = string> {
  /** Discriminator. */
  type: "query";
  name: Name;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
  /** Exists only in the type. */
  [argsBrand]?: Args;
  /** Exists only in the type. */
  [retBrand]?: Ret;
}

/** Activities by name. */
export type UntypedActivities = Record<string, ActivityFunction>;
/** Alias of {@link UntypedActivities}. */
export type ActivityInterface = UntypedActivities;

/** A history with its workflow id. */
export interface HistoryAndWorkflowId {
  workflowId: string;
  history: Any;
}

/** Options of `handle.signalWithOptions`. */
export interface WorkflowSignalOptions<Args extends Any[] = []> {
  /** Arguments of the signal. */
  args?: Args;
  /** Type hints of arguments. */
  typeInfo?: SignalTypeInfo;
}

/** Options of `handle.queryWithOptions`. */
export interface WorkflowQueryOptions<Args extends Any[] = []> {
  /** Arguments of the query. */
  args?: Args;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** Common part of handles of clients and child workflows. */
export interface BaseWorkflowHandle<T extends Workflow> {
  /** Returns the workflow's result. */
  result(): Promise<WorkflowResultType<T>>;
  /** Sends a signal. */
  signal<Args extends Any[] = [], Name extends string = string>(
    def: SignalDefinition<Args, Name> | string,
    ...args: Args
  ): Promise<void>;
  /** Sends a signal with options. */
  signalWithOptions<Args extends Any[] = []>(
    signalName: string,
    options: WorkflowSignalOptions<Args>,
  ): Promise<void>;
  readonly workflowId: string;
}

/** Options of starts by clients, schedules and parents. */
export interface BaseWorkflowOptions {
  /** Whether the id of a closed workflow can be reused. */
  workflowIdReusePolicy?: WorkflowIdReusePolicy;
  /** What a start does if a workflow with the id is running. */
  workflowIdConflictPolicy?: WorkflowIdConflictPolicy;
  retry?: RetryPolicy;
  cronSchedule?: string;
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes?: SearchAttributes;
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Further lines for user interfaces. */
  staticDetails?: string;
  /** One line for user interfaces. */
  staticSummary?: string;
  /** Priority of its tasks. */
  priority?: Priority;
}

/** Options of a start with the workflow's arguments. */
export type WithWorkflowArgs<W extends Workflow, T> =
  & T
  & (Parameters<W> extends [Any, ...Any[]] ? { args: Parameters<W> | Readonly<Parameters<W>> }
    : { args?: Parameters<W> | Readonly<Parameters<W>> });

/** Timeouts of a workflow. */
export interface WorkflowDurationOptions {
  /** Limit of one run. */
  workflowRunTimeout?: Duration;
  /** Limit of all runs. */
  workflowExecutionTimeout?: Duration;
  /** Limit of one workflow task. */
  workflowTaskTimeout?: Duration;
}

/** Options of starts. */
export type CommonWorkflowOptions = BaseWorkflowOptions & WorkflowDurationOptions;

/** Type and type hints of a workflow. */
export interface WorkflowTypeOptions {
  type: string;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo | undefined;
}

/** Returns name and type hints of a workflow given by name or function. */
export function extractWorkflowTypeAndConfig<T extends Workflow>(
  workflowTypeOrFunc: string | T,
  callSiteTypeInfo?: PayloadTypeInfo,
): WorkflowTypeOptions {
  if (typeof workflowTypeOrFunc === "string") {
    return { type: workflowTypeOrFunc, typeInfo: callSiteTypeInfo };
  }
  if (typeof workflowTypeOrFunc !== "function") {
    throw new TypeError(
      `Invalid workflow type: expected either a string or a function, got '${typeof workflowTypeOrFunc}'`,
    );
  }
  if (!workflowTypeOrFunc.name) {
    throw new TypeError("Invalid workflow type: the workflow function is anonymous");
  }
  if (callSiteTypeInfo !== undefined) {
    throw new TypeError(
      "Workflow type information cannot be supplied at the call site when using a workflow function. " +
        "Use defineWorkflowOptions(..., { staticOptions: { typeInfo } }) on the workflow function instead, " +
        "or pass the workflow type as a string.",
    );
  }
  const options: unknown = workflowTypeOrFunc;
  const typeInfo = isWorkflowFunctionWithStaticOptions(options)
    ? options.staticOptions.typeInfo
    : undefined;
  return { type: workflowTypeOrFunc.name, typeInfo };
}

/** Returns the name of a workflow given by name or function. */
export function extractWorkflowType<T extends Workflow>(workflowTypeOrFunc: string | T): string {
  return extractWorkflowTypeAndConfig(workflowTypeOrFunc).type;
}
