// Schedules as the service describes and lists them, with decoded values.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { enumName } from "../../converter/enums.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { type SearchAttributeValue, TypedSearchAttributes } from "../../converter/search_attributes.ts";
import { ScheduleOverlapPolicy as WireOverlap } from "../../api/generated/temporal/api/enums/v1/schedule_pb.ts";
import { WorkflowExecutionStatus } from "../../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { RetryPolicy as WireRetry } from "../../api/generated/temporal/api/common/v1/message_pb.ts";
import type { ScheduleActionResult, ScheduleListEntry } from "../../api/generated/temporal/api/schedule/v1/message_pb.ts";
import type { NewWorkflowExecutionInfo } from "../../api/generated/temporal/api/workflow/v1/message_pb.ts";
import type { DescribeScheduleResponse } from "../../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../../api/well_known.ts";
import { readableValue } from "../context.ts";
import { withJson } from "../description_json.ts";
import { searchAttributes, values, type WorkflowStatus } from "../descriptions.ts";
import type { RetryPolicy } from "../options.ts";
import type { ScheduleAction, ScheduleOverlapPolicy } from "./options.ts";
import { decodeSpec, type ScheduleSpecDescription } from "./spec.ts";

/** A workflow that a schedule has started. */
export interface ScheduleStartedWorkflow {
  /** Its id. */
  readonly workflowId: string;
  /** The run that the schedule made; retries and continue-as-new make others. */
  readonly firstExecutionRunId: string;
}

/** An action that a schedule has taken. */
export interface ScheduleActionTaken {
  /** When it was due. */
  readonly scheduledAt: Date | undefined;
  /** When it was taken. */
  readonly takenAt: Date | undefined;
  /** What it started; undefined where the service says nothing. */
  readonly workflow: ScheduleStartedWorkflow | undefined;
  /** How that workflow stands, as far as the schedule has heard. */
  readonly status: WorkflowStatus | undefined;
}

/** The action of a schedule as the service describes it: it can be given back in an update, as a whole or in parts. */
export type ScheduleActionDescription = ScheduleAction<string> & {
  /** Begin of its workflow ids. */
  workflowId: string;
  /** Queue of the workflows. */
  taskQueue: string;
  /** Arguments, decoded; one that does not decode is shown as its payload. An update that takes this very array changes no byte of it. */
  args: unknown[];
};

/** A schedule, as `handle.describe` shows it. `handle.update` is given it, and may take any part of it over. */
export interface ScheduleDescription {
  /** Its id. */
  readonly scheduleId: string;
  /** When it acts. */
  readonly spec: ScheduleSpecDescription;
  /** What it does. */
  readonly action: ScheduleActionDescription;
  /** How it acts. */
  readonly policies: {
    /** When the workflow of the last time is still running. */
    readonly overlap: ScheduleOverlapPolicy;
    /** How late an action may be taken, in milliseconds. */
    readonly catchupWindow: number;
    /** Pause when a workflow fails or times out. */
    readonly pauseOnFailure: boolean;
  };
  /** Whether it acts. */
  readonly state: {
    /** It takes no actions by itself. */
    readonly paused: boolean;
    /** For people, e.g. why it is paused. */
    readonly note?: string;
    /** So many actions more; undefined: no limit. */
    readonly remainingActions?: number;
  };
  /** What it has done, and will do. */
  readonly info: {
    /** The latest actions, older ones first. */
    readonly recentActions: readonly ScheduleActionTaken[];
    /** The next moments at which it acts. */
    readonly nextActionTimes: readonly Date[];
    /** Workflows that it started and that still run. */
    readonly runningActions: readonly ScheduleStartedWorkflow[];
    /** How many actions it has taken. */
    readonly numActionsTaken: number;
    /** How many it left out, because it was too late. */
    readonly numActionsMissedCatchupWindow: number;
    /** How many it left out, because the last workflow was still running. */
    readonly numActionsSkippedOverlap: number;
    /** When it was made. */
    readonly createdAt: Date | undefined;
    /** When it was last updated. */
    readonly lastUpdatedAt: Date | undefined;
  };
  /** Notes of the schedule, decoded. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes of the schedule, decoded. */
  readonly searchAttributes: { readonly [key: string]: SearchAttributeValue };
  /** Search attributes of the schedule, to be asked for by key. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The message that all this was read from. */
  readonly raw: DescribeScheduleResponse;
}

/** A schedule, as `client.schedule.list` shows it. A list lags a moment behind. */
export interface ScheduleSummary {
  /** Its id. */
  readonly scheduleId: string;
  /** When it acts. */
  readonly spec: ScheduleSpecDescription;
  /** Type of the workflows that it starts. */
  readonly workflowType: string;
  /** Whether it acts. */
  readonly state: {
    /** It takes no actions by itself. */
    readonly paused: boolean;
    /** For people, e.g. why it is paused. */
    readonly note?: string;
  };
  /** What it has done, and will do. */
  readonly info: {
    /** The latest actions, older ones first. */
    readonly recentActions: readonly ScheduleActionTaken[];
    /** The next moments at which it acts. */
    readonly nextActionTimes: readonly Date[];
  };
  /** Notes of the schedule, decoded. */
  readonly memo: { readonly [key: string]: unknown };
  /** Search attributes of the schedule, decoded. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** Search attributes of the schedule, to be asked for by key. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The message that all this was read from. */
  readonly raw: ScheduleListEntry;
}

const date = (time: Timestamp | undefined) => (time === undefined ? undefined : timestampDate(time));
/** A duration that is set. */
const ms = (duration: Parameters<typeof durationMs>[0] | undefined) => (duration === undefined ? 0 : durationMs(duration));

function decodeRetry(policy: WireRetry): RetryPolicy {
  const initialInterval = ms(policy.initialInterval);
  const maximumInterval = ms(policy.maximumInterval);
  return {
    ...(initialInterval > 0 && { initialInterval }),
    ...(maximumInterval > 0 && { maximumInterval }),
    ...(policy.backoffCoefficient > 0 && { backoffCoefficient: policy.backoffCoefficient }),
    ...(policy.maximumAttempts > 0 && { maximumAttempts: policy.maximumAttempts }),
    ...(policy.nonRetryableErrorTypes.length > 0 && { nonRetryableErrorTypes: policy.nonRetryableErrorTypes }),
  };
}

function decodeAction(start: NewWorkflowExecutionInfo, converter: PayloadConverter): ScheduleActionDescription {
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
    ...(start.searchAttributes && { searchAttributes: TypedSearchAttributes.fromPayloads(attributes) }),
    ...(summary && { summary: String(readableValue(summary, converter)) }),
    ...(details && { details: String(readableValue(details, converter)) }),
  };
}

const started = ({ workflowId, runId }: { workflowId: string; runId: string }): ScheduleStartedWorkflow => ({
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
    searchAttributes: searchAttributes(attributes, converter) as { [key: string]: SearchAttributeValue },
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(attributes ?? {}),
    raw: response,
  });
}

export function toScheduleSummary(entry: ScheduleListEntry, converter: PayloadConverter): ScheduleSummary {
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
