// The steps of one standalone activity: attempts, timeouts, cancellation, pauses. They follow the
// activities of workflows (core-rs/src/engine/activity.rs); an outcome takes the place of events.
import { create } from "@bufbuild/protobuf";
import { ActivityExecutionOutcomeSchema } from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import type { Payloads } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { ActivityExecutionStatus as Status } from "../../messages/generated/temporal/api/enums/v1/activity_pb.ts";
import {
  RetryState,
  TimeoutType,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { durationMsOrZero, durationOfMs, timestampOfMs } from "../schedules/durations.ts";
import { isRetryable, type NextAttempt, nextAttempt } from "./retries.ts";
import { isClosed, isStarted, type LiveActivity } from "./state.ts";

const SOURCE = "Server";

/** What happens at the deadline of an activity. */
type Due = "ready" | TimeoutType;

/** Returns the next deadline; of two at the same time the first counts. */
function nextDue(activity: LiveActivity): { atMs: number; due: Due } | undefined {
  const { info, progress } = activity;
  let best: { atMs: number; due: Due } | undefined;
  const consider = (atMs: number, due: Due) => {
    if (best === undefined || atMs < best.atMs) best = { atMs, due };
  };
  const expires = () => {
    if (progress.expirationMs > 0) consider(progress.expirationMs, TimeoutType.SCHEDULE_TO_CLOSE);
  };
  if (isClosed(activity)) return undefined;
  if (isStarted(activity)) {
    expires();
    const closeMs = durationMsOrZero(info.startToCloseTimeout);
    if (closeMs > 0) consider(progress.startedMs + closeMs, TimeoutType.START_TO_CLOSE);
    const heartbeatMs = durationMsOrZero(info.heartbeatTimeout);
    if (heartbeatMs > 0) {
      const lastMs = Math.max(progress.startedMs, progress.heartbeatMs);
      consider(lastMs + heartbeatMs, TimeoutType.HEARTBEAT);
    }
    return best;
  }
  if (!progress.isPaused) {
    if (activity.queued === undefined) consider(progress.readyMs, "ready");
    const waitMs = durationMsOrZero(info.scheduleToStartTimeout);
    if (waitMs > 0) consider(progress.readyMs + waitMs, TimeoutType.SCHEDULE_TO_START);
  }
  expires();
  return best;
}

export function activityDeadlineMs(activity: LiveActivity): number {
  return nextDue(activity)?.atMs ?? Infinity;
}

/** Handles what is due. Returns false if the activity only became ready. */
export function expire(activity: LiveActivity, nowMs: number): boolean {
  const next = nextDue(activity);
  if (next === undefined || next.atMs > nowMs || next.due === "ready") return false;
  const kind = next.due;
  const name = TIMEOUTS[kind] ?? "";
  const failure = timeoutFailure(`activity ${name} timeout`, kind);
  const retry = retryAfter(activity, failure, nowMs);
  if (typeof retry === "object") startNext(activity, retry, failure, nowMs);
  else if (retry === RetryState.TIMEOUT && kind !== TimeoutType.SCHEDULE_TO_START) {
    const message =
      "Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying";
    timeOut(activity, timeoutFailure(message, TimeoutType.SCHEDULE_TO_CLOSE), retry, nowMs);
  } else timeOut(activity, failure, retry, nowMs);
  return true;
}

const TIMEOUTS: { readonly [type: number]: string } = {
  [TimeoutType.START_TO_CLOSE]: "StartToClose",
  [TimeoutType.SCHEDULE_TO_START]: "ScheduleToStart",
  [TimeoutType.SCHEDULE_TO_CLOSE]: "ScheduleToClose",
  [TimeoutType.HEARTBEAT]: "Heartbeat",
};

function timeoutFailure(message: string, timeoutType: TimeoutType): Failure {
  return create(FailureSchema, {
    message,
    source: SOURCE,
    failureInfo: { case: "timeoutFailureInfo", value: { timeoutType } },
  });
}

/** A failure that the server makes for a report that is too large. */
export function serverFailure(message: string): Failure {
  return create(FailureSchema, {
    message,
    source: SOURCE,
    failureInfo: { case: "serverFailureInfo", value: { nonRetryable: true } },
  });
}

/** The worker of the attempt is gone: another attempt follows at once while attempts are left. */
export function loseAttempt(activity: LiveActivity, nowMs: number): void {
  const { info, progress } = activity;
  const failure = timeoutFailure(
    "activity StartToClose timeout: the worker's process ended",
    TimeoutType.START_TO_CLOSE,
  );
  const maximum = info.retryPolicy?.maximumAttempts ?? 0;
  const areLeft = maximum === 0 || info.attempt < maximum;
  const isExpired = progress.expirationMs > 0 && nowMs >= progress.expirationMs;
  if (areLeft && !isExpired && !progress.isCancelRequested) {
    return startNext(activity, { atMs: nowMs, intervalMs: 0 }, failure, nowMs);
  }
  const state = progress.isCancelRequested
    ? RetryState.CANCEL_REQUESTED
    : areLeft
    ? RetryState.TIMEOUT
    : RetryState.MAXIMUM_ATTEMPTS_REACHED;
  timeOut(activity, failure, state, nowMs);
}

function retryAfter(
  { info, progress }: LiveActivity,
  failure: Failure,
  nowMs: number,
): NextAttempt | RetryState {
  const policy = info.retryPolicy!;
  if (progress.isCancelRequested) return RetryState.CANCEL_REQUESTED;
  if (progress.isPaused && isRetryable(failure, policy.nonRetryableErrorTypes)) {
    // Attempts are not counted against the limit until the activity continues.
    return { atMs: nowMs, intervalMs: 0 };
  }
  const { expirationMs } = progress;
  return nextAttempt(policy, info.attempt, failure, { nowMs, expirationMs });
}

/** Back to waiting, for the next attempt. */
function startNext(
  { info, progress }: LiveActivity,
  { atMs, intervalMs }: NextAttempt,
  failure: Failure,
  nowMs: number,
): void {
  info.attempt++;
  info.lastFailure = failure;
  info.lastAttemptCompleteTime = timestampOfMs(nowMs);
  info.currentRetryInterval = durationOfMs(intervalMs);
  progress.readyMs = atMs;
  forgetAttempt(progress);
  if (progress.resetsHeartbeat) delete info.heartbeatDetails;
  progress.resetsHeartbeat = false;
  progress.wasReset = false;
}

function forgetAttempt(progress: LiveActivity["progress"]): void {
  progress.startedMs = 0;
  progress.heartbeatMs = 0;
  progress.nonce = "";
}

/** The attempt did not reach a worker: it waits again. */
export function takeBackAttempt({ progress }: LiveActivity): void {
  forgetAttempt(progress);
}

/** A worker gets the attempt. */
export function startAttempt(
  { info, progress }: LiveActivity,
  { identity, nonce, nowMs }: {
    readonly identity: string;
    readonly nonce: string;
    readonly nowMs: number;
  },
): void {
  info.lastWorkerIdentity = identity;
  info.lastStartedTime = timestampOfMs(nowMs);
  progress.startedMs = nowMs;
  progress.heartbeatMs = 0;
  progress.nonce = nonce;
}

// --------------------------------------------------------------------------------------- the ends

function close(activity: LiveActivity, status: Status, nowMs: number): void {
  const { info, progress } = activity;
  info.status = status;
  info.closeTime = timestampOfMs(nowMs);
  info.executionDuration = durationOfMs(nowMs - startMs(activity));
  delete info.currentRetryInterval;
  forgetAttempt(progress);
}

function startMs({ info }: LiveActivity): number {
  const { seconds, nanos } = info.scheduleTime!;
  return Number(seconds) * 1000 + nanos / 1e6;
}

function fail(
  activity: LiveActivity,
  status: Status,
  failure: Failure,
  retryState: RetryState,
  nowMs: number,
): void {
  activity.outcome = create(ActivityExecutionOutcomeSchema, {
    value: { case: "failure", value: failure },
    retryState,
  });
  close(activity, status, nowMs);
}

function timeOut(
  activity: LiveActivity,
  failure: Failure,
  retryState: RetryState,
  nowMs: number,
): void {
  const { info } = activity;
  const { failureInfo } = failure;
  if (failureInfo.case === "timeoutFailureInfo" && info.heartbeatDetails !== undefined) {
    failureInfo.value.lastHeartbeatDetails = info.heartbeatDetails;
  }
  if (info.lastFailure !== undefined) failure.cause = info.lastFailure;
  if (isStarted(activity)) info.lastAttemptCompleteTime = timestampOfMs(nowMs);
  fail(activity, Status.TIMED_OUT, failure, retryState, nowMs);
}

export function complete(
  activity: LiveActivity,
  result: Payloads | undefined,
  nowMs: number,
): void {
  activity.info.lastAttemptCompleteTime = timestampOfMs(nowMs);
  activity.outcome = create(ActivityExecutionOutcomeSchema, {
    value: {
      case: "result",
      value: result ?? { $typeName: "temporal.api.common.v1.Payloads", payloads: [] },
    },
  });
  close(activity, Status.COMPLETED, nowMs);
}

/** The attempt has failed: another one follows, or the activity ends. */
export function failAttempt(activity: LiveActivity, failure: Failure, nowMs: number): void {
  const retry = retryAfter(activity, failure, nowMs);
  if (typeof retry === "object") return startNext(activity, retry, failure, nowMs);
  const { info } = activity;
  info.lastFailure = failure;
  info.lastAttemptCompleteTime = timestampOfMs(nowMs);
  fail(activity, Status.FAILED, failure, retry, nowMs);
}

export function cancel(
  activity: LiveActivity,
  details: Payloads | undefined,
  identity: string,
  nowMs: number,
): void {
  const failure = create(FailureSchema, {
    message: "Activity canceled",
    source: SOURCE,
    failureInfo: {
      case: "canceledFailureInfo",
      value: { ...(details !== undefined && { details }), identity },
    },
  });
  if (isStarted(activity)) activity.info.lastAttemptCompleteTime = timestampOfMs(nowMs);
  fail(activity, Status.CANCELED, failure, RetryState.CANCEL_REQUESTED, nowMs);
}

/** An attempt that a worker has learns of it by its heartbeat; otherwise the activity ends at once. */
export function requestCancel(
  activity: LiveActivity,
  reason: string,
  identity: string,
  nowMs: number,
): void {
  const { info, progress } = activity;
  info.canceledReason = reason;
  if (!isStarted(activity)) return cancel(activity, undefined, identity, nowMs);
  progress.isCancelRequested = true;
}

export function terminate(
  activity: LiveActivity,
  reason: string,
  identity: string,
  nowMs: number,
): void {
  const failure = create(FailureSchema, {
    message: reason,
    source: SOURCE,
    failureInfo: { case: "terminatedFailureInfo", value: { identity } },
  });
  fail(activity, Status.TERMINATED, failure, RetryState.UNSPECIFIED, nowMs);
}

// ------------------------------------------------------------------------------ what operators ask

export function pause({ info, progress }: LiveActivity): void {
  progress.isPaused = true;
  info.status = Status.PAUSED;
}

/** An attempt that no worker has starts at `atMs`; a delay of the first attempt stays. */
export function unpause(activity: LiveActivity, atMs: number): void {
  const { info, progress } = activity;
  progress.isPaused = false;
  info.status = Status.RUNNING;
  if (isStarted(activity)) return;
  progress.readyMs = info.attempt === 1 ? Math.max(atMs, progress.readyMs) : atMs;
}

export function reset(
  activity: LiveActivity,
  { keepPaused, resetHeartbeat, atMs }: {
    readonly keepPaused: boolean;
    readonly resetHeartbeat: boolean;
    readonly atMs: number;
  },
): void {
  const { info, progress } = activity;
  info.attempt = 1;
  if (isStarted(activity)) {
    progress.wasReset = true;
    progress.resetsHeartbeat ||= resetHeartbeat;
    return;
  }
  delete info.lastFailure;
  delete info.currentRetryInterval;
  if (resetHeartbeat) delete info.heartbeatDetails;
  if (progress.isPaused && keepPaused) return;
  progress.isPaused = false;
  info.status = Status.RUNNING;
  progress.readyMs = atMs;
}
