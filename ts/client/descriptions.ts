// What describe and list show, as plain objects with decoded values. Times are Dates; the message itself stays at hand as `raw`.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { enumName } from "../converter/enums.ts";
import { fromFailure } from "../converter/failure_converter.ts";
import type { TemporalFailure } from "../converter/failures.ts";
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import {
  PendingActivityState,
  PendingWorkflowTaskState,
  WorkflowExecutionStatus,
} from "../temporal/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { WorkflowExecutionInfo } from "../temporal/generated/temporal/api/workflow/v1/message_pb.ts";
import type { DescribeWorkflowExecutionResponse } from "../temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../temporal/well_known.ts";

/** temporal.api.enums.v1.WorkflowExecutionStatus */
export type WorkflowStatus = Exclude<keyof typeof WorkflowExecutionStatus, "UNSPECIFIED"> | "UNKNOWN";

/** One run, as `list` shows it. */
export interface WorkflowSummary {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: WorkflowStatus;
  readonly taskQueue: string;
  readonly startTime: Date | undefined;
  readonly closeTime: Date | undefined;
  /** When the first workflow task was due: the start, or later with a start delay. */
  readonly executionTime: Date | undefined;
  /** Number of events. */
  readonly historyLength: number;
  readonly historySizeBytes: number;
  readonly parent: { readonly workflowId: string; readonly runId: string } | undefined;
  /** First run of the chain of continue-as-new and retries. */
  readonly firstRunId: string;
  readonly memo: { readonly [key: string]: unknown };
  readonly searchAttributes: { readonly [key: string]: unknown };
  readonly raw: WorkflowExecutionInfo;
}

export interface PendingActivity {
  readonly activityId: string;
  readonly activityType: string;
  readonly state: Exclude<keyof typeof PendingActivityState, "UNSPECIFIED"> | "UNKNOWN";
  /** From 1. */
  readonly attempt: number;
  /** 0: no limit. */
  readonly maximumAttempts: number;
  readonly scheduledTime: Date | undefined;
  readonly lastStartedTime: Date | undefined;
  readonly lastHeartbeatTime: Date | undefined;
  readonly heartbeatDetails: unknown;
  /** Why the last attempt failed. */
  readonly lastFailure: TemporalFailure | undefined;
  readonly lastWorkerIdentity: string;
}

export interface PendingWorkflowTask {
  readonly state: Exclude<keyof typeof PendingWorkflowTaskState, "UNSPECIFIED"> | "UNKNOWN";
  readonly attempt: number;
  readonly scheduledTime: Date | undefined;
  readonly startedTime: Date | undefined;
}

/** One run, as `describe` shows it. */
export interface WorkflowDescription extends WorkflowSummary {
  readonly cancelRequested: boolean;
  /** Limits in milliseconds; undefined: none. */
  readonly executionTimeoutMs: number | undefined;
  readonly runTimeoutMs: number | undefined;
  readonly taskTimeoutMs: number | undefined;
  readonly pendingActivities: readonly PendingActivity[];
  readonly pendingWorkflowTask: PendingWorkflowTask | undefined;
  readonly rawDescription: DescribeWorkflowExecutionResponse;
}

const date = (time: Timestamp | undefined) => (time === undefined ? undefined : timestampDate(time));
const limit = (duration: Parameters<typeof durationMs>[0] | undefined) => {
  const ms = duration === undefined ? 0 : durationMs(duration);
  return ms === 0 ? undefined : ms;
};

/** A value of another converter or an encrypted one is shown as its payload: it must not hide the rest of a description. */
function show(payload: Payload, converter: PayloadConverter): unknown {
  try {
    return converter.fromPayload(payload);
  } catch {
    return payload;
  }
}

function values(fields: { [key: string]: Payload } | undefined, converter: PayloadConverter): { [key: string]: unknown } {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([key, payload]) => [key, show(payload, converter)]));
}

const utf8 = new TextDecoder();

function searchAttributes(
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
  return {
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
    raw: info,
  };
}

export function toDescription(
  response: DescribeWorkflowExecutionResponse,
  converter: PayloadConverter,
): WorkflowDescription | undefined {
  if (response.workflowExecutionInfo === undefined) return undefined;
  const { executionConfig: config, pendingWorkflowTask: task } = response;
  const summary = toSummary(response.workflowExecutionInfo, converter);
  return {
    ...summary,
    taskQueue: summary.taskQueue || (config?.taskQueue?.name ?? ""),
    cancelRequested: response.workflowExtendedInfo?.cancelRequested ?? false,
    executionTimeoutMs: limit(config?.workflowExecutionTimeout),
    runTimeoutMs: limit(config?.workflowRunTimeout),
    taskTimeoutMs: limit(config?.defaultWorkflowTaskTimeout),
    pendingActivities: response.pendingActivities.map((activity) => ({
      activityId: activity.activityId,
      activityType: activity.activityType?.name ?? "",
      state: enumName(PendingActivityState, activity.state) ?? "UNKNOWN",
      attempt: activity.attempt,
      maximumAttempts: activity.maximumAttempts,
      scheduledTime: date(activity.scheduledTime),
      lastStartedTime: date(activity.lastStartedTime),
      lastHeartbeatTime: date(activity.lastHeartbeatTime),
      heartbeatDetails: activity.heartbeatDetails?.payloads.map((payload) => show(payload, converter))[0],
      lastFailure: activity.lastFailure && fromFailure(activity.lastFailure, converter),
      lastWorkerIdentity: activity.lastWorkerIdentity,
    })),
    pendingWorkflowTask: task && {
      state: enumName(PendingWorkflowTaskState, task.state) ?? "UNKNOWN",
      attempt: task.attempt,
      scheduledTime: date(task.scheduledTime),
      startedTime: date(task.startedTime),
    },
    rawDescription: response,
  };
}
