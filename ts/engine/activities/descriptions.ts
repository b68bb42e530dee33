// How descriptions and lists show a standalone activity.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActivityExecutionInfo,
  ActivityExecutionListInfoSchema,
} from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import { PendingActivityState } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { withRegisteredTypes } from "../attribute_register.ts";
import { durationOfMs, timestampOfMs } from "../schedules/durations.ts";
import type { AttributeTypes } from "../store.ts";
import { retryIntervalMs } from "./retries.ts";
import { isClosed, isStarted, type LiveActivity } from "./state.ts";

function runState(activity: LiveActivity): PendingActivityState {
  const { isPaused, isCancelRequested } = activity.progress;
  if (isClosed(activity)) return PendingActivityState.UNSPECIFIED;
  if (!isStarted(activity)) {
    return isPaused ? PendingActivityState.PAUSED : PendingActivityState.SCHEDULED;
  }
  if (isCancelRequested) return PendingActivityState.CANCEL_REQUESTED;
  return isPaused ? PendingActivityState.PAUSE_REQUESTED : PendingActivityState.STARTED;
}

/** The description; details that are large only if they are `included`. */
export function describedInfo(
  activity: LiveActivity,
  nowMs: number,
  types: AttributeTypes | undefined,
  included: { readonly heartbeatDetails: boolean; readonly lastFailure: boolean },
): ActivityExecutionInfo {
  const { progress } = activity;
  const info = { ...activity.info };
  info.runState = runState(activity);
  if (info.searchAttributes !== undefined) {
    info.searchAttributes = withRegisteredTypes(info.searchAttributes, types);
  }
  if (!included.heartbeatDetails) delete info.heartbeatDetails;
  if (!included.lastFailure) delete info.lastFailure;
  if (isClosed(activity)) return info;
  const { seconds, nanos } = info.scheduleTime!;
  info.executionDuration = durationOfMs(nowMs - (Number(seconds) * 1000 + nanos / 1e6));
  const maximum = info.retryPolicy!.maximumAttempts;
  if (isStarted(activity)) {
    if (maximum > 0 && info.attempt >= maximum) delete info.currentRetryInterval;
    else {
      info.currentRetryInterval = durationOfMs(retryIntervalMs(info.retryPolicy!, info.attempt));
    }
  } else if (progress.readyMs > nowMs && !progress.isPaused) {
    info.nextAttemptScheduleTime = timestampOfMs(progress.readyMs);
  } else delete info.currentRetryInterval;
  return info;
}

export function listedInfo(
  info: ActivityExecutionInfo,
  types: AttributeTypes | undefined,
): MessageInitShape<typeof ActivityExecutionListInfoSchema> {
  const { activityType, scheduleTime, executionTime, closeTime, searchAttributes } = info;
  return {
    activityId: info.activityId,
    runId: info.runId,
    status: info.status,
    taskQueue: info.taskQueue,
    stateTransitionCount: info.stateTransitionCount,
    stateSizeBytes: info.stateSizeBytes,
    ...(activityType && { activityType }),
    ...(scheduleTime && { scheduleTime }),
    ...(executionTime && { executionTime }),
    ...(closeTime && { closeTime }),
    ...(searchAttributes && { searchAttributes: withRegisteredTypes(searchAttributes, types) }),
    ...(closeTime && info.executionDuration && { executionDuration: info.executionDuration }),
  };
}
