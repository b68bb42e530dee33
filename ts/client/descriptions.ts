// What describe and list show, as plain objects with decoded values. Times are Dates; the message itself stays at hand as `raw`, and is no
// part of their JSON.
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
} from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { PendingActivityInfo, WorkflowExecutionInfo } from "../api/generated/temporal/api/workflow/v1/message_pb.ts";
import type { DescribeWorkflowExecutionResponse } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../api/well_known.ts";

/** temporal.api.enums.v1.WorkflowExecutionStatus */
export type WorkflowStatus = Exclude<keyof typeof WorkflowExecutionStatus, "UNSPECIFIED"> | "UNKNOWN";

/** One run, as `list` shows it. */
export interface WorkflowSummary {
  /** Id that the start chose. */
  readonly workflowId: string;
  /** Id of this run. */
  readonly runId: string;
  /** Name of the workflow type. */
  readonly type: string;
  /** How it stands. */
  readonly status: WorkflowStatus;
  /** Queue of its workflow tasks. */
  readonly taskQueue: string;
  /** When it was started. */
  readonly startTime: Date | undefined;
  /** When it ended; undefined while it runs. */
  readonly closeTime: Date | undefined;
  /** When the first workflow task was due: the start, or later with a start delay. */
  readonly executionTime: Date | undefined;
  /** Number of events. */
  readonly historyLength: number;
  /** Size of its history in bytes, as the service counts it. */
  readonly historySizeBytes: number;
  /** The workflow that started it as its child, if one did. */
  readonly parent: { readonly workflowId: string; readonly runId: string } | undefined;
  /** First run of the chain of continue-as-new and retries. */
  readonly firstRunId: string;
  /** Notes of the start, decoded; a note that does not decode is shown as its payload. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes, to be asked for by key: `typedSearchAttributes.get(customer)`. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** Search attributes, decoded. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** The message that all this was read from. */
  readonly raw: WorkflowExecutionInfo;
}

/** An activity that is not finished. */
export interface PendingActivity {
  /** Its id within the run. */
  readonly activityId: string;
  /** Its name on the wire. */
  readonly activityType: string;
  /** Waiting, running, or asked to stop. */
  readonly state: Exclude<keyof typeof PendingActivityState, "UNSPECIFIED"> | "UNKNOWN";
  /** From 1. */
  readonly attempt: number;
  /** 0: no limit. */
  readonly maximumAttempts: number;
  /** When its next attempt is due, or this one was. */
  readonly scheduledTime: Date | undefined;
  /** When an attempt was last handed to a worker. */
  readonly lastStartedTime: Date | undefined;
  /** When it last reported. */
  readonly lastHeartbeatTime: Date | undefined;
  /** What it last reported, decoded. */
  readonly heartbeatDetails: unknown;
  /** Why the last attempt failed. */
  readonly lastFailure: TemporalFailure | undefined;
  /** Who had the last attempt. */
  readonly lastWorkerIdentity: string;
}

/** A procedure that waits for its answer. */
export interface PendingProcedure {
  /** Its name on the wire. */
  readonly name: string;
  /** Its id within the run. */
  readonly id: string;
  /** Since when. */
  readonly since: Date | undefined;
  /** When it times out; undefined: never. */
  readonly expires: Date | undefined;
}

/** A workflow task that waits for a worker, or that one has. */
export interface PendingWorkflowTask {
  /** Waiting for a worker, or with one. */
  readonly state: Exclude<keyof typeof PendingWorkflowTaskState, "UNSPECIFIED"> | "UNKNOWN";
  /** From 1. More than 1: the attempts before failed or timed out. */
  readonly attempt: number;
  /** When it became due. */
  readonly scheduledTime: Date | undefined;
  /** When a worker took it. */
  readonly startedTime: Date | undefined;
}

/** Why a run's tasks wait. */
export interface PausedWorkflow {
  /** Since when. */
  readonly since: Date | undefined;
  /** In words, and what to do. */
  readonly reason: string;
  /** Who paused it. */
  readonly identity: string;
}

/** A child workflow that its parent has asked for and whose end it has not heard of. */
export interface PendingChild {
  /** Its id. */
  readonly workflowId: string;
  /** Its first run; empty: it has not started. */
  readonly runId: string;
  /** Name of its type. */
  readonly workflowType: string;
  /** What becomes of it when the parent closes. */
  readonly parentClosePolicy: Exclude<keyof typeof ParentClosePolicy, "UNSPECIFIED"> | "UNKNOWN";
}

/** One run, as `describe` shows it. */
export interface WorkflowDescription extends WorkflowSummary {
  /** A cancellation was asked for. */
  readonly cancelRequested: boolean;
  /** Limits in milliseconds; undefined: none. */
  readonly executionTimeoutMs: number | undefined;
  /** Longest time of this run. */
  readonly runTimeoutMs: number | undefined;
  /** Longest time of one workflow task. */
  readonly taskTimeoutMs: number | undefined;
  /** Activities that are not finished, but for procedures. */
  readonly pendingActivities: readonly PendingActivity[];
  /** Procedures that wait for their answers, the oldest first. */
  readonly pendingProcedures: readonly PendingProcedure[];
  /** Child workflows whose end it waits to hear of. */
  readonly pendingChildren: readonly PendingChild[];
  /** Why its tasks wait: an operator paused it (on a cluster), or an embedded engine holds it because its process died on it. */
  readonly paused: PausedWorkflow | undefined;
  /** The workflow task that is due or in work, if there is one. */
  readonly pendingWorkflowTask: PendingWorkflowTask | undefined;
  /** The message that all this was read from. */
  readonly rawDescription: DescribeWorkflowExecutionResponse;
}

const date = (time: Timestamp | undefined) => (time === undefined ? undefined : timestampDate(time));
const limit = (duration: Parameters<typeof durationMs>[0] | undefined) => {
  const ms = duration === undefined ? 0 : durationMs(duration);
  return ms === 0 ? undefined : ms;
};

export function values(fields: { [key: string]: Payload } | undefined, converter: PayloadConverter): { [key: string]: unknown } {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([key, payload]) => [key, readableValue(payload, converter)]));
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
    if (type !== undefined && utf8.decode(type) === "Datetime" && typeof value === "string") shown[key] = new Date(value);
  }
  return shown;
}

export function toSummary(info: WorkflowExecutionInfo, converter: PayloadConverter): WorkflowSummary {
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
    parent: parent === undefined || parent.workflowId === "" ? undefined : { workflowId: parent.workflowId, runId: parent.runId },
    firstRunId: info.firstRunId,
    memo: values(info.memo?.fields, converter),
    searchAttributes: searchAttributes(info.searchAttributes?.indexedFields, converter),
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(info.searchAttributes?.indexedFields ?? {}),
    raw: info,
  });
}

const isProcedure = ({ activityType }: PendingActivityInfo): boolean => procedureOf(activityType?.name ?? "") !== undefined;

/** Procedures in the order in which they were asked for: a server lists activities in no order, and several may have one moment. */
function proceduresOf(activities: readonly PendingActivityInfo[]): PendingProcedure[] {
  return activities.filter(isProcedure)
    .map(({ activityType, activityId, scheduledTime, expirationTime }) => ({
      name: procedureOf(activityType!.name)!,
      id: activityId,
      since: date(scheduledTime),
      expires: date(expirationTime),
    }))
    .sort((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0) || a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
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
    pendingActivities: response.pendingActivities.filter((activity) => !isProcedure(activity)).map((activity) => ({
      activityId: activity.activityId,
      activityType: activity.activityType?.name ?? "",
      state: enumName(PendingActivityState, activity.state) ?? "UNKNOWN",
      attempt: activity.attempt,
      maximumAttempts: activity.maximumAttempts,
      scheduledTime: date(activity.scheduledTime),
      lastStartedTime: date(activity.lastStartedTime),
      lastHeartbeatTime: date(activity.lastHeartbeatTime),
      heartbeatDetails: activity.heartbeatDetails?.payloads.map((payload) => readableValue(payload, converter))[0],
      lastFailure: activity.lastFailure && decodeFailureOf(activity.lastFailure, converter),
      lastWorkerIdentity: activity.lastWorkerIdentity,
    })),
    pendingChildren: response.pendingChildren.map((child) => ({
      workflowId: child.workflowId,
      runId: child.runId,
      workflowType: child.workflowTypeName,
      parentClosePolicy: enumName(ParentClosePolicy, child.parentClosePolicy) ?? "UNKNOWN",
    })),
    paused: pause && { since: date(pause.pausedTime), reason: pause.reason, identity: pause.identity },
    pendingWorkflowTask: task && {
      state: enumName(PendingWorkflowTaskState, task.state) ?? "UNKNOWN",
      attempt: task.attempt,
      scheduledTime: date(task.scheduledTime),
      startedTime: date(task.startedTime),
    },
    rawDescription: response,
  });
}
