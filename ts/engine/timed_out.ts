// Attempts of activities that came to their time limit, for the log: a timeout that is followed by
// another attempt is no event of the history, and one that no worker has seen has no other log.
import type { TimedOutAttempt } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Logger } from "../base/logger.ts";
import { TimeoutType } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";

const NAMES: { readonly [timeout: number]: string } = {
  [TimeoutType.START_TO_CLOSE]: "startToClose",
  [TimeoutType.SCHEDULE_TO_START]: "scheduleToStart",
  [TimeoutType.SCHEDULE_TO_CLOSE]: "scheduleToClose",
  [TimeoutType.HEARTBEAT]: "heartbeat",
};

/** An attempt of an activity that timed out. */
export interface ActivityTimeout {
  /** Of the workflow that scheduled it. */
  readonly workflowId: string;
  /** Its run. */
  readonly runId: string;
  /** Its type. */
  readonly workflowType: string;
  /** The activity's id in its run. */
  readonly activityId: string;
  /** The name that workers know it by. */
  readonly activityType: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Which limit it came to: startToClose, scheduleToStart, scheduleToClose or heartbeat. */
  readonly timeout: string;
  /** When the next attempt is due, in milliseconds from now; undefined: there is none. */
  readonly nextAttemptMs: number | undefined;
}

export function activityTimeout(attempt: TimedOutAttempt, nowMs: number): ActivityTimeout {
  const { started: _, nextAttemptMs: next, timeout, ...names } = attempt;
  return {
    ...names,
    timeout: NAMES[timeout] ?? String(timeout),
    nextAttemptMs: next === 0 ? undefined : Math.max(0, Math.round(next - nowMs)),
  };
}

/** Calls the listener for each attempt that no worker of this process had; those that one had, that worker logs. */
export function reportTimeouts(
  attempts: readonly TimedOutAttempt[],
  listener: ((timeout: ActivityTimeout) => void) | undefined,
  remoteWorkers: boolean,
  nowMs: number,
): void {
  if (listener === undefined) return;
  for (const attempt of attempts) {
    if (attempt.started && !remoteWorkers) continue;
    try {
      listener(activityTimeout(attempt, nowMs));
    } catch {
      // A listener that fails must not be taken for a failure of the core.
    }
  }
}

/** Listener that warns of timed out attempts as workers do. */
export function warnOfTimeouts(logger: Logger): (timeout: ActivityTimeout) => void {
  return ({ nextAttemptMs, ...fields }) =>
    logger.warn("an activity timed out", {
      ...fields,
      nextAttempt: nextAttemptMs === undefined ? "none" : `in ${nextAttemptMs} ms`,
    });
}
