// Options of a start and their conversion to request fields.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, toMs } from "../converter/duration.ts";
import { CALL_SETTINGS } from "./calls.ts";
import { belongings } from "./belonging.ts";
import { namingWhat } from "../converter/lossy_value.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import {
  type SearchAttributes,
  toSearchAttributePayloads,
} from "../converter/search_attributes.ts";
import type { RetryPolicySchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { StartWorkflowExecutionRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { VersioningOverrideSchema } from "../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import { checkNumber, MAX_INT32 } from "../base/number_ranges.ts";
import { checkPriority, type TaskPriority } from "../base/priority.ts";
import { durationFromMs } from "../messages/well_known.ts";

/**
 * Retries of a failed run or activity; unset fields have the service's defaults (1 s, factor 2, 100
 * x, no limit).
 */
export interface RetryPolicy {
  /** Delay before the second attempt. */
  initialInterval?: Duration;
  /** Factor of consecutive delays, at least 1. */
  backoffCoefficient?: number;
  /** Maximum delay. */
  maximumInterval?: Duration;
  /** Maximum number of attempts; 1 disables retries, 0 or unset has no limit. */
  maximumAttempts?: number;
  /** Types of ApplicationFailure that are not retried. */
  nonRetryableErrorTypes?: string[];
}

/** Options of a workflow start, without arguments. */
export interface WorkflowOptions {
  /**
   * The workflow id, unique among open workflows of the namespace. A business key makes starts
   * idempotent.
   */
  id: string;
  /** Task queue. Default: the client's `taskQueue`. */
  taskQueue?: string;
  /** Whether a new run may reuse the id of a closed run. Default: ALLOW_DUPLICATE. */
  idReusePolicy?:
    | "ALLOW_DUPLICATE"
    | "ALLOW_DUPLICATE_FAILED_ONLY"
    | "REJECT_DUPLICATE"
    | "TERMINATE_IF_RUNNING";
  /** What happens if a run with this id is open. Default: FAIL. */
  idConflictPolicy?: "FAIL" | "USE_EXISTING" | "TERMINATE_EXISTING";
  /** Limit of the whole chain of runs, including retries and continue-as-new. */
  executionTimeout?: Duration;
  /** Limit of one run. */
  runTimeout?: Duration;
  /** Limit of one workflow task; the service's default is 10 s. */
  taskTimeout?: Duration;
  /** Retries of the workflow. Default: none. */
  retry?: RetryPolicy;
  /** Delay of the first workflow task. */
  startDelay?: Duration;
  /**
   * A cron expression such as "0 12 * * *" or "@every 1h": each run that completes, fails or times out
   * is followed by a new one.
   */
  cronSchedule?: string;
  /** Data in describe and list, not searchable. */
  memo?: { [key: string]: unknown };
  /**
   * Data for queries of `list`: `[{ key, value }]` with keys of `defineSearchAttributeKey`, or
   * names with untyped values.
   */
  searchAttributes?: SearchAttributes;
  /**
   * Entity that the workflow works for: a player, a building. Kept over continue-as-new;
   * `client.workflows({ entityId })` selects by it. Stored as a Keyword named WorkflowEntityId,
   * which a cluster must know (`temporal operator search-attribute create`).
   */
  entityId?: string;
  /**
   * Groups workflows of several entities: a spell, a trade. Same as `entityId`, named
   * WorkflowCorrelationId.
   */
  correlationId?: string;
  /**
   * "manual": timers of this workflow fire only by `fireTimer` (of a test environment, an embedded
   * engine, or `temporalex workflow fire-timer`). Kept over continue-as-new, retries and restarts;
   * does not apply to timeouts, retries, and timers of children. Stored as a Keyword named
   * WorkflowTimers. Only in the embedded engine: a cluster rejects the start.
   */
  timers?: "manual";
  /** One line for user interfaces. */
  summary?: string;
  /** Further lines for user interfaces. */
  details?: string;
  /** Deduplicates starts. Default: a new id for each call. */
  requestId?: string;
  /** Order of its tasks in the queue, also in the embedded engine. */
  priority?: TaskPriority;
  /** Overrides which versions of a deployment run it. */
  versioningOverride?: MessageInitShape<typeof VersioningOverrideSchema>;
}

const WORKFLOW_OPTIONS: OptionNames<WorkflowOptions> = {
  ...{
    id: 1,
    taskQueue: 1,
    idReusePolicy: 1,
    idConflictPolicy: 1,
    executionTimeout: 1,
    runTimeout: 1,
    taskTimeout: 1,
    retry: 1,
  },
  ...{
    startDelay: 1,
    cronSchedule: 1,
    memo: 1,
    searchAttributes: 1,
    entityId: 1,
    correlationId: 1,
    timers: 1,
    summary: 1,
  },
  ...{ details: 1, requestId: 1, priority: 1, versioningOverride: 1 },
};
/** Options of a start: arguments and call settings next to those of the workflow. */
export const START_OPTIONS = { args: 1, ...WORKFLOW_OPTIONS, ...CALL_SETTINGS };
const RETRY_POLICY: OptionNames<RetryPolicy> = {
  ...{
    initialInterval: 1,
    backoffCoefficient: 1,
    maximumInterval: 1,
    maximumAttempts: 1,
    nonRetryableErrorTypes: 1,
  },
};
const VERSIONING_OVERRIDE: OptionNames<NonNullable<WorkflowOptions["versioningOverride"]>> = {
  ...{ override: 1, behavior: 1, deployment: 1, pinnedVersion: 1, $typeName: 1, $unknown: 1 },
};

/** Converts a retry policy for a request. */
export function toRetryPolicy(policy: RetryPolicy): MessageInitShape<typeof RetryPolicySchema> {
  rejectUnknownOptions("retry", policy, RETRY_POLICY);
  const {
    initialInterval,
    maximumInterval,
    backoffCoefficient = 0,
    maximumAttempts = 0,
    nonRetryableErrorTypes = [],
  } = policy;
  checkNumber("retry.backoffCoefficient", policy.backoffCoefficient, { min: 1, whole: false });
  checkNumber("retry.maximumAttempts", policy.maximumAttempts, { min: 0, max: MAX_INT32 });
  return {
    ...(initialInterval !== undefined &&
      { initialInterval: durationFromMs(toMs(initialInterval)) }),
    ...(maximumInterval !== undefined &&
      { maximumInterval: durationFromMs(toMs(maximumInterval)) }),
    backoffCoefficient,
    maximumAttempts,
    nonRetryableErrorTypes,
  };
}

export function mapValues<T, R>(
  object: { [key: string]: T },
  convert: (value: T, key: string) => R,
): { [key: string]: R } {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, convert(value, key)]),
  );
}

type StartFields = Omit<
  MessageInitShape<typeof StartWorkflowExecutionRequestSchema>,
  "$typeName" | "requestEagerExecution"
>;

/** Throws for an unknown name: it would be sent as unspecified, and could start a second run. */
export function policyNumber<Name extends string, Value>(
  policies: { readonly [name in Name]: Value },
  option: string,
  name: Name,
): Value {
  if (typeof policies[name] === "number") return policies[name];
  const names = Object.keys(policies).filter((known) =>
    /^[A-Z]/.test(known) && known !== "UNSPECIFIED"
  );
  throw new TypeError(
    `invalid ${option} ${JSON.stringify(name)}; valid values: ${names.join(", ")}`,
  );
}

/** Returns the common fields of StartWorkflowExecution and SignalWithStartWorkflowExecution. */
export function toStartFields(
  options: WorkflowOptions & { taskQueue: string; requestId: string },
  converter: PayloadConverter,
) {
  checkPriority(options.priority);
  rejectUnknownOptions("versioningOverride", options.versioningOverride, VERSIONING_OVERRIDE);
  const duration = (
    value: Duration | undefined,
  ) => (value === undefined ? undefined : durationFromMs(toMs(value)));
  return {
    workflowId: options.id,
    taskQueue: { name: options.taskQueue },
    workflowExecutionTimeout: duration(options.executionTimeout),
    workflowRunTimeout: duration(options.runTimeout),
    workflowTaskTimeout: duration(options.taskTimeout),
    workflowStartDelay: duration(options.startDelay),
    workflowIdReusePolicy: policyNumber(
      WorkflowIdReusePolicy,
      "idReusePolicy",
      options.idReusePolicy ?? "ALLOW_DUPLICATE",
    ),
    workflowIdConflictPolicy: policyNumber(
      WorkflowIdConflictPolicy,
      "idConflictPolicy",
      options.idConflictPolicy ?? "UNSPECIFIED",
    ),
    cronSchedule: options.cronSchedule ?? "",
    requestId: options.requestId,
    ...(options.priority && { priority: options.priority }),
    ...(options.versioningOverride && { versioningOverride: options.versioningOverride }),
    ...(options.retry && { retryPolicy: toRetryPolicy(options.retry) }),
    ...(options.memo &&
      {
        memo: {
          fields: namingWhat(
            "the memo",
            () => mapValues(options.memo!, (value) => converter.toPayload(value)),
          ),
        },
      }),
    ...((options.searchAttributes ?? options.entityId ?? options.correlationId ??
          options.timers) !== undefined && {
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
