// Options of starts: given by programs, compiled for interceptors, and for the native client.
import type { StartOptions as NativeStart } from "../../client/mod.ts";
import { VersioningOverrideSchema } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import type { SearchAttributes as ProductSearchAttributes } from "../../converter/search_attributes.ts";
import { decodeWorkflowIdConflictPolicy, decodeWorkflowIdReusePolicy } from "../common/policies.ts";
import { encodeWorkflowIdConflictPolicy, encodeWorkflowIdReusePolicy } from "../common/policies.ts";
import type {
  CommonWorkflowOptions,
  SignalDefinition,
  WithWorkflowArgs,
  Workflow,
} from "../common/definitions.ts";
import { toCanonicalString, type VersioningOverride } from "../common/deployments.ts";
import type { RetryPolicy } from "../common/options.ts";
import { fromPlain, type PlainMessage } from "../common/plain_proto.ts";
import { clientPriority } from "../common/priority.ts";
import { msOptionalToTs, optionalTsToMs, type Timestamp } from "../common/proto_time.ts";
import { compileRetryPolicy } from "../common/retry_policy.ts";
import {
  type SearchAttributePair,
  searchAttributePayloads,
  type SearchAttributes,
  type TypedSearchAttributes,
} from "../common/search_attributes.ts";
import { type Duration, msOptionalToNumber } from "../common/time.ts";
import type { PayloadTypeInfo, SignalTypeInfo } from "../common/type_info.ts";
import { toPayloadWithTypeInfo } from "../common/payloads.ts";
import { type PayloadConverter, RawValue } from "../common/payload_converters.ts";

/** Options of starts by a client. */
export interface WorkflowOptions extends CommonWorkflowOptions {
  workflowId: string;
  taskQueue: string;
  /** Follow continue-as-new, retries and cron to the last run. Default: true. */
  followRuns?: boolean;
  /** Delay of the first workflow task. */
  startDelay?: Duration;
  /** Overrides the versioning behavior of the workflow. */
  versioningOverride?: VersioningOverride;
  /**
   * Requests the first task for a worker of this process with the start, without a poll. Needs a
   * NativeConnection that the worker shares, and a Temporal server. Default: false.
   */
  requestEagerStart?: boolean;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

type Replace<Base, New> = Omit<Base, keyof New> & New;

/** Options with converted durations and versions. */
export type WithCompiledWorkflowOptions<T extends WorkflowOptions> = Replace<T, {
  workflowExecutionTimeout?: Timestamp;
  workflowRunTimeout?: Timestamp;
  workflowTaskTimeout?: Timestamp;
  startDelay?: Timestamp;
  versioningOverride?: PlainMessage;
}>;
/** Options of a start, for interceptors. */
export interface CompiledWorkflowOptions extends WithCompiledWorkflowOptions<WorkflowOptions> {
  /** Arguments of the workflow. */
  args: unknown[];
}

/** Options of a start of a workflow, with its arguments. */
export type WorkflowStartOptions<T extends Workflow = Workflow> = WithWorkflowArgs<
  T,
  WorkflowOptions
>;

/** Options of an update. */
export interface WorkflowUpdateOptions {
  /** Deduplicates updates of one workflow. Default: a new id for each call. */
  readonly updateId?: string;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}

// deno-lint-ignore no-explicit-any
type AnyArgs = any[];
/** Options of a signal with start, for a signal without arguments. */
export interface WorkflowSignalWithStartOptionsWithoutArgs<SignalArgs extends AnyArgs>
  extends Omit<WorkflowOptions, "requestEagerStart"> {
  signal: SignalDefinition<SignalArgs> | string;
  /** Arguments of the signal. */
  signalArgs?: SignalArgs;
  /** Type hints of the arguments. */
  signalTypeInfo?: SignalTypeInfo;
}
/** Options of a signal with start, for a signal with arguments. */
export interface WorkflowSignalWithStartOptionsWithArgs<SignalArgs extends AnyArgs>
  extends Omit<WorkflowOptions, "requestEagerStart"> {
  signal: SignalDefinition<SignalArgs> | string;
  /** Arguments of the signal. */
  signalArgs: SignalArgs;
  /** Type hints of the arguments. */
  signalTypeInfo?: SignalTypeInfo;
}
/** Options of a signal with start. */
export type WorkflowSignalWithStartOptions<SignalArgs extends AnyArgs = []> = SignalArgs extends // deno-lint-ignore no-explicit-any
[any, ...any[]] ? WorkflowSignalWithStartOptionsWithArgs<SignalArgs>
  : WorkflowSignalWithStartOptionsWithoutArgs<SignalArgs>;

function encodeOverride(override: VersioningOverride | undefined): PlainMessage | undefined {
  if (!override) return undefined;
  if (override === "AUTO_UPGRADE") return { autoUpgrade: true, behavior: 2 };
  return {
    pinned: { version: override.pinnedTo, behavior: 1 },
    behavior: 1,
    pinnedVersion: toCanonicalString(override.pinnedTo),
  };
}

/** Converts durations and versions of options. */
export function compileWorkflowOptions<T extends WorkflowOptions>(
  options: T,
): WithCompiledWorkflowOptions<T> {
  const {
    workflowExecutionTimeout,
    workflowRunTimeout,
    workflowTaskTimeout,
    startDelay,
    versioningOverride,
    ...rest
  } = options;
  return {
    ...rest,
    workflowExecutionTimeout: msOptionalToTs(workflowExecutionTimeout),
    workflowRunTimeout: msOptionalToTs(workflowRunTimeout),
    workflowTaskTimeout: msOptionalToTs(workflowTaskTimeout),
    startDelay: msOptionalToTs(startDelay),
    versioningOverride: encodeOverride(versioningOverride),
  } as unknown as WithCompiledWorkflowOptions<T>;
}

/** Converts a policy, with durations in milliseconds. Throws a ValueError for invalid values. */
export function nativeRetry(policy: RetryPolicy) {
  compileRetryPolicy(policy);
  const { maximumAttempts, backoffCoefficient, nonRetryableErrorTypes } = policy;
  const maximumInterval = msOptionalToNumber(policy.maximumInterval);
  return {
    initialInterval: msOptionalToNumber(policy.initialInterval) ?? 1000,
    ...(maximumInterval !== undefined && { maximumInterval }),
    ...(backoffCoefficient !== undefined && { backoffCoefficient }),
    ...(maximumAttempts !== undefined && maximumAttempts !== Infinity && { maximumAttempts }),
    ...(nonRetryableErrorTypes !== undefined && { nonRetryableErrorTypes }),
  };
}

/** Returns search attributes of both forms for the native client, which reads their payloads. */
export function nativeSearchAttributes(
  untyped: SearchAttributes | undefined,
  typed: readonly SearchAttributePair[] | TypedSearchAttributes | undefined,
): { searchAttributes?: ProductSearchAttributes } {
  if (!untyped && !typed) return {};
  const payloads = searchAttributePayloads(untyped, typed as TypedSearchAttributes);
  return { searchAttributes: { toPayloads: () => payloads } as unknown as ProductSearchAttributes };
}

/** Converts compiled options for the native client. */
export function nativeStart(
  options: CompiledWorkflowOptions,
  converter: PayloadConverter,
): NativeStart<string> {
  const ms = (name: string, ts: Timestamp | undefined) => {
    const value = optionalTsToMs(ts);
    return value === undefined ? {} : { [name]: value };
  };
  const reuse = decodeWorkflowIdReusePolicy(
    encodeWorkflowIdReusePolicy(options.workflowIdReusePolicy),
  );
  const conflict = decodeWorkflowIdConflictPolicy(
    encodeWorkflowIdConflictPolicy(options.workflowIdConflictPolicy),
  );
  return {
    id: options.workflowId,
    taskQueue: options.taskQueue,
    args: typedArgs(options.args, options.typeInfo?.inputTypes, converter),
    ...(reuse !== undefined && { idReusePolicy: reuse }),
    ...(conflict !== undefined && { idConflictPolicy: conflict }),
    ...ms("executionTimeout", options.workflowExecutionTimeout),
    ...ms("runTimeout", options.workflowRunTimeout),
    ...ms("taskTimeout", options.workflowTaskTimeout),
    ...ms("startDelay", options.startDelay),
    ...(options.retry && { retry: nativeRetry(options.retry) }),
    ...(options.cronSchedule !== undefined && { cronSchedule: options.cronSchedule }),
    ...(options.memo && { memo: options.memo }),
    ...nativeSearchAttributes(options.searchAttributes, options.typedSearchAttributes),
    ...(options.staticSummary !== undefined && { summary: options.staticSummary }),
    ...(options.staticDetails !== undefined && { details: options.staticDetails }),
    ...(options.priority && { priority: clientPriority(options.priority) }),
    ...(options.versioningOverride && {
      versioningOverride: fromPlain(VersioningOverrideSchema, options.versioningOverride),
    }),
  } as NativeStart<string>;
}

/** Wraps arguments with type hints, so that the converter leaves them unchanged. */
export function typedArgs(
  args: readonly unknown[],
  types: PayloadTypeInfo["inputTypes"],
  converter: PayloadConverter,
): unknown[] {
  if (types === undefined) return [...args];
  return args.map((arg, i) => {
    const type = types[i];
    return type === undefined
      ? arg
      : RawValue.fromPayload(toPayloadWithTypeInfo(converter, arg, undefined, type));
  });
}
