// The attempts of an activity. The history has only the last one: its start, its end, and the
// failure of the one before. Times of earlier attempts are estimated from the retry policy.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { toShownFailure } from "../values.ts";
import { eventTimeMs, toMilliseconds } from "./event_time.ts";
import { readEventValues } from "./event_values.ts";
import type { Attempt, RunItem } from "./types.ts";

/** Maximum number of attempts that are listed. */
const MOST = 200;

export function estimateAttempts(item: RunItem, events: readonly HistoryEvent[]): Attempt[] {
  if (item.kind !== "activity") return [];
  const own = item.eventIds.map((id) => events[id - 1]!);
  const scheduled = own.find(({ attributes }) =>
    attributes.case === "activityTaskScheduledEventAttributes"
  );
  if (scheduled?.attributes.case !== "activityTaskScheduledEventAttributes") return [];
  const started = own.find(({ attributes }) =>
    attributes.case === "activityTaskStartedEventAttributes"
  );
  const scheduledMs = eventTimeMs(scheduled);
  const startedAt = started?.attributes.case === "activityTaskStartedEventAttributes"
    ? started.attributes.value
    : undefined;
  // Servers record the start of an activity when it has ended. Without that event it is pending,
  // running or being retried.
  if (startedAt === undefined) return [];
  const last = Math.max(1, startedAt.attempt);
  const closing = item.closedBy === undefined ? undefined : events[item.closedBy - 1]!;
  const failure = closing === undefined ? undefined : readEventValues(closing).failure;
  const backoffs = computeBackoffs(scheduled, last);
  const attempts: Attempt[] = [];
  const from = Math.max(1, last - MOST + 1);
  let at = scheduledMs;
  const waited = backoffs.reduce((sum, ms) => sum + ms, 0);
  const startMs = eventTimeMs(started!);
  // Time that was not spent in backoff was spent in attempts, in equal parts.
  const each = startMs === undefined || scheduledMs === undefined || last === 1
    ? 0
    : Math.max(0, (startMs - scheduledMs - waited) / (last - 1));
  for (let number = 1; number < last; number++) {
    const backoffMs = backoffs[number - 1]!;
    const start = at === undefined ? undefined : at + backoffMs;
    at = start === undefined ? undefined : start + each;
    if (number < from) continue;
    const before = number === last - 1 ? startedAt.lastFailure : undefined;
    attempts.push({
      number,
      startMs: start,
      endMs: at,
      about: true,
      backoffMs,
      failure: before === undefined ? undefined : toShownFailure(before),
    });
  }
  attempts.push({
    number: last,
    startMs,
    endMs: item.endMs,
    about: false,
    backoffMs: backoffs[last - 1] ?? 0,
    failure: failure === undefined ? undefined : toShownFailure(failure),
  });
  return attempts;
}

/** Returns the backoff before each attempt in milliseconds; 0 for the first. */
function computeBackoffs({ attributes }: HistoryEvent, count: number): number[] {
  const policy = attributes.case === "activityTaskScheduledEventAttributes"
    ? attributes.value.retryPolicy
    : undefined;
  const initial = toMilliseconds(policy?.initialInterval) ?? 1000;
  const coefficient = policy?.backoffCoefficient || 2;
  const most = toMilliseconds(policy?.maximumInterval) ?? initial * 100;
  return Array.from(
    { length: count },
    (_, i) => i === 0 ? 0 : Math.min(most || Infinity, initial * coefficient ** (i - 1)),
  );
}
