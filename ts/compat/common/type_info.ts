// Type hints of a program for values (experimental in the official SDK): hints for converters, and
// conversions between a value and its transferred form.
import type { VersioningBehavior } from "./policies.ts";

declare const valueType: unique symbol;

/** Selects the converter of a value. */
export interface ConverterHint<T = unknown> {
  converter: string;
  /** Exists only in the type. */
  [valueType]?: T;
}

/** Converts between a value and its transferred form. */
export interface TransferTypeConverter<T, D = unknown> {
  /** Returns the value of a transferred form. */
  fromTransferType(value: D): T;
  /** Returns the transferred form of a value. */
  toTransferType(value: T): D;
}

/** Type hint of one value. */
export interface TypeInfo<T = unknown, D = T> {
  /** Converts the value for the payload converter and back. */
  transferTypeConverter?: TransferTypeConverter<T, D>;
  payloadConverterHint?: ConverterHint<D>;
}

/** Type hints of arguments and result. */
export interface PayloadTypeInfo {
  /** Hints of the arguments. */
  // deno-lint-ignore no-explicit-any
  inputTypes?: readonly TypeInfo<any, any>[];
  /** Hint of the result. */
  // deno-lint-ignore no-explicit-any
  outputType?: TypeInfo<any, any>;
}

/** Type hints of a signal's arguments. */
export type SignalTypeInfo = Pick<PayloadTypeInfo, "inputTypes">;

/** Context of a workflow's payload. */
export interface WorkflowSerializationContext {
  /** Discriminator. */
  type: "workflow";
  namespace: string;
  workflowId: string;
}

/** Context of an activity's payload. */
export interface ActivitySerializationContext {
  /** Discriminator. */
  type: "activity";
  namespace: string;
  activityId?: string;
  /** Id of the scheduling workflow. */
  workflowId?: string;
  /** True if it runs within a workflow task. */
  isLocal: boolean;
}

/** Owner of a payload. */
export type SerializationContext = WorkflowSerializationContext | ActivitySerializationContext;

// deno-lint-ignore no-explicit-any
type AnyArgs = any[];

/** Options of an activity's definition. */
export interface ActivityDefinitionOptions {
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

/** An activity function. */
// deno-lint-ignore no-explicit-any
export interface ActivityFunction<P extends AnyArgs = AnyArgs, R = any> {
  (...args: P): Promise<R>;
}

/** An activity defined with options. */
// deno-lint-ignore no-explicit-any
export interface ActivityFunctionWithOptions<Args extends AnyArgs = AnyArgs, R = any>
  extends ActivityFunction<Args, R> {
  activityDefinitionOptions: ActivityDefinitionOptions;
}

/** Type hints of activities by name. */
export type ActivityTypeInfoMap<A> = Partial<
  Record<
    { [K in keyof A & string]: A[K] extends ActivityFunction ? K : never }[keyof A & string],
    PayloadTypeInfo
  >
>;

/** Returns whether the activity was defined with options. */
export function isActivityFunctionWithOptions(
  value: unknown,
): value is ActivityFunctionWithOptions {
  return typeof value === "function" && "activityDefinitionOptions" in value;
}

/** Returns the type hints of an activity's definition, if any. */
export const typesOfActivity = (activity: unknown): PayloadTypeInfo | undefined =>
  isActivityFunctionWithOptions(activity)
    ? activity.activityDefinitionOptions?.typeInfo
    : undefined;

/** Options of a workflow's definition that are read in each run. */
export interface WorkflowDefinitionOptions {
  /** Worker versions that may continue its runs. */
  versioningBehavior?: VersioningBehavior;
  /** Errors that fail the workflow instead of its task. */
  // deno-lint-ignore no-explicit-any
  failureExceptionTypes?: Array<new (...args: any[]) => Error>;
}
/** Options of a definition, or a function that returns them. */
export type WorkflowDefinitionOptionsOrGetter =
  | WorkflowDefinitionOptions
  | (() => WorkflowDefinitionOptions);
/** Options that are needed before the arguments are decoded. */
export interface WorkflowStaticOptions {
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}
/** Argument of `defineWorkflowOptions`. */
export interface WorkflowDefinitionConfig {
  /** Read in each run. */
  workflowDefinitionOptions?: WorkflowDefinitionOptionsOrGetter;
  /** Needed before the arguments are decoded. */
  staticOptions?: WorkflowStaticOptions;
}
/** A workflow defined with options. */
export interface WorkflowFunctionWithOptions<Args extends AnyArgs, R> {
  (...args: Args): Promise<R>;
  workflowDefinitionOptions: WorkflowDefinitionOptionsOrGetter;
}
/** A workflow defined with static options. */
export interface WorkflowFunctionWithStaticOptions<Args extends AnyArgs, R> {
  (...args: Args): Promise<R>;
  /** Static options of the definition. */
  staticOptions: WorkflowStaticOptions;
}

/** Returns whether the workflow was defined with options. */
export function isWorkflowFunctionWithOptions(
  value: unknown,
  // deno-lint-ignore no-explicit-any
): value is WorkflowFunctionWithOptions<any[], any> {
  return typeof value === "function" && "workflowDefinitionOptions" in value;
}

/** Returns whether the workflow was defined with static options. */
export function isWorkflowFunctionWithStaticOptions(
  value: unknown,
  // deno-lint-ignore no-explicit-any
): value is WorkflowFunctionWithStaticOptions<any[], any> {
  return typeof value === "function" && "staticOptions" in value;
}
