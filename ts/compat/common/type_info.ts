// What a program says about the types of values beside the values (experimental in the official SDK): hints for converters, and functions
// between a value and the form in which it travels.
import type { VersioningBehavior } from "./policies.ts";

declare const valueType: unique symbol;

/** Tells a payload converter which converter a value is for. */
export interface ConverterHint<T = unknown> {
  /** Its name. */
  converter: string;
  /** Type alone: the value's. */
  [valueType]?: T;
}

/** Functions between a value and the form in which it travels. */
export interface TransferTypeConverter<T, D = unknown> {
  /** The value of what has travelled. */
  fromTransferType(value: D): T;
  /** What travels for a value. */
  toTransferType(value: T): D;
}

/** What a program says about the type of one value. */
export interface TypeInfo<T = unknown, D = T> {
  /** Turns the value into what is given to the payload converter, and back. */
  transferTypeConverter?: TransferTypeConverter<T, D>;
  /** Given to the payload converter. */
  payloadConverterHint?: ConverterHint<D>;
}

/** Types of the arguments and of the result of something that is called. */
export interface PayloadTypeInfo {
  /** Of its arguments. */
  // deno-lint-ignore no-explicit-any
  inputTypes?: readonly TypeInfo<any, any>[];
  /** Of its result. */
  // deno-lint-ignore no-explicit-any
  outputType?: TypeInfo<any, any>;
}

/** Types of a signal's arguments. */
export type SignalTypeInfo = Pick<PayloadTypeInfo, "inputTypes">;

/** Whose payload is converted: a workflow's. */
export interface WorkflowSerializationContext {
  /** Says which it is. */
  type: "workflow";
  /** Namespace of the workflow. */
  namespace: string;
  /** Id of the workflow. */
  workflowId: string;
}

/** Whose payload is converted: an activity's. */
export interface ActivitySerializationContext {
  /** Says which it is. */
  type: "activity";
  /** Namespace of the activity. */
  namespace: string;
  /** Id of the activity. */
  activityId?: string;
  /** Id of the workflow that scheduled it. */
  workflowId?: string;
  /** Runs within a workflow task. */
  isLocal: boolean;
}

/** Whose payload is converted. */
export type SerializationContext = WorkflowSerializationContext | ActivitySerializationContext;

// deno-lint-ignore no-explicit-any
type AnyArgs = any[];

/** Options of an activity's definition. */
export interface ActivityDefinitionOptions {
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** What an activity is. */
// deno-lint-ignore no-explicit-any
export interface ActivityFunction<P extends AnyArgs = AnyArgs, R = any> {
  (...args: P): Promise<R>;
}

/** An activity that was defined with options. */
// deno-lint-ignore no-explicit-any
export interface ActivityFunctionWithOptions<Args extends AnyArgs = AnyArgs, R = any> extends ActivityFunction<Args, R> {
  /** Its options. */
  activityDefinitionOptions: ActivityDefinitionOptions;
}

/** Types of activities, by their names. */
export type ActivityTypeInfoMap<A> = Partial<
  Record<{ [K in keyof A & string]: A[K] extends ActivityFunction ? K : never }[keyof A & string], PayloadTypeInfo>
>;

/** Was the activity defined with options? */
export function isActivityFunctionWithOptions(value: unknown): value is ActivityFunctionWithOptions {
  return typeof value === "function" && "activityDefinitionOptions" in value;
}

/** The types of an activity's values, where its definition has them. */
export const typesOfActivity = (activity: unknown): PayloadTypeInfo | undefined =>
  isActivityFunctionWithOptions(activity) ? activity.activityDefinitionOptions?.typeInfo : undefined;

/** Options of a workflow's definition that may be asked for in each run. */
export interface WorkflowDefinitionOptions {
  /** What versions of a worker may take its runs on. */
  versioningBehavior?: VersioningBehavior;
  /** Errors that fail the workflow, and not its task. */
  // deno-lint-ignore no-explicit-any
  failureExceptionTypes?: Array<new (...args: any[]) => Error>;
}
/** Options of a definition, or a function that makes them. */
export type WorkflowDefinitionOptionsOrGetter = WorkflowDefinitionOptions | (() => WorkflowDefinitionOptions);
/** Options of a definition that are needed before its arguments are read. */
export interface WorkflowStaticOptions {
  /** Types of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}
/** What `defineWorkflowOptions` takes. */
export interface WorkflowDefinitionConfig {
  /** Asked for in each run. */
  workflowDefinitionOptions?: WorkflowDefinitionOptionsOrGetter;
  /** Needed before the arguments are read. */
  staticOptions?: WorkflowStaticOptions;
}
/** A workflow that was defined with options. */
export interface WorkflowFunctionWithOptions<Args extends AnyArgs, R> {
  (...args: Args): Promise<R>;
  /** Its options. */
  workflowDefinitionOptions: WorkflowDefinitionOptionsOrGetter;
}
/** A workflow that was defined with static options. */
export interface WorkflowFunctionWithStaticOptions<Args extends AnyArgs, R> {
  (...args: Args): Promise<R>;
  /** Its options. */
  staticOptions: WorkflowStaticOptions;
}

/** Was the workflow defined with options? */
// deno-lint-ignore no-explicit-any
export function isWorkflowFunctionWithOptions(value: unknown): value is WorkflowFunctionWithOptions<any[], any> {
  return typeof value === "function" && "workflowDefinitionOptions" in value;
}

/** Was the workflow defined with static options? */
// deno-lint-ignore no-explicit-any
export function isWorkflowFunctionWithStaticOptions(value: unknown): value is WorkflowFunctionWithStaticOptions<any[], any> {
  return typeof value === "function" && "staticOptions" in value;
}
