// The form in which a schedule's spec is stored, as on servers: calendars and cron strings become
// structured calendars and intervals.
import { clone, create } from "@bufbuild/protobuf";
import {
  type CalendarSpec,
  type IntervalSpec,
  IntervalSpecSchema,
  type Range,
  type ScheduleSpec,
  ScheduleSpecSchema,
  type StructuredCalendarSpec,
  StructuredCalendarSpecSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import {
  durationMsOrZero,
  durationOfMs,
  MAX_DURATION_SECONDS,
  parseGoDuration,
} from "./durations.ts";
import { MAX_YEAR, MIN_YEAR, parseRanges } from "./ranges.ts";

const MAX_COMMENT_LENGTH = 200;
const TIME_ZONES_DIFFER = "conflicting timezone names";

/** The meaning of a cron string. */
interface CronString {
  readonly calendar?: StructuredCalendarSpec;
  readonly interval?: IntervalSpec;
  readonly zone: string;
}

const PREDEFINED: { readonly [name: string]: string } = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Returns the canonical form of a spec. Throws an Error that says what is invalid. */
export function canonicalSpec(given: ScheduleSpec): ScheduleSpec {
  const spec = clone(ScheduleSpecSchema, given);
  if (spec.timezoneData.length > 0) {
    throw new Error("timezone_data is not supported by this engine; use timezone_name");
  }
  spec.structuredCalendar.push(...spec.calendar.map(structured));
  spec.calendar = [];
  spec.excludeStructuredCalendar.push(...spec.excludeCalendar.map(structured));
  spec.excludeCalendar = [];
  const crons = spec.cronString.map(parseCronString);
  spec.cronString = [];
  for (const { calendar, interval, zone } of crons) {
    if (zone !== crons[0]!.zone) throw new Error(TIME_ZONES_DIFFER);
    if (calendar !== undefined) spec.structuredCalendar.push(calendar);
    if (interval !== undefined) spec.interval.push(interval);
  }
  const zone = crons[0]?.zone ?? "";
  if (zone !== "") {
    if (spec.timezoneName !== "" && spec.timezoneName !== zone) throw new Error(TIME_ZONES_DIFFER);
    spec.timezoneName = zone;
  }
  spec.structuredCalendar.forEach(checkCalendar);
  spec.excludeStructuredCalendar.forEach(checkCalendar);
  spec.interval.forEach(checkInterval);
  return spec;
}

/** Fills the defaults of ranges, for descriptions. */
export function fillRanges(spec: ScheduleSpec): void {
  for (const calendar of [...spec.structuredCalendar, ...spec.excludeStructuredCalendar]) {
    for (const [, ranges] of fieldsOf(calendar)) {
      for (const range of ranges) {
        if (range.end < range.start) range.end = range.start;
        if (range.step === 0) range.step = 1;
      }
    }
  }
}

function structured(calendar: CalendarSpec): StructuredCalendarSpec {
  const errors: string[] = [];
  const ranges = (text: string, name: Parameters<typeof parseRanges>[1]) => {
    try {
      return parseRanges(text, name);
    } catch (error) {
      errors.push((error as Error).message);
      return [];
    }
  };
  const made = create(StructuredCalendarSpecSchema, {
    second: ranges(calendar.second, "Second"),
    minute: ranges(calendar.minute, "Minute"),
    hour: ranges(calendar.hour, "Hour"),
    dayOfWeek: ranges(calendar.dayOfWeek, "DayOfWeek"),
    dayOfMonth: ranges(calendar.dayOfMonth, "DayOfMonth"),
    month: ranges(calendar.month, "Month"),
    year: ranges(calendar.year, "Year"),
    comment: calendar.comment,
  });
  if (errors.length > 0) throw new Error(errors.join(", "));
  return made;
}

/** Splits "CRON_TZ=Zone fields" or "TZ=Zone fields"; the zone is "" if absent. */
export function splitCronZone(text: string): { readonly zone: string; readonly rest: string } {
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(text) ?? [];
  if (zone === undefined || rest === undefined) return { zone: "", rest: text };
  if (rest.trim() === "") throw new Error("CronString has time zone but missing fields");
  return { zone, rest };
}

function parseCronString(text: string): CronString {
  const { zone, rest } = splitCronZone(text.trim());
  const [before, ...after] = rest.split("#");
  const cron = before!.trim();
  if (cron.startsWith("@every")) return { interval: parseEvery(cron), zone: "" };
  const fields = (PREDEFINED[cron] ?? cron).split(/\s+/).filter((field) => field !== "");
  if (fields.length < 5 || fields.length > 7) {
    throw new Error("CronString does not have 5-7 fields");
  }
  const [second, rest5] = fields.length === 7 ? [fields[0]!, fields.slice(1)] : ["", fields];
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", year = ""] = rest5;
  const comment = after.join("#").trim();
  return {
    calendar: structured(
      {
        second,
        minute,
        hour,
        dayOfMonth,
        month,
        dayOfWeek,
        year,
        comment,
      } as CalendarSpec,
    ),
    zone,
  };
}

function parseEvery(cron: string): IntervalSpec {
  const [, text] = /^@every +(.*)$/.exec(cron) ?? [];
  if (text === undefined) throw new Error("CronString does not have interval after @every");
  const [interval, phase] = text.split("/", 2).map((part) => {
    const ms = parseGoDuration(part);
    if (ms === undefined) throw new Error(`invalid duration "${part}" in CronString ${cron}`);
    if (Math.abs(ms) > MAX_DURATION_SECONDS * 1000) {
      throw new Error(
        `duration "${part}" in CronString ${cron} is longer than ${MAX_DURATION_SECONDS} s`,
      );
    }
    return durationOfMs(ms);
  });
  return create(IntervalSpecSchema, { interval: interval!, ...(phase !== undefined && { phase }) });
}

function fieldsOf(
  calendar: StructuredCalendarSpec,
): readonly (readonly [name: string, ranges: Range[], min: number, max: number])[] {
  return [
    ["Second", calendar.second, 0, 59],
    ["Minute", calendar.minute, 0, 59],
    ["Hour", calendar.hour, 0, 23],
    ["DayOfMonth", calendar.dayOfMonth, 1, 31],
    ["Month", calendar.month, 1, 12],
    ["Year", calendar.year, MIN_YEAR, MAX_YEAR],
    ["DayOfWeek", calendar.dayOfWeek, 0, 6],
  ];
}

function checkCalendar(calendar: StructuredCalendarSpec): void {
  const errors: string[] = [];
  for (const [name, ranges, min, max] of fieldsOf(calendar)) {
    for (const { start, end, step } of ranges) {
      if (start < min || start > max) {
        errors.push(`${name} Start is not in range [${min}-${max}]`);
      }
      if (end !== 0 && (end < start || end > max)) {
        errors.push(`${name} End is before Start or not in range [${min}-${max}]`);
      }
      if (step < 0) errors.push(`${name} has invalid Step`);
    }
  }
  if (new TextEncoder().encode(calendar.comment).length > MAX_COMMENT_LENGTH) {
    errors.push("comment is too long");
  }
  if (errors.length > 0) throw new Error(`invalid calendar spec: ${errors.join(", ")}`);
}

function checkInterval({ interval, phase }: IntervalSpec): void {
  const every = durationMsOrZero(interval);
  const offset = durationMsOrZero(phase);
  if (every < 1000) throw new Error("interval is too small");
  if (offset < 0) throw new Error("phase is negative");
  if (offset >= every) throw new Error("phase cannot be greater than Interval");
}
