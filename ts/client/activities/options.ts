// Options of standalone activities and their conversion to request fields.
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import { checkPriority, type TaskPriority } from "../../base/priority.ts";
import { type Duration, toMs } from "../../converter/duration.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import {
  type SearchAttributes,
  toSearchAttributePayloads,
} from "../../converter/search_attributes.ts";
import {
  ActivityIdConflictPolicy,
  ActivityIdReusePolicy,
} from "../../messages/generated/temporal/api/enums/v1/activity_pb.ts";
import type {
  StartActivityExecutionRequestSchema,
  UpdateActivityExecutionOptionsRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationFromMs } from "../../messages/well_known.ts";
import { CALL_SETTINGS } from "../calls.ts";
import { policyNumber, type RetryPolicy, toRetryPolicy } from "../options.ts";

/**
 * Timeouts, retries and place of an activity. Durations: milliseconds or text such as "10s". The
 * defaults are those of a start; a change leaves what it does not name.
 */
export interface ActivityTaskOptions {
  /** Default: the client's `taskQueue`. */
  taskQueue?: string;
  /** Longest time of one attempt. Default: 30 s if scheduleToClose is not set either. */
  startToClose?: Duration;
  /** Longest time from the start call to the end, including retries. Default: no limit. */
  scheduleToClose?: Duration;
  /** Longest wait for a worker. Default: no limit. */
  scheduleToStart?: Duration;
  /** An attempt without a heartbeat for this long has failed. Default: no heartbeats required. */
  heartbeat?: Duration;
  /** Default: 1 s, doubled each time up to 100 s, without limit of attempts. */
  retry?: RetryPolicy;
  /** Order of its tasks in the queue. */
  priority?: TaskPriority;
  /** Delay of the first attempt. */
  startDelay?: Duration;
}

/** Options of `client.activity.start`, without arguments. */
export interface ActivityStartOptions extends ActivityTaskOptions {
  /** Id, unique among open activities of the namespace. Default: a new UUID. */
  id?: string;
  /** Whether the id of a closed activity may be reused. Default: ALLOW_DUPLICATE. */
  idReusePolicy?: "ALLOW_DUPLICATE" | "ALLOW_DUPLICATE_FAILED_ONLY" | "REJECT_DUPLICATE";
  /** What happens if an activity with this id is open. Default: FAIL. */
  idConflictPolicy?: "FAIL" | "USE_EXISTING";
  /** Attributes for queries of `list`. */
  searchAttributes?: SearchAttributes;
  /** One line for user interfaces. */
  summary?: string;
  /** Deduplicates starts. Default: a new id for each call. */
  requestId?: string;
}

const TASK_OPTIONS: OptionNames<ActivityTaskOptions> = {
  ...{ taskQueue: 1, startToClose: 1, scheduleToClose: 1, scheduleToStart: 1, heartbeat: 1 },
  ...{ retry: 1, priority: 1, startDelay: 1 },
};
const START_OPTIONS: OptionNames<ActivityStartOptions> = {
  ...{ id: 1, idReusePolicy: 1, idConflictPolicy: 1, searchAttributes: 1, summary: 1 },
  ...{ requestId: 1, ...TASK_OPTIONS },
};
const DEFAULT_START_TO_CLOSE_MS = 30_000;

/** Throws for an unknown option of a start and for one of the wrong type. */
export function checkActivityStart(options: ActivityStartOptions): void {
  rejectUnknownOptions("a start of an activity", options, {
    args: 1,
    ...START_OPTIONS,
    ...CALL_SETTINGS,
  });
  if (options.id !== undefined) checkActivityId(options.id);
}

/** Throws a TypeError for an id that is not a text or is empty. */
export function checkActivityId(id: string): void {
  if (typeof id === "string" && id !== "") return;
  throw new TypeError(
    `the id of an activity must be a non-empty string, not ${JSON.stringify(id)}`,
  );
}

type Fields<T extends DescMessage> = Omit<MessageInitShape<T>, "$typeName">;

const duration = (value: Duration | undefined) =>
  value === undefined ? undefined : durationFromMs(toMs(value));

/** Fields that starts and changes have under the same names. */
function taskFields(options: ActivityTaskOptions) {
  checkPriority(options.priority);
  return {
    scheduleToCloseTimeout: duration(options.scheduleToClose),
    scheduleToStartTimeout: duration(options.scheduleToStart),
    startToCloseTimeout: duration(options.startToClose),
    heartbeatTimeout: duration(options.heartbeat),
    startDelay: duration(options.startDelay),
    ...(options.retry && { retryPolicy: toRetryPolicy(options.retry) }),
    ...(options.priority && { priority: options.priority }),
  };
}

/** Returns the fields of a start request that options determine. Throws for invalid values. */
export function activityStartFields(
  options: ActivityStartOptions & { id: string; taskQueue: string; requestId: string },
  converter: PayloadConverter,
): Fields<typeof StartActivityExecutionRequestSchema> {
  const { id, requestId, taskQueue, searchAttributes, summary } = options;
  const isUnlimited = options.startToClose === undefined && options.scheduleToClose === undefined;
  return {
    activityId: id,
    requestId,
    taskQueue: { name: taskQueue },
    ...taskFields({
      ...options,
      ...(isUnlimited && { startToClose: DEFAULT_START_TO_CLOSE_MS }),
    }),
    idReusePolicy: policyNumber(
      ActivityIdReusePolicy,
      "idReusePolicy",
      options.idReusePolicy ?? "ALLOW_DUPLICATE",
    ),
    idConflictPolicy: policyNumber(
      ActivityIdConflictPolicy,
      "idConflictPolicy",
      options.idConflictPolicy ?? "FAIL",
    ),
    ...(searchAttributes &&
      { searchAttributes: { indexedFields: toSearchAttributePayloads(searchAttributes) } }),
    ...(summary !== undefined && {
      userMetadata: { summary: namingWhat("the summary", () => converter.toPayload(summary)) },
    }),
  };
}

const PATHS: { readonly [option in keyof ActivityTaskOptions]-?: string } = {
  taskQueue: "task_queue.name",
  startToClose: "start_to_close_timeout",
  scheduleToClose: "schedule_to_close_timeout",
  scheduleToStart: "schedule_to_start_timeout",
  heartbeat: "heartbeat_timeout",
  retry: "retry_policy",
  priority: "priority",
  startDelay: "start_delay",
};

/** Returns the fields of a request that changes options. Throws if there is nothing to change. */
export function changeFields(
  options: ActivityTaskOptions,
): Fields<typeof UpdateActivityExecutionOptionsRequestSchema> {
  rejectUnknownOptions("a change of an activity's options", options, TASK_OPTIONS);
  const paths = Object.entries(PATHS)
    .filter(([name]) => options[name as keyof ActivityTaskOptions] !== undefined)
    .map(([, path]) => path);
  if (paths.length === 0) {
    throw new TypeError(
      `a change of an activity's options needs at least one of ${Object.keys(PATHS).join(", ")}`,
    );
  }
  const { taskQueue } = options;
  return {
    activityOptions: {
      ...taskFields(options),
      ...(taskQueue !== undefined && { taskQueue: { name: taskQueue } }),
    },
    updateMask: { paths },
  };
}
