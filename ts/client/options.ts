// Options of a start, in the words of this package, and the request fields that they become.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, toMs } from "../converter/duration.ts";
import { CALL_SETTINGS } from "./calls.ts";
import { belongings } from "./belonging.ts";
import { namingWhat } from "../converter/lossy_value.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { type SearchAttributes, toSearchAttributePayloads } from "../converter/search_attributes.ts";
import type { RetryPolicySchema } from "../api/generated/temporal/api/common/v1/message_pb.ts";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { StartWorkflowExecutionRequestSchema } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { VersioningOverrideSchema } from "../api/generated/temporal/api/workflow/v1/message_pb.ts";
import { durationFromMs } from "../api/well_known.ts";

/** How a failed run or activity is tried again; unset fields take the service's defaults (1 s, factor 2, 100 x, no limit). */
export interface RetryPolicy {
  /** Delay before the second attempt. */
  initialInterval?: Duration;
  /** Factor from each delay to the next, at least 1. */
  backoffCoefficient?: number;
  /** The longest delay. */
  maximumInterval?: Duration;
  /** Attempts in all; 1 never retries, 0 or unset has no limit. */
  maximumAttempts?: number;
  /** Types of ApplicationFailure that end the retries at once. */
  nonRetryableErrorTypes?: string[];
}

/** Everything that describes a workflow to start, but its arguments. */
export interface WorkflowOptions {
  /** The workflow id: unique among open workflows of the namespace. A business key makes starts idempotent. */
  id: string;
  /** Queue whose workers run it. Default: the client's `taskQueue`. */
  taskQueue?: string;
  /** May a new run take an id whose last run is closed? Default ALLOW_DUPLICATE. */
  idReusePolicy?: "ALLOW_DUPLICATE" | "ALLOW_DUPLICATE_FAILED_ONLY" | "REJECT_DUPLICATE" | "TERMINATE_IF_RUNNING";
  /** What happens when a run with this id is open? Default FAIL. */
  idConflictPolicy?: "FAIL" | "USE_EXISTING" | "TERMINATE_EXISTING";
  /** Limit of the whole chain of runs, with retries and continue-as-new. */
  executionTimeout?: Duration;
  /** Limit of one run. */
  runTimeout?: Duration;
  /** Limit of one workflow task; the service's default is 10 s. */
  taskTimeout?: Duration;
  /** Start the workflow again when it fails. Default: never. */
  retry?: RetryPolicy;
  /** Time before the first workflow task. */
  startDelay?: Duration;
  /** A cron expression of the service. */
  cronSchedule?: string;
  /** Data shown by describe and list, not searchable. */
  memo?: { [key: string]: unknown };
  /** Data that `list(query)` can select by: `[{ key, value }]` with keys of `defineSearchAttributeKey`, or names with untyped values. */
  searchAttributes?: SearchAttributes;
  /**
   * What the workflow works for: a player, a building. Kept over continue-as-new; `client.workflows({ entityId })` finds all of it. A
   * Keyword named WorkflowEntityId, which a cluster must know (`temporal operator search-attribute create`).
   */
  entityId?: string;
  /** What groups workflows of several entities: a spell, a trade. As `entityId`; WorkflowCorrelationId. */
  correlationId?: string;
  /**
   * "manual": the timers of this workflow do not fire when they are due, but when `fireTimer` says so (of a test environment, an embedded
   * engine, `temporalex workflow fire-timer`). Kept over continue-as-new, retries and restarts; timeouts and retries are as ever, and so are
   * the timers of children. A Keyword named WorkflowTimers. The embedded engine alone has it: a cluster refuses the start.
   */
  timers?: "manual";
  /** One line for people, shown by user interfaces. */
  summary?: string;
  /** More lines for people. */
  details?: string;
  /** Two starts with one request id are one start. Default: made per call. */
  requestId?: string;
  /** Order of its tasks among those of its queue. The embedded engine keeps it and takes tasks in their order. */
  priority?: WorkflowPriority;
  /** Which versions of a deployment take the run, in place of what the workflow says. */
  versioningOverride?: MessageInitShape<typeof VersioningOverrideSchema>;
}

const WORKFLOW_OPTIONS: OptionNames<WorkflowOptions> = {
  ...{ id: 1, taskQueue: 1, idReusePolicy: 1, idConflictPolicy: 1, executionTimeout: 1, runTimeout: 1, taskTimeout: 1, retry: 1 },
  ...{ startDelay: 1, cronSchedule: 1, memo: 1, searchAttributes: 1, entityId: 1, correlationId: 1, timers: 1, summary: 1 },
  ...{ details: 1, requestId: 1, priority: 1, versioningOverride: 1 },
};
/** Options of a start: the caller's arguments and settings next to those of the workflow. */
export const START_OPTIONS = { args: 1, ...WORKFLOW_OPTIONS, ...CALL_SETTINGS };
const RETRY_POLICY: OptionNames<RetryPolicy> = {
  ...{ initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1, maximumAttempts: 1, nonRetryableErrorTypes: 1 },
};
const PRIORITY: OptionNames<WorkflowPriority> = { priorityKey: 1, fairnessKey: 1, fairnessWeight: 1 };
const VERSIONING_OVERRIDE: OptionNames<NonNullable<WorkflowOptions["versioningOverride"]>> = {
  ...{ override: 1, behavior: 1, deployment: 1, pinnedVersion: 1, $typeName: 1, $unknown: 1 },
};

/** Order among the tasks of a queue. */
export interface WorkflowPriority {
  /** A whole number from 1; smaller ones go first. Default: the middle of what the service has. */
  priorityKey?: number;
  /** Tasks of different keys share the queue, by their weights. */
  fairnessKey?: string;
  /** Share of the key. Default: 1. */
  fairnessWeight?: number;
}

/** The request's retry policy. */
export function toRetryPolicy(policy: RetryPolicy): MessageInitShape<typeof RetryPolicySchema> {
  rejectUnknownOptions("retry", policy, RETRY_POLICY);
  const { initialInterval, maximumInterval, backoffCoefficient = 0, maximumAttempts = 0, nonRetryableErrorTypes = [] } = policy;
  return {
    ...(initialInterval !== undefined && { initialInterval: durationFromMs(toMs(initialInterval)) }),
    ...(maximumInterval !== undefined && { maximumInterval: durationFromMs(toMs(maximumInterval)) }),
    backoffCoefficient,
    maximumAttempts,
    nonRetryableErrorTypes,
  };
}

export function mapValues<T, R>(object: { [key: string]: T }, convert: (value: T, key: string) => R): { [key: string]: R } {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, convert(value, key)]));
}

type StartFields = Omit<MessageInitShape<typeof StartWorkflowExecutionRequestSchema>, "$typeName" | "requestEagerExecution">;

/** A name that is none would be sent as if nothing had been said, and a second run begun where one was to be refused. */
function policyOf<Name extends string, Value>(policies: { readonly [name in Name]: Value }, option: string, name: Name): Value {
  if (typeof policies[name] === "number") return policies[name];
  const names = Object.keys(policies).filter((known) => /^[A-Z]/.test(known) && known !== "UNSPECIFIED");
  throw new TypeError(`invalid ${option} ${JSON.stringify(name)}; valid values: ${names.join(", ")}`);
}

/** The fields that StartWorkflowExecution and SignalWithStartWorkflowExecution share. */
export function toStartFields(options: WorkflowOptions & { taskQueue: string; requestId: string }, converter: PayloadConverter) {
  rejectUnknownOptions("priority", options.priority, PRIORITY);
  rejectUnknownOptions("versioningOverride", options.versioningOverride, VERSIONING_OVERRIDE);
  const duration = (value: Duration | undefined) => (value === undefined ? undefined : durationFromMs(toMs(value)));
  return {
    workflowId: options.id,
    taskQueue: { name: options.taskQueue },
    workflowExecutionTimeout: duration(options.executionTimeout),
    workflowRunTimeout: duration(options.runTimeout),
    workflowTaskTimeout: duration(options.taskTimeout),
    workflowStartDelay: duration(options.startDelay),
    workflowIdReusePolicy: policyOf(WorkflowIdReusePolicy, "idReusePolicy", options.idReusePolicy ?? "ALLOW_DUPLICATE"),
    workflowIdConflictPolicy: policyOf(WorkflowIdConflictPolicy, "idConflictPolicy", options.idConflictPolicy ?? "UNSPECIFIED"),
    cronSchedule: options.cronSchedule ?? "",
    requestId: options.requestId,
    ...(options.priority && { priority: options.priority }),
    ...(options.versioningOverride && { versioningOverride: options.versioningOverride }),
    ...(options.retry && { retryPolicy: toRetryPolicy(options.retry) }),
    ...(options.memo &&
      { memo: { fields: namingWhat("the memo", () => mapValues(options.memo!, (value) => converter.toPayload(value))) } }),
    ...((options.searchAttributes ?? options.entityId ?? options.correlationId ?? options.timers) !== undefined && {
      searchAttributes: {
        indexedFields: {
          ...toSearchAttributePayloads(options.searchAttributes ?? []),
          ...toSearchAttributePayloads(belongings(options)),
        },
      },
    }),
    ...((options.summary !== undefined || options.details !== undefined) && {
      userMetadata: {
        ...(options.summary !== undefined && { summary: converter.toPayload(options.summary) }),
        ...(options.details !== undefined && { details: converter.toPayload(options.details) }),
      },
    }),
  } satisfies StartFields;
}
