// When a schedule acts: calendars, intervals and cron expressions as people write them, and as the service takes and gives them.
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, toMs } from "../../converter/duration.ts";
import type {
  Range as WireRange,
  ScheduleSpec as WireSpec,
  ScheduleSpecSchema,
  StructuredCalendarSpec,
} from "../../api/generated/temporal/api/schedule/v1/message_pb.ts";
import { durationFromMs, durationMs, timestampDate, timestampFromDate } from "../../api/well_known.ts";

const MONTHS = [
  "JANUARY",
  "FEBRUARY",
  "MARCH",
  "APRIL",
  "MAY",
  "JUNE",
  "JULY",
  "AUGUST",
  "SEPTEMBER",
  "OCTOBER",
  "NOVEMBER",
  "DECEMBER",
] as const;
const DAYS_OF_WEEK = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"] as const;

/** A month by its English name. */
export type Month = typeof MONTHS[number];
/** A day of the week by its English name. */
export type DayOfWeek = typeof DAYS_OF_WEEK[number];

/** Values from `start` to `end`, both included, each `step`-th one. */
export interface ScheduleRange<Unit> {
  /** The first value. */
  start: Unit;
  /** The last value. Default: `start`. */
  end?: Unit;
  /** Distance between values. Default: 1. */
  step?: number;
}

/** One value, or a range of them. */
export type LooseRange<Unit> = Unit | ScheduleRange<Unit>;
/** Which values of a calendar's field match: some, or "*" for all. */
export type CalendarField<Unit> = LooseRange<Unit> | readonly LooseRange<Unit>[] | "*";

/** Moments by the calendar: those at which every field matches. */
export interface CalendarSpec {
  /** 0 to 59. Default: 0. */
  second?: CalendarField<number>;
  /** 0 to 59. Default: 0. */
  minute?: CalendarField<number>;
  /** 0 to 23. Default: 0. */
  hour?: CalendarField<number>;
  /** 1 to 31. Default: all. */
  dayOfMonth?: CalendarField<number>;
  /** Default: all. */
  month?: CalendarField<Month>;
  /** Such as 2030. Default: all. */
  year?: CalendarField<number>;
  /** Default: all. */
  dayOfWeek?: CalendarField<DayOfWeek>;
  /** What is meant by it. */
  comment?: string;
}

/** Moments at equal distances, counted from the Unix epoch. */
export interface IntervalSpec {
  /** The distance, in whole seconds. */
  every: Duration;
  /** Shifts all of them, less than `every`. Default: 0. */
  offset?: Duration;
}

/** When a schedule acts: at all moments that a calendar, an interval or a cron expression names, but for those that are skipped. */
export interface ScheduleSpec {
  /** Moments by the calendar. */
  calendars?: readonly CalendarSpec[];
  /** Moments at equal distances. */
  intervals?: readonly IntervalSpec[];
  /**
   * Cron expressions of five to seven fields ("0 12 * * MON-FRI"), "@daily" and the like, "@every 90m". The service turns them into
   * calendars and intervals; as such they come back.
   */
  cronExpressions?: readonly string[];
  /** Moments at which nothing is done. All fields must match, seconds too. */
  skip?: readonly CalendarSpec[];
  /** Nothing is done before. */
  startAt?: Date;
  /** Nothing is done after. */
  endAt?: Date;
  /** Each moment is put off by a random time of at most this. */
  jitter?: Duration;
  /** Time zone of calendars and cron expressions, such as "Europe/Berlin". Default: UTC. */
  timezone?: string;
}

/** A calendar as the service describes it: every field as ranges. */
export interface CalendarSpecDescription {
  /** 0 to 59. */
  second: Required<ScheduleRange<number>>[];
  /** 0 to 59. */
  minute: Required<ScheduleRange<number>>[];
  /** 0 to 23. */
  hour: Required<ScheduleRange<number>>[];
  /** 1 to 31. */
  dayOfMonth: Required<ScheduleRange<number>>[];
  /** By their names. */
  month: Required<ScheduleRange<Month>>[];
  /** Empty: all. */
  year: Required<ScheduleRange<number>>[];
  /** By their names. */
  dayOfWeek: Required<ScheduleRange<DayOfWeek>>[];
  /** What is meant by it. */
  comment?: string;
}

/** A spec as the service describes it. It is a {@link ScheduleSpec}, too: an update may take it over. */
export interface ScheduleSpecDescription extends ScheduleSpec {
  /** Moments by the calendar. */
  calendars: CalendarSpecDescription[];
  /** Moments at equal distances, in milliseconds. */
  intervals: { every: number; offset: number }[];
  /** Moments at which nothing is done. */
  skip: CalendarSpecDescription[];
  /** Milliseconds. */
  jitter?: number;
}

interface Field {
  readonly name: Exclude<keyof CalendarSpec, "comment">;
  readonly min: number;
  readonly max: number;
  /** Matches when nothing is said: 0, or all. */
  readonly all: boolean;
  /** Names of values, from `min`. */
  readonly names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: "second", min: 0, max: 59, all: false },
  { name: "minute", min: 0, max: 59, all: false },
  { name: "hour", min: 0, max: 23, all: false },
  { name: "dayOfMonth", min: 1, max: 31, all: true },
  { name: "month", min: 1, max: 12, all: true, names: MONTHS },
  { name: "year", min: 1970, max: 9999, all: true },
  { name: "dayOfWeek", min: 0, max: 6, all: true, names: DAYS_OF_WEEK },
];

const RANGE: OptionNames<ScheduleRange<number>> = { start: 1, end: 1, step: 1 };
const CALENDAR: OptionNames<CalendarSpec> = {
  ...{ second: 1, minute: 1, hour: 1, dayOfMonth: 1, month: 1, year: 1, dayOfWeek: 1, comment: 1 },
};
const INTERVAL: OptionNames<IntervalSpec> = { every: 1, offset: 1 };
const SPEC: OptionNames<ScheduleSpec> = {
  ...{ calendars: 1, intervals: 1, cronExpressions: 1, skip: 1, startAt: 1, endAt: 1, jitter: 1, timezone: 1 },
};

function encodeValue(value: unknown, { min, max, names }: Field, where: string): number {
  if (names !== undefined) {
    const at = names.indexOf(String(value).toUpperCase());
    if (at >= 0) return min + at;
    throw new TypeError(`${where} must be one of ${names.join(", ")}, not ${JSON.stringify(value)}`);
  }
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${where} must be an integer from ${min} to ${max}, not ${JSON.stringify(value)}`);
}

function encodeRange(range: unknown, field: Field, where: string) {
  if (typeof range !== "object" || range === null) {
    const start = encodeValue(range, field, where);
    return { start, end: start, step: 1 };
  }
  rejectUnknownOptions(where, range, RANGE);
  const { start: from, end: to = from, step = 1 } = range as ScheduleRange<unknown>;
  const start = encodeValue(from, field, `${where}.start`);
  const end = encodeValue(to, field, `${where}.end`);
  if (end < start) throw new TypeError(`${where} ends at ${String(to)}, before its start ${String(from)}; write two ranges`);
  if (!Number.isInteger(step) || step < 1) throw new TypeError(`${where}.step must be an integer of at least 1, not ${step}`);
  return { start, end, step };
}

function encodeField(value: unknown, field: Field, where: string) {
  if (value === undefined || value === "*") {
    if (value === undefined && !field.all) return [{ start: 0, end: 0, step: 1 }];
    // The service takes no years for all years.
    return field.name === "year" ? [] : [{ start: field.min, end: field.max, step: 1 }];
  }
  if (!Array.isArray(value)) return [encodeRange(value, field, where)];
  // Nothing at all, where a description has it: all years.
  if (value.length === 0 && field.name !== "year") {
    throw new TypeError(`${where} is an empty array, which matches nothing; use "*" to match all`);
  }
  return value.map((range, i) => encodeRange(range, field, `${where}[${i}]`));
}

function encodeCalendar(calendar: CalendarSpec, where: string) {
  rejectUnknownOptions(where, calendar, CALENDAR);
  const fields = FIELDS.map((field) => [field.name, encodeField(calendar[field.name], field, `${where}.${field.name}`)]);
  return { ...Object.fromEntries(fields), comment: calendar.comment ?? "" } as MessageInitShape<
    typeof import("../../api/generated/temporal/api/schedule/v1/message_pb.ts").StructuredCalendarSpecSchema
  >;
}

function encodeInterval(interval: IntervalSpec, where: string) {
  rejectUnknownOptions(where, interval, INTERVAL);
  const { every, offset = 0 } = interval;
  const [everyMs, offsetMs] = [toMs(every), toMs(offset)];
  if (everyMs < 1000) throw new TypeError(`${where}.every must be at least 1 second, not ${every}`);
  if (offsetMs >= everyMs) throw new TypeError(`${where}.offset (${offset}) must be less than \`every\` (${every})`);
  return { interval: durationFromMs(everyMs), phase: durationFromMs(offsetMs) };
}

function encodeDate(date: Date | undefined, where: string) {
  if (date === undefined) return undefined;
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) throw new TypeError(`${where} is not a valid Date`);
  return timestampFromDate(date);
}

/** The message of a spec. Throws a TypeError that names the field at fault. */
export function encodeSpec(spec: ScheduleSpec): MessageInitShape<typeof ScheduleSpecSchema> {
  if (typeof spec !== "object" || spec === null) throw new TypeError("a schedule needs a spec with the times of its actions");
  rejectUnknownOptions("spec", spec, SPEC);
  const { startAt, endAt } = spec;
  if (startAt !== undefined && endAt !== undefined && endAt < startAt) {
    throw new TypeError("spec.endAt must not be before spec.startAt");
  }
  return {
    structuredCalendar: (spec.calendars ?? []).map((calendar, i) => encodeCalendar(calendar, `spec.calendars[${i}]`)),
    interval: (spec.intervals ?? []).map((interval, i) => encodeInterval(interval, `spec.intervals[${i}]`)),
    cronString: [...spec.cronExpressions ?? []],
    excludeStructuredCalendar: (spec.skip ?? []).map((calendar, i) => encodeCalendar(calendar, `spec.skip[${i}]`)),
    startTime: encodeDate(startAt, "spec.startAt"),
    endTime: encodeDate(endAt, "spec.endAt"),
    ...(spec.jitter !== undefined && { jitter: durationFromMs(toMs(spec.jitter)) }),
    timezoneName: spec.timezone ?? "",
  };
}

function decodeRanges<Unit>(ranges: readonly WireRange[], { min, names }: Field): Required<ScheduleRange<Unit>>[] {
  const value = (number: number) => (names === undefined ? number : names[number - min] ?? number) as Unit;
  return ranges.map(({ start, end, step }) => ({
    start: value(start),
    end: value(Math.max(start, end)),
    step: Math.max(1, step),
  }));
}

function decodeCalendar(calendar: StructuredCalendarSpec): CalendarSpecDescription {
  const fields = FIELDS.map((field) => [field.name, decodeRanges(calendar[field.name], field)]);
  return { ...Object.fromEntries(fields), ...(calendar.comment !== "" && { comment: calendar.comment }) };
}

/** A spec as the service describes it. */
export function decodeSpec(spec: WireSpec | undefined): ScheduleSpecDescription {
  return {
    calendars: (spec?.structuredCalendar ?? []).map(decodeCalendar),
    intervals: (spec?.interval ?? []).map(({ interval, phase }) => ({
      every: interval === undefined ? 0 : durationMs(interval),
      offset: phase === undefined ? 0 : durationMs(phase),
    })),
    skip: (spec?.excludeStructuredCalendar ?? []).map(decodeCalendar),
    ...(spec?.cronString.length ? { cronExpressions: spec.cronString } : {}),
    ...(spec?.startTime && { startAt: timestampDate(spec.startTime) }),
    ...(spec?.endTime && { endAt: timestampDate(spec.endTime) }),
    ...(spec?.jitter && { jitter: durationMs(spec.jitter) }),
    ...(spec?.timezoneName ? { timezone: spec.timezoneName } : {}),
  };
}
