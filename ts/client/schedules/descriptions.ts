// Schedules as the service describes and lists them, with decoded values.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { enumName } from "../../converter/enums.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import {
  type SearchAttributeValue,
  TypedSearchAttributes,
} from "../../converter/search_attributes.ts";
import { ScheduleOverlapPolicy as WireOverlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { RetryPolicy as WireRetry } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import type {
  ScheduleActionResult,
  ScheduleListEntry,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import type { NewWorkflowExecutionInfo } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import type { DescribeScheduleResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../../messages/well_known.ts";
import { readableValue } from "../context.ts";
import { withJson } from "../description_json.ts";
import { searchAttributes, values, type WorkflowStatus } from "../descriptions.ts";
import type { RetryPolicy } from "../options.ts";
import type { ScheduleAction, ScheduleOverlapPolicy } from "./options.ts";
import { decodeSpec, type ScheduleSpecDescription } from "./spec.ts";

/** A workflow that a schedule has started. */
export interface ScheduleStartedWorkflow {
  readonly workflowId: string;
  /** First run; retries and continue-as-new create others. */
  readonly firstExecutionRunId: string;
}

/** An action of a schedule in the past. */
export interface ScheduleActionTaken {
  /** Time at which it was due. */
  readonly scheduledAt: Date | undefined;
  /** Time at which it ran. */
  readonly takenAt: Date | undefined;
  /** The started workflow; undefined if the service does not report it. */
  readonly workflow: ScheduleStartedWorkflow | undefined;
  /** Status of that workflow, as known to the schedule. */
  readonly status: WorkflowStatus | undefined;
}

/**
 * Action of a schedule as described by the service: can be reused in an update, completely or in
 * part.
 */
export type ScheduleActionDescription = ScheduleAction<string> & {
  /** Prefix of the workflow ids. */
  workflowId: string;
  taskQueue: string;
  /**
   * Arguments, decoded; one that does not decode is shown as its payload. An update with the same
   * array keeps the bytes.
   */
  args: unknown[];
};

/** A described schedule. `handle.update` receives it and may reuse any part. */
export interface ScheduleDescription {
  readonly scheduleId: string;
  /** Times of its actions. */
  readonly spec: ScheduleSpecDescription;
  /** The workflow that it starts. */
  readonly action: ScheduleActionDescription;
  /** Policies of its actions. */
  readonly policies: {
    /** Policy if the previous workflow is still running. */
    readonly overlap: ScheduleOverlapPolicy;
    /** Maximum delay of an action, in milliseconds. */
    readonly catchupWindow: number;
    /** Pause when a workflow fails or times out. */
    readonly pauseOnFailure: boolean;
  };
  /** Whether it is active. */
  readonly state: {
    /** True if it starts no workflows by itself. */
    readonly paused: boolean;
    /** Note, such as the reason of a pause. */
    readonly note?: string;
    /** Remaining actions; undefined: no limit. */
    readonly remainingActions?: number;
  };
  /** Past and future actions. */
  readonly info: {
    /** Latest actions, oldest first. */
    readonly recentActions: readonly ScheduleActionTaken[];
    readonly nextActionTimes: readonly Date[];
    readonly runningActions: readonly ScheduleStartedWorkflow[];
    readonly numActionsTaken: number;
    /** Number of actions left out because they were too late. */
    readonly numActionsMissedCatchupWindow: number;
    /** Number of actions left out because the previous workflow was running. */
    readonly numActionsSkippedOverlap: number;
    /** Time of creation. */
    readonly createdAt: Date | undefined;
    /** Time of the last update. */
    readonly lastUpdatedAt: Date | undefined;
  };
  /** Memo of the schedule, decoded. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes of the schedule, decoded. */
  readonly searchAttributes: { readonly [key: string]: SearchAttributeValue };
  /** Search attributes of the schedule by key. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The message of the service. */
  readonly raw: DescribeScheduleResponse;
}

/** A schedule in a list, which is eventually consistent. */
export interface ScheduleSummary {
  readonly scheduleId: string;
  /** Times of its actions. */
  readonly spec: ScheduleSpecDescription;
  /** Type of the workflows that it starts. */
  readonly workflowType: string;
  /** Whether it is active. */
  readonly state: {
    /** True if it starts no workflows by itself. */
    readonly paused: boolean;
    /** Note, such as the reason of a pause. */
    readonly note?: string;
  };
  /** Past and future actions. */
  readonly info: {
    /** Latest actions, oldest first. */
    readonly recentActions: readonly ScheduleActionTaken[];
    readonly nextActionTimes: readonly Date[];
  };
  /** Memo of the schedule, decoded. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes of the schedule, decoded. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** Search attributes of the schedule by key. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The message of the service. */
  readonly raw: ScheduleListEntry;
}

const date = (
  time: Timestamp | undefined,
) => (time === undefined ? undefined : timestampDate(time));
/** Returns a duration in milliseconds; undefined if not set. */
const ms = (
  duration: Parameters<typeof durationMs>[0] | undefined,
) => (duration === undefined ? 0 : durationMs(duration));

function decodeRetry(policy: WireRetry): RetryPolicy {
  const initialInterval = ms(policy.initialInterval);
  const maximumInterval = ms(policy.maximumInterval);
  return {
    ...(initialInterval > 0 && { initialInterval }),
    ...(maximumInterval > 0 && { maximumInterval }),
    ...(policy.backoffCoefficient > 0 && { backoffCoefficient: policy.backoffCoefficient }),
    ...(policy.maximumAttempts > 0 && { maximumAttempts: policy.maximumAttempts }),
    ...(policy.nonRetryableErrorTypes.length > 0 &&
      { nonRetryableErrorTypes: policy.nonRetryableErrorTypes }),
  };
}

function decodeAction(
  start: NewWorkflowExecutionInfo,
  converter: PayloadConverter,
): ScheduleActionDescription {
  const [executionTimeout, runTimeout, taskTimeout] = [
    start.workflowExecutionTimeout,
    start.workflowRunTimeout,
    start.workflowTaskTimeout,
  ].map(ms) as [number, number, number];
  const { summary, details } = start.userMetadata ?? {};
  const attributes = start.searchAttributes?.indexedFields ?? {};
  return {
    type: "startWorkflow",
    workflowType: start.workflowType?.name ?? "",
    workflowId: start.workflowId,
    taskQueue: start.taskQueue?.name ?? "",
    args: (start.input?.payloads ?? []).map((payload) => readableValue(payload, converter)),
    ...(executionTimeout > 0 && { executionTimeout }),
    ...(runTimeout > 0 && { runTimeout }),
    ...(taskTimeout > 0 && { taskTimeout }),
    ...(start.retryPolicy && { retry: decodeRetry(start.retryPolicy) }),
    ...(start.memo && { memo: values(start.memo.fields, converter) }),
    ...(start.searchAttributes &&
      { searchAttributes: TypedSearchAttributes.fromPayloads(attributes) }),
    ...(summary && { summary: String(readableValue(summary, converter)) }),
    ...(details && { details: String(readableValue(details, converter)) }),
  };
}

const started = (
  { workflowId, runId }: { workflowId: string; runId: string },
): ScheduleStartedWorkflow => ({
  workflowId,
  firstExecutionRunId: runId,
});

const taken = (result: ScheduleActionResult): ScheduleActionTaken => ({
  scheduledAt: date(result.scheduleTime),
  takenAt: date(result.actualTime),
  workflow: result.startWorkflowResult && started(result.startWorkflowResult),
  status: enumName(WorkflowExecutionStatus, result.startWorkflowStatus),
});

export function toScheduleDescription(
  scheduleId: string,
  response: DescribeScheduleResponse,
  start: NewWorkflowExecutionInfo,
  converter: PayloadConverter,
): ScheduleDescription {
  const { spec, policies, state } = response.schedule ?? {};
  const { info } = response;
  const attributes = response.searchAttributes?.indexedFields;
  return withJson<ScheduleDescription>({
    scheduleId,
    spec: decodeSpec(spec),
    action: decodeAction(start, converter),
    policies: {
      overlap: enumName(WireOverlap, policies?.overlapPolicy ?? 0) ?? "SKIP",
      catchupWindow: ms(policies?.catchupWindow),
      pauseOnFailure: policies?.pauseOnFailure ?? false,
    },
    state: {
      paused: state?.paused ?? false,
      ...(state?.notes ? { note: state.notes } : {}),
      ...(state?.limitedActions && { remainingActions: Number(state.remainingActions) }),
    },
    info: {
      recentActions: (info?.recentActions ?? []).map(taken),
      nextActionTimes: (info?.futureActionTimes ?? []).map(timestampDate),
      runningActions: (info?.runningWorkflows ?? []).map(started),
      numActionsTaken: Number(info?.actionCount ?? 0),
      numActionsMissedCatchupWindow: Number(info?.missedCatchupWindow ?? 0),
      numActionsSkippedOverlap: Number(info?.overlapSkipped ?? 0),
      createdAt: date(info?.createTime),
      lastUpdatedAt: date(info?.updateTime),
    },
    memo: values(response.memo?.fields, converter),
    searchAttributes: searchAttributes(attributes, converter) as {
      [key: string]: SearchAttributeValue;
    },
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(attributes ?? {}),
    raw: response,
  });
}

export function toScheduleSummary(
  entry: ScheduleListEntry,
  converter: PayloadConverter,
): ScheduleSummary {
  const { info } = entry;
  const attributes = entry.searchAttributes?.indexedFields;
  return withJson<ScheduleSummary>({
    scheduleId: entry.scheduleId,
    spec: decodeSpec(info?.spec),
    workflowType: info?.workflowType?.name ?? "",
    state: { paused: info?.paused ?? false, ...(info?.notes ? { note: info.notes } : {}) },
    info: {
      recentActions: (info?.recentActions ?? []).map(taken),
      nextActionTimes: (info?.futureActionTimes ?? []).map(timestampDate),
    },
    memo: values(entry.memo?.fields, converter),
    searchAttributes: searchAttributes(attributes, converter),
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(attributes ?? {}),
    raw: entry,
  });
}
