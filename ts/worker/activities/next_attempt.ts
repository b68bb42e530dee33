// The time of the next attempt by the retry policy of a task. For activities the service decides by
// the same rules (core-rs/src/engine/retry.rs), and this is for the log. For local activities this
// decides (local_activity.ts).
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollActivityTaskQueueResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampMs } from "../../messages/well_known.ts";

/** Milliseconds until the next attempt; undefined if this one was the last. */
export function nextAttemptMs(
  task: PollActivityTaskQueueResponse,
  failure: Failure | undefined,
  now: number,
): number | undefined {
  const { retryPolicy: policy, attempt, scheduleToCloseTimeout, scheduledTime } = task;
  if (policy === undefined) return undefined;
  const info = failure?.failureInfo;
  const application = info?.case === "applicationFailureInfo" ? info.value : undefined;
  if (
    application?.nonRetryable || policy.nonRetryableErrorTypes.includes(application?.type ?? "")
  ) return undefined;
  if (policy.maximumAttempts > 0 && Math.max(1, attempt) >= policy.maximumAttempts) {
    return undefined;
  }
  const ms = (
    duration: Parameters<typeof durationMs>[0] | undefined,
  ) => (duration === undefined ? 0 : durationMs(duration));
  const grown = ms(policy.initialInterval) *
    Math.max(1, policy.backoffCoefficient) ** (Math.max(1, attempt) - 1);
  const maximum = ms(policy.maximumInterval);
  const interval = application?.nextRetryDelay === undefined
    ? (maximum > 0 && !(grown <= maximum) ? maximum : grown)
    : ms(application.nextRetryDelay);
  const limit = ms(scheduleToCloseTimeout);
  if (
    limit > 0 && scheduledTime !== undefined && now + interval > timestampMs(scheduledTime) + limit
  ) return undefined;
  return Math.round(interval);
}
