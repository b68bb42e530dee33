// Logs activity attempts that timed out: a timeout with a later attempt has no history event, and
// one without a worker has no other log.
import type { TimedOutAttempt } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Logger } from "../base/logger.ts";
import { TimeoutType } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";

const NAMES: { readonly [timeout: number]: string } = {
  [TimeoutType.START_TO_CLOSE]: "startToClose",
  [TimeoutType.SCHEDULE_TO_START]: "scheduleToStart",
  [TimeoutType.SCHEDULE_TO_CLOSE]: "scheduleToClose",
  [TimeoutType.HEARTBEAT]: "heartbeat",
};

/** A timed out attempt of an activity, as `onActivityTimeout` gets it. */
export interface ActivityTimeout {
  /** Id of the workflow that scheduled the activity. */
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly activityId: string;
  readonly activityType: string;
  /** From 1. */
  readonly attempt: number;
  /** The timeout: startToClose, scheduleToStart, scheduleToClose or heartbeat. */
  readonly timeout: string;
  /** Delay until the next attempt, in ms; undefined if the activity is not retried. */
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

/**
 * Calls the listener for each attempt that no worker of this process had; a worker logs its own.
 */
export function reportTimeouts(
  attempts: readonly TimedOutAttempt[],
  options: {
    readonly onActivityTimeout?: ((timeout: ActivityTimeout) => void) | undefined;
    readonly remoteWorkers?: boolean;
  },
  nowMs: number,
): void {
  const { onActivityTimeout, remoteWorkers } = options;
  if (onActivityTimeout === undefined) return;
  for (const attempt of attempts) {
    if (attempt.started && remoteWorkers !== true) continue;
    try {
      onActivityTimeout(activityTimeout(attempt, nowMs));
    } catch {
      // A listener that throws must not count as a failure of the core.
    }
  }
}

/** Returns a listener that logs timed out attempts as workers do. */
export function warnOfTimeouts(logger: Logger): (timeout: ActivityTimeout) => void {
  return ({ nextAttemptMs, ...fields }) =>
    logger.warn("an activity timed out", {
      ...fields,
      nextAttempt: nextAttemptMs === undefined ? "none" : `in ${nextAttemptMs} ms`,
    });
}
