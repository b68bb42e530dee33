// Options and descriptions of standalone activities in the form of the API's messages, and back.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { convertDeploymentVersion } from "../common/deployments.ts";
import type { LoadedDataConverter } from "../common/data_converter.ts";
import { fromPayloadsAtIndex, toPayloadsWithContext } from "../common/payloads.ts";
import type { Payload } from "../common/payload_converters.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import { compilePriority, decodePriority } from "../common/priority.ts";
import { msOptionalToTs, optionalTsToDate, optionalTsToMs } from "../common/proto_time.ts";
import { compileRetryPolicy, decompileRetryPolicy } from "../common/retry_policy.ts";
import {
  decodeTypedSearchAttributes,
  encodeUnifiedSearchAttributes,
} from "../common/search_attribute_converters.ts";
import { msToNumber } from "../common/time.ts";
import type { ActivitySerializationContext } from "../common/type_info.ts";
import {
  decodeActivityExecutionStatus,
  decodePendingActivityState,
  encodeActivityIdConflictPolicy,
  encodeActivityIdReusePolicy,
} from "./enums.ts";
import type {
  ActivityExecutionDescription,
  ActivityExecutionInfo,
  ActivityOptions,
  ActivityOptionsUpdate,
  ActivityOptionsUpdateResult,
  ActivityStartInput,
} from "./activity_types.ts";

const START_OPTIONS: OptionNames<ActivityOptions> = {
  ...{ id: 1, taskQueue: 1, args: 1, typeInfo: 1, summary: 1, priority: 1, startDelay: 1 },
  ...{ startToCloseTimeout: 1, scheduleToStartTimeout: 1, scheduleToCloseTimeout: 1 },
  ...{ heartbeatTimeout: 1, retry: 1, idReusePolicy: 1, idConflictPolicy: 1 },
  typedSearchAttributes: 1,
};

/** Throws a TypeError for misspelled options, and without those that every start needs. */
export function checkStandaloneOptions(options: ActivityOptions): void {
  rejectMisspelledOptions("the options of a standalone activity", options, START_OPTIONS);
  if (!options?.id) throw new TypeError("id is required");
  if (!options.taskQueue) throw new TypeError("taskQueue is required");
  if (!options.scheduleToCloseTimeout && !options.startToCloseTimeout) {
    throw new TypeError("Either scheduleToCloseTimeout or startToCloseTimeout is required");
  }
  if (options.startDelay !== undefined && msToNumber(options.startDelay) < 0) {
    throw new TypeError("startDelay must be non-negative");
  }
}

/** The request of a start, without namespace, identity and request id. */
export function startFields(
  { activityType, options, headers }: ActivityStartInput,
  { payloadConverter }: LoadedDataConverter,
  context: ActivitySerializationContext,
): PlainMessage {
  const { retry, priority, summary, typedSearchAttributes: attributes, typeInfo } = options;
  const args = [...options.args ?? []];
  const inputTypes = typeInfo?.inputTypes;
  return {
    activityId: options.id,
    activityType: { name: activityType },
    taskQueue: { name: options.taskQueue },
    ...timeoutFields(options),
    startDelay: msOptionalToTs(options.startDelay),
    input: { payloads: toPayloadsWithContext(payloadConverter, context, args, inputTypes) ?? [] },
    idReusePolicy: encodeActivityIdReusePolicy(options.idReusePolicy),
    idConflictPolicy: encodeActivityIdConflictPolicy(options.idConflictPolicy),
    header: { fields: headers },
    ...(retry && { retryPolicy: compileRetryPolicy(retry) }),
    ...(priority && { priority: compilePriority(priority) }),
    ...(attributes && {
      searchAttributes: { indexedFields: encodeUnifiedSearchAttributes(undefined, attributes) },
    }),
    ...(summary !== undefined && {
      userMetadata: { summary: payloadConverter.toPayload(summary, context) },
    }),
  };
}

type Timeouts = Pick<
  ActivityOptionsUpdate,
  | "scheduleToCloseTimeout"
  | "scheduleToStartTimeout"
  | "startToCloseTimeout"
  | "heartbeatTimeout"
>;

function timeoutFields(options: Timeouts): PlainMessage {
  return {
    scheduleToCloseTimeout: msOptionalToTs(options.scheduleToCloseTimeout),
    scheduleToStartTimeout: msOptionalToTs(options.scheduleToStartTimeout),
    startToCloseTimeout: msOptionalToTs(options.startToCloseTimeout),
    heartbeatTimeout: msOptionalToTs(options.heartbeatTimeout),
  };
}

const PATHS: readonly (readonly [name: keyof ActivityOptionsUpdate, path: string])[] = [
  ["scheduleToCloseTimeout", "schedule_to_close_timeout"],
  ["scheduleToStartTimeout", "schedule_to_start_timeout"],
  ["startToCloseTimeout", "start_to_close_timeout"],
  ["heartbeatTimeout", "heartbeat_timeout"],
  ["retry", "retry_policy"],
  ["priority", "priority"],
  ["startDelay", "start_delay"],
];

/** Changed options with their mask: null clears an option. */
export function updateFields(options: ActivityOptionsUpdate): PlainMessage {
  const { taskQueue, retry, priority, startDelay } = options;
  const paths = PATHS.filter(([name]) => options[name] !== undefined).map(([, path]) => path);
  const hasQueue = taskQueue !== undefined && taskQueue !== null;
  return {
    activityOptions: {
      ...timeoutFields(options),
      startDelay: msOptionalToTs(startDelay),
      ...(hasQueue && { taskQueue: { name: taskQueue } }),
      ...(retry && { retryPolicy: compileRetryPolicy(retry) }),
      ...(priority && { priority: compilePriority(priority) }),
    },
    updateMask: { paths: hasQueue ? ["task_queue.name", ...paths] : paths },
  };
}

/** Options from a message. */
export function optionsResult(options: PlainMessage): ActivityOptionsUpdateResult {
  return {
    taskQueue: options?.taskQueue?.name || undefined,
    scheduleToCloseTimeout: optionalTsToMs(options?.scheduleToCloseTimeout),
    scheduleToStartTimeout: optionalTsToMs(options?.scheduleToStartTimeout),
    startToCloseTimeout: optionalTsToMs(options?.startToCloseTimeout),
    heartbeatTimeout: optionalTsToMs(options?.heartbeatTimeout),
    retry: decompileRetryPolicy(options?.retryPolicy),
    priority: options?.priority ? decodePriority(options.priority) : undefined,
    startDelay: optionalTsToMs(options?.startDelay),
  } as ActivityOptionsUpdateResult;
}

function commonInfo(info: PlainMessage): ActivityExecutionInfo {
  return {
    activityId: info.activityId,
    activityRunId: info.runId,
    activityType: info.activityType?.name ?? "",
    scheduleTime: optionalTsToDate(info.scheduleTime),
    closeTime: optionalTsToDate(info.closeTime),
    status: decodeActivityExecutionStatus(info.status),
    typedSearchAttributes: decodeTypedSearchAttributes(info.searchAttributes?.indexedFields),
    taskQueue: info.taskQueue,
    executionDurationMs: optionalTsToMs(info.executionDuration),
    executionTime: optionalTsToDate(info.executionTime),
  } as ActivityExecutionInfo;
}

/** An entry of a list. */
export function listedActivity(info: PlainMessage): ActivityExecutionInfo {
  return { ...commonInfo(info), rawListInfo: info };
}

/** A description from the message of a response. */
export function describedActivity(
  { info, input, outcome, callbacks }: PlainMessage,
  { payloadConverter, failureConverter }: LoadedDataConverter,
  context: ActivitySerializationContext,
): ActivityExecutionDescription {
  const first = async (payloads: Payload[] | undefined) =>
    payloads?.length ? fromPayloadsAtIndex(payloadConverter, 0, payloads, context) : undefined;
  const error = async (failure: PlainMessage) =>
    failure ? failureConverter.failureToError(failure, payloadConverter, context) : undefined;
  const count = (message: PlainMessage) => message?.payloads?.length ?? 0;
  return {
    ...commonInfo(info),
    rawInfo: info,
    rawCallbacks: callbacks,
    runState: decodePendingActivityState(info.runState),
    scheduleToCloseTimeoutMs: optionalTsToMs(info.scheduleToCloseTimeout),
    scheduleToStartTimeoutMs: optionalTsToMs(info.scheduleToStartTimeout),
    startToCloseTimeoutMs: optionalTsToMs(info.startToCloseTimeout),
    heartbeatTimeoutMs: optionalTsToMs(info.heartbeatTimeout),
    retryPolicy: decompileRetryPolicy(info.retryPolicy),
    lastHeartbeatTime: optionalTsToDate(info.lastHeartbeatTime),
    lastStartedTime: optionalTsToDate(info.lastStartedTime),
    attempt: info.attempt,
    expirationTime: optionalTsToDate(info.expirationTime),
    lastWorkerIdentity: info.lastWorkerIdentity || undefined,
    currentRetryIntervalMs: optionalTsToMs(info.currentRetryInterval),
    lastAttemptCompleteTime: optionalTsToDate(info.lastAttemptCompleteTime),
    nextAttemptScheduleTime: optionalTsToDate(info.nextAttemptScheduleTime),
    lastDeploymentVersion: convertDeploymentVersion(info.lastDeploymentVersion),
    priority: decodePriority(info.priority),
    canceledReason: info.canceledReason || undefined,
    startDelayMs: optionalTsToMs(info.startDelay),
    totalHeartbeatCount: Number(info.totalHeartbeatCount ?? 0) || undefined,
    hasHeartbeatDetails: count(info.heartbeatDetails) > 0,
    hasLastFailure: Boolean(info.lastFailure),
    hasInput: count(input) > 0,
    hasResult: count(outcome?.result) > 0,
    hasOutcomeFailure: Boolean(outcome?.failure),
    getHeartbeatDetails: () => first(info.heartbeatDetails?.payloads),
    getLastFailure: () => error(info.lastFailure),
    getInput: async () =>
      input?.payloads?.map((_: Payload, i: number) =>
        fromPayloadsAtIndex(payloadConverter, i, input.payloads, context)
      ),
    getResult: () => first(outcome?.result?.payloads),
    getOutcomeFailure: () => error(outcome?.failure),
  } as ActivityExecutionDescription;
}
