// Results of describe and list as plain objects with decoded values. Times are Dates; the message
// itself is in `raw`, which is not part of the JSON form.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { decodeFailureOf, readableValue } from "./context.ts";
import { withJson } from "./description_json.ts";
import { enumName } from "../converter/enums.ts";
import type { TemporalFailure } from "../converter/failures.ts";
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { procedureOf } from "../converter/procedure_names.ts";
import { TypedSearchAttributes } from "../converter/search_attributes.ts";
import {
  ParentClosePolicy,
  PendingActivityState,
  PendingWorkflowTaskState,
  WorkflowExecutionStatus,
} from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type {
  PendingActivityInfo,
  WorkflowExecutionInfo,
} from "../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import type { DescribeWorkflowExecutionResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../messages/well_known.ts";

/** temporal.api.enums.v1.WorkflowExecutionStatus */
export type WorkflowStatus =
  | Exclude<keyof typeof WorkflowExecutionStatus, "UNSPECIFIED">
  | "UNKNOWN";

/** A run in a list. */
export interface WorkflowSummary {
  /** Id chosen by the start. */
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: WorkflowStatus;
  readonly taskQueue: string;
  readonly startTime: Date | undefined;
  /** Time of the end; undefined while the run is open. */
  readonly closeTime: Date | undefined;
  /** Time of the first workflow task: the start, or later with a start delay. */
  readonly executionTime: Date | undefined;
  /** Number of events. */
  readonly historyLength: number;
  /** Size of the history in bytes, as counted by the service. */
  readonly historySizeBytes: number;
  /** Parent workflow, if the run is a child. */
  readonly parent: { readonly workflowId: string; readonly runId: string } | undefined;
  /** First run of the chain of continue-as-new and retries. */
  readonly firstRunId: string;
  /** Memo, decoded; a value that does not decode is shown as its payload. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes by key: `typedSearchAttributes.get(customer)`. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** Search attributes, decoded. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** The message of the service. */
  readonly raw: WorkflowExecutionInfo;
}

/** An unfinished activity. */
export interface PendingActivity {
  /** Id within the run. */
  readonly activityId: string;
  readonly activityType: string;
  /** Scheduled, started, or cancel requested. */
  readonly state: Exclude<keyof typeof PendingActivityState, "UNSPECIFIED"> | "UNKNOWN";
  /** From 1. */
  readonly attempt: number;
  /** 0: no limit. */
  readonly maximumAttempts: number;
  /** Time at which the next or current attempt is or was due. */
  readonly scheduledTime: Date | undefined;
  /** Start of the last attempt. */
  readonly lastStartedTime: Date | undefined;
  readonly lastHeartbeatTime: Date | undefined;
  /** Details of the last heartbeat, decoded. */
  readonly heartbeatDetails: unknown;
  /** Failure of the last attempt. */
  readonly lastFailure: TemporalFailure | undefined;
  /** Identity of the worker of the last attempt. */
  readonly lastWorkerIdentity: string;
}

/** A procedure without a result. */
export interface PendingProcedure {
  readonly name: string;
  /** Id within the run. */
  readonly id: string;
  /** Time of the request. */
  readonly since: Date | undefined;
  /** Time of its timeout; undefined: never. */
  readonly expires: Date | undefined;
}

/** A workflow task that is scheduled or started. */
export interface PendingWorkflowTask {
  /** Scheduled or started. */
  readonly state: Exclude<keyof typeof PendingWorkflowTaskState, "UNSPECIFIED"> | "UNKNOWN";
  /** From 1. Above 1, earlier attempts failed or timed out. */
  readonly attempt: number;
  /** Time at which the task was scheduled. */
  readonly scheduledTime: Date | undefined;
  /** Time at which a worker received the task. */
  readonly startedTime: Date | undefined;
}

/** Reason why a run's tasks wait. */
export interface PausedWorkflow {
  /** Time of the pause. */
  readonly since: Date | undefined;
  /** Reason and advice. */
  readonly reason: string;
  /** Identity of the caller that paused it. */
  readonly identity: string;
}

/** A child workflow whose end the parent has not received. */
export interface PendingChild {
  readonly workflowId: string;
  /** First run; empty if not started. */
  readonly runId: string;
  readonly workflowType: string;
  /** What happens to it when the parent closes. */
  readonly parentClosePolicy: Exclude<keyof typeof ParentClosePolicy, "UNSPECIFIED"> | "UNKNOWN";
}

/** A run in detail. */
export interface WorkflowDescription extends WorkflowSummary {
  /** True after a cancel request. */
  readonly cancelRequested: boolean;
  /** Execution timeout in milliseconds; undefined: none. */
  readonly executionTimeoutMs: number | undefined;
  /** Run timeout in milliseconds; undefined: none. */
  readonly runTimeoutMs: number | undefined;
  /** Workflow task timeout in milliseconds; undefined: none. */
  readonly taskTimeoutMs: number | undefined;
  /** Unfinished activities, without procedures. */
  readonly pendingActivities: readonly PendingActivity[];
  /** Procedures without a result, oldest first. */
  readonly pendingProcedures: readonly PendingProcedure[];
  /** Child workflows whose end the run has not received. */
  readonly pendingChildren: readonly PendingChild[];
  /**
   * Why the run's tasks wait: paused by an operator (on a cluster), or held by an embedded engine
   * because its process crashed on the run.
   */
  readonly paused: PausedWorkflow | undefined;
  /** The scheduled or started workflow task, if there is one. */
  readonly pendingWorkflowTask: PendingWorkflowTask | undefined;
  /** The message of the service. */
  readonly rawDescription: DescribeWorkflowExecutionResponse;
}

const date = (
  time: Timestamp | undefined,
) => (time === undefined ? undefined : timestampDate(time));
const limit = (duration: Parameters<typeof durationMs>[0] | undefined) => {
  const ms = duration === undefined ? 0 : durationMs(duration);
  return ms === 0 ? undefined : ms;
};

export function values(
  fields: { [key: string]: Payload } | undefined,
  converter: PayloadConverter,
): { [key: string]: unknown } {
  return Object.fromEntries(
    Object.entries(fields ?? {}).map(([key, payload]) => [key, readableValue(payload, converter)]),
  );
}

const utf8 = new TextDecoder();

export function searchAttributes(
  fields: { [key: string]: Payload } | undefined,
  converter: PayloadConverter,
): { [key: string]: unknown } {
  const shown = values(fields, converter);
  for (const key in shown) {
    const type = fields![key]!.metadata["type"];
    const value = shown[key];
    if (type !== undefined && utf8.decode(type) === "Datetime" && typeof value === "string") {
      shown[key] = new Date(value);
    }
  }
  return shown;
}

export function toSummary(
  info: WorkflowExecutionInfo,
  converter: PayloadConverter,
): WorkflowSummary {
  const parent = info.parentExecution;
  return withJson<WorkflowSummary>({
    workflowId: info.execution?.workflowId ?? "",
    runId: info.execution?.runId ?? "",
    type: info.type?.name ?? "",
    status: enumName(WorkflowExecutionStatus, info.status) ?? "UNKNOWN",
    taskQueue: info.taskQueue,
    startTime: date(info.startTime),
    closeTime: date(info.closeTime),
    executionTime: date(info.executionTime),
    historyLength: Number(info.historyLength),
    historySizeBytes: Number(info.historySizeBytes),
    parent: parent === undefined || parent.workflowId === ""
      ? undefined
      : { workflowId: parent.workflowId, runId: parent.runId },
    firstRunId: info.firstRunId,
    memo: values(info.memo?.fields, converter),
    searchAttributes: searchAttributes(info.searchAttributes?.indexedFields, converter),
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(
      info.searchAttributes?.indexedFields ?? {},
    ),
    raw: info,
  });
}

const isProcedure = ({ activityType }: PendingActivityInfo): boolean =>
  procedureOf(activityType?.name ?? "") !== undefined;

/**
 * Sorts procedures by request: a server lists activities without an order, and several may have the
 * same time.
 */
function proceduresOf(activities: readonly PendingActivityInfo[]): PendingProcedure[] {
  return activities.filter(isProcedure)
    .map(({ activityType, activityId, scheduledTime, expirationTime }) => ({
      name: procedureOf(activityType!.name)!,
      id: activityId,
      since: date(scheduledTime),
      expires: date(expirationTime),
    }))
    .sort((a, b) =>
      (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0) || a.id.length - b.id.length ||
      (a.id < b.id ? -1 : 1)
    );
}

export function toDescription(
  response: DescribeWorkflowExecutionResponse,
  converter: PayloadConverter,
): WorkflowDescription | undefined {
  if (response.workflowExecutionInfo === undefined) return undefined;
  const { executionConfig: config, pendingWorkflowTask: task } = response;
  const pause = response.workflowExtendedInfo?.pauseInfo;
  const summary = toSummary(response.workflowExecutionInfo, converter);
  return withJson<WorkflowDescription>({
    ...summary,
    taskQueue: summary.taskQueue || (config?.taskQueue?.name ?? ""),
    cancelRequested: response.workflowExtendedInfo?.cancelRequested ?? false,
    executionTimeoutMs: limit(config?.workflowExecutionTimeout),
    runTimeoutMs: limit(config?.workflowRunTimeout),
    taskTimeoutMs: limit(config?.defaultWorkflowTaskTimeout),
    pendingProcedures: proceduresOf(response.pendingActivities),
    pendingActivities: response.pendingActivities.filter((activity) => !isProcedure(activity)).map((
      activity,
    ) => ({
      activityId: activity.activityId,
      activityType: activity.activityType?.name ?? "",
      state: enumName(PendingActivityState, activity.state) ?? "UNKNOWN",
      attempt: activity.attempt,
      maximumAttempts: activity.maximumAttempts,
      scheduledTime: date(activity.scheduledTime),
      lastStartedTime: date(activity.lastStartedTime),
      lastHeartbeatTime: date(activity.lastHeartbeatTime),
      heartbeatDetails: activity.heartbeatDetails?.payloads.map((payload) =>
        readableValue(payload, converter)
      )[0],
      lastFailure: activity.lastFailure && decodeFailureOf(activity.lastFailure, converter),
      lastWorkerIdentity: activity.lastWorkerIdentity,
    })),
    pendingChildren: response.pendingChildren.map((child) => ({
      workflowId: child.workflowId,
      runId: child.runId,
      workflowType: child.workflowTypeName,
      parentClosePolicy: enumName(ParentClosePolicy, child.parentClosePolicy) ?? "UNKNOWN",
    })),
    paused: pause &&
      { since: date(pause.pausedTime), reason: pause.reason, identity: pause.identity },
    pendingWorkflowTask: task && {
      state: enumName(PendingWorkflowTaskState, task.state) ?? "UNKNOWN",
      attempt: task.attempt,
      scheduledTime: date(task.scheduledTime),
      startedTime: date(task.startedTime),
    },
    rawDescription: response,
  });
}
