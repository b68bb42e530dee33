// Standalone activities in lists and descriptions, as plain objects with decoded values.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { enumName } from "../../converter/enums.ts";
import type { TemporalFailure } from "../../converter/failures.ts";
import { TypedSearchAttributes } from "../../converter/search_attributes.ts";
import type {
  ActivityExecutionInfo,
  ActivityExecutionListInfo,
} from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import { ActivityExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/activity_pb.ts";
import { PendingActivityState } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { DescribeActivityExecutionResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { timestampDate } from "../../messages/well_known.ts";
import { type ClientContext, errorOfFailure, readableValue } from "../context.ts";
import { withJson } from "../description_json.ts";
import { searchAttributes } from "../descriptions.ts";

/** temporal.api.enums.v1.ActivityExecutionStatus */
export type ActivityStatus =
  | Exclude<keyof typeof ActivityExecutionStatus, "UNSPECIFIED">
  | "UNKNOWN";

/** An activity in a list. */
export interface ActivitySummary {
  readonly id: string;
  readonly runId: string;
  readonly type: string;
  readonly status: ActivityStatus;
  readonly taskQueue: string;
  /** Time of the start call. */
  readonly startTime: Date | undefined;
  /** Time of the end; undefined while the activity is open. */
  readonly closeTime: Date | undefined;
  /** Search attributes, decoded. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** Search attributes by key: `typedSearchAttributes.get(customer)`. */
  readonly typedSearchAttributes: TypedSearchAttributes;
}

/** An activity in detail. */
export interface ActivityDescription extends ActivitySummary {
  /** State of an open activity: waits for a worker, runs, or is to be canceled or paused. */
  readonly state: Exclude<keyof typeof PendingActivityState, "UNSPECIFIED"> | undefined;
  /** From 1. */
  readonly attempt: number;
  /** Start of the last attempt. */
  readonly lastStartedTime: Date | undefined;
  readonly lastHeartbeatTime: Date | undefined;
  /** Details of the last heartbeat, decoded. */
  readonly heartbeatDetails: unknown;
  /** Failure of the last attempt. */
  readonly lastFailure: TemporalFailure | undefined;
  /** Identity of the worker of the last attempt. */
  readonly lastWorkerIdentity: string;
  /** Time of the next attempt, while the activity waits for it. */
  readonly nextAttemptTime: Date | undefined;
  /** Arguments, decoded. */
  readonly args: readonly unknown[];
  /** One line for user interfaces, decoded; undefined without one. */
  readonly summary: unknown;
  /** The message of the service. */
  readonly raw: ActivityExecutionInfo;
}

const date = (time: Timestamp | undefined) => time && timestampDate(time);

function summarize(
  context: ClientContext,
  info: ActivityExecutionInfo | ActivityExecutionListInfo,
): ActivitySummary {
  const fields = info.searchAttributes?.indexedFields ?? {};
  return {
    id: info.activityId,
    runId: info.runId,
    type: info.activityType?.name ?? "",
    status: enumName(ActivityExecutionStatus, info.status) ?? "UNKNOWN",
    taskQueue: info.taskQueue,
    startTime: date(info.scheduleTime),
    closeTime: date(info.closeTime),
    searchAttributes: searchAttributes(fields, context.converter),
    typedSearchAttributes: TypedSearchAttributes.fromPayloads(fields),
  };
}

export const toActivitySummary = (
  context: ClientContext,
  info: ActivityExecutionListInfo,
): ActivitySummary => withJson(summarize(context, info));

/** Returns undefined without the part of the response that describes the activity. */
export function toActivityDescription(
  context: ClientContext,
  { info, input }: DescribeActivityExecutionResponse,
): ActivityDescription | undefined {
  if (info === undefined) return undefined;
  const { converter } = context;
  const summary = info.userMetadata?.summary;
  return withJson<ActivityDescription>({
    ...summarize(context, info),
    state: enumName(PendingActivityState, info.runState),
    attempt: info.attempt,
    lastStartedTime: date(info.lastStartedTime),
    lastHeartbeatTime: date(info.lastHeartbeatTime),
    heartbeatDetails: info.heartbeatDetails?.payloads
      .map((payload) => readableValue(payload, converter))[0],
    lastFailure: info.lastFailure && errorOfFailure(context, info.lastFailure),
    lastWorkerIdentity: info.lastWorkerIdentity,
    nextAttemptTime: date(info.nextAttemptScheduleTime),
    args: (input?.payloads ?? []).map((payload) => readableValue(payload, converter)),
    summary: summary && readableValue(summary, converter),
    raw: info,
  });
}
