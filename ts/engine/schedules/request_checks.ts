// Limits of what requests say: times, durations, and the number of parts of a spec. Errors name the
// field.
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  Schedule,
  SchedulePatch,
  ScheduleSpec,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { invalid } from "../host_bytes.ts";
import { MAX_DURATION_SECONDS } from "./durations.ts";

const MAX_NOTES_LENGTH = 1000;
/** Calendars, cron strings, intervals and exclusions of a spec. */
const MAX_SPEC_PARTS = 1000;
const END_OF_TIMESTAMPS = Date.UTC(10_000, 0) / 1000;

/** Throws unless a time is absent or from 1970 to 9999. */
export function checkYears(field: string, time: Timestamp | undefined): void {
  if (time === undefined) return;
  const seconds = Number(time.seconds);
  if (seconds >= 0 && seconds < END_OF_TIMESTAMPS) return;
  throw invalid(`${field} must be a time in the years 1970 to 9999, not ${seconds} s`);
}

/** Throws for a duration of more than 10,000 years. */
function checkDuration(field: string, duration: Duration | undefined): void {
  const seconds = Number(duration?.seconds ?? 0n);
  if (Math.abs(seconds) <= MAX_DURATION_SECONDS) return;
  throw invalid(`${field} is ${seconds} s; the limit is ${MAX_DURATION_SECONDS} s`);
}

/** Checks the number of parts of a spec, before they are read. */
export function checkParts(spec: ScheduleSpec | undefined): void {
  if (spec === undefined) return;
  const parts = spec.calendar.length + spec.structuredCalendar.length + spec.cronString.length +
    spec.interval.length + spec.excludeCalendar.length + spec.excludeStructuredCalendar.length;
  if (parts <= MAX_SPEC_PARTS) return;
  throw invalid(
    `Invalid schedule spec: it has ${parts} calendars, cron strings, intervals and exclusions; the limit is ${MAX_SPEC_PARTS}`,
  );
}

/** Checks times and durations of a schedule in canonical form. */
export function checkLimits({ spec, policies }: Schedule): void {
  checkDuration("policies.catchup_window", policies?.catchupWindow);
  if (spec === undefined) return;
  checkYears("spec.start_time", spec.startTime);
  checkYears("spec.end_time", spec.endTime);
  checkDuration("spec.jitter", spec.jitter);
  spec.interval.forEach(({ interval, phase }, i) => {
    checkDuration(`spec.interval[${i}].interval`, interval);
    checkDuration(`spec.interval[${i}].phase`, phase);
  });
}

/** `name`: the field of the request that has the patch. */
export function checkPatch(name: string, patch: SchedulePatch | undefined): void {
  if (patch === undefined) return;
  for (const notes of [patch.pause, patch.unpause]) {
    if (notes.length > MAX_NOTES_LENGTH) throw invalid("Schedule notes exceeds limit.");
  }
  checkYears(
    `${name}.trigger_immediately.scheduled_time`,
    patch.triggerImmediately?.scheduledTime,
  );
  patch.backfillRequest.forEach(({ startTime, endTime }, i) => {
    checkYears(`${name}.backfill_request[${i}].start_time`, startTime);
    checkYears(`${name}.backfill_request[${i}].end_time`, endTime);
  });
}
