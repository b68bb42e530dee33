// Times of a schedule: calendars, intervals and cron expressions, and their conversion to and from
// messages.
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, toMs } from "../../converter/duration.ts";
import type {
  Range as WireRange,
  ScheduleSpec as WireSpec,
  ScheduleSpecSchema,
  StructuredCalendarSpec,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import {
  durationFromMs,
  durationMs,
  timestampDate,
  timestampFromDate,
} from "../../messages/well_known.ts";

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
const DAYS_OF_WEEK = [
  "SUNDAY",
  "MONDAY",
  "TUESDAY",
  "WEDNESDAY",
  "THURSDAY",
  "FRIDAY",
  "SATURDAY",
] as const;

/** A month by its English name. */
export type Month = typeof MONTHS[number];
/** A day of the week by its English name. */
export type DayOfWeek = typeof DAYS_OF_WEEK[number];

/** Values from `start` to `end`, inclusive, in steps of `step`. */
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
/** Matching values of a calendar field: some, or "*" for all. */
export type CalendarField<Unit> = LooseRange<Unit> | readonly LooseRange<Unit>[] | "*";

/** Calendar times: those that match every field. */
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
  comment?: string;
}

/** Times at equal distances from the Unix epoch. */
export interface IntervalSpec {
  /** Distance, in whole seconds. */
  every: Duration;
  /** Offset of all times, less than `every`. Default: 0. */
  offset?: Duration;
}

/**
 * Times of a schedule: all of its calendars, intervals and cron expressions, except skipped ones.
 */
export interface ScheduleSpec {
  /** Calendar times. */
  calendars?: readonly CalendarSpec[];
  /** Times at equal distances. */
  intervals?: readonly IntervalSpec[];
  /**
   * Cron expressions of five to seven fields ("0 12 * * MON-FRI"), "@daily" and the like, "@every
   * 90m". The service converts them to calendars and intervals, as which they are described.
   */
  cronExpressions?: readonly string[];
  /** Calendar of times to skip. All fields must match, including seconds. */
  skip?: readonly CalendarSpec[];
  /** No actions before this time. */
  startAt?: Date;
  /** No actions after this time. */
  endAt?: Date;
  /** Maximum random delay of each time. */
  jitter?: Duration;
  /** Time zone of calendars and cron expressions, such as "Europe/Berlin". Default: UTC. */
  timezone?: string;
}

/** A calendar in a description: every field as ranges. */
export interface CalendarSpecDescription {
  /** 0 to 59. */
  second: Required<ScheduleRange<number>>[];
  /** 0 to 59. */
  minute: Required<ScheduleRange<number>>[];
  /** 0 to 23. */
  hour: Required<ScheduleRange<number>>[];
  /** 1 to 31. */
  dayOfMonth: Required<ScheduleRange<number>>[];
  month: Required<ScheduleRange<Month>>[];
  /** Empty: all. */
  year: Required<ScheduleRange<number>>[];
  dayOfWeek: Required<ScheduleRange<DayOfWeek>>[];
  comment?: string;
}

/** A spec in a description. Also a valid {@link ScheduleSpec} for an update. */
export interface ScheduleSpecDescription extends ScheduleSpec {
  /** Calendar times. */
  calendars: CalendarSpecDescription[];
  /** Times at equal distances, in milliseconds. */
  intervals: { every: number; offset: number }[];
  /** Times to skip. */
  skip: CalendarSpecDescription[];
  /** Maximum random delay in milliseconds. */
  jitter?: number;
}

interface Field {
  readonly name: Exclude<keyof CalendarSpec, "comment">;
  readonly min: number;
  readonly max: number;
  /** True if the default matches all values; otherwise it is 0. */
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
  ...{
    calendars: 1,
    intervals: 1,
    cronExpressions: 1,
    skip: 1,
    startAt: 1,
    endAt: 1,
    jitter: 1,
    timezone: 1,
  },
};

function encodeValue(value: unknown, { min, max, names }: Field, where: string): number {
  if (names !== undefined) {
    const at = names.indexOf(String(value).toUpperCase());
    if (at >= 0) return min + at;
    throw new TypeError(
      `${where} must be one of ${names.join(", ")}, not ${JSON.stringify(value)}`,
    );
  }
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw new TypeError(
    `${where} must be an integer from ${min} to ${max}, not ${JSON.stringify(value)}`,
  );
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
  if (end < start) {
    throw new TypeError(
      `${where} ends at ${String(to)}, before its start ${String(from)}; write two ranges`,
    );
  }
  if (!Number.isInteger(step) || step < 1) {
    throw new TypeError(`${where}.step must be an integer of at least 1, not ${step}`);
  }
  return { start, end, step };
}

function encodeField(value: unknown, field: Field, where: string) {
  if (value === undefined || value === "*") {
    if (value === undefined && !field.all) return [{ start: 0, end: 0, step: 1 }];
    // The service expects an empty list for all years.
    return field.name === "year" ? [] : [{ start: field.min, end: field.max, step: 1 }];
  }
  if (!Array.isArray(value)) return [encodeRange(value, field, where)];
  // An empty list in a description means all years.
  if (value.length === 0 && field.name !== "year") {
    throw new TypeError(`${where} is an empty array, which matches nothing; use "*" to match all`);
  }
  return value.map((range, i) => encodeRange(range, field, `${where}[${i}]`));
}

function encodeCalendar(calendar: CalendarSpec, where: string) {
  rejectUnknownOptions(where, calendar, CALENDAR);
  const fields = FIELDS.map((
    field,
  ) => [field.name, encodeField(calendar[field.name], field, `${where}.${field.name}`)]);
  return { ...Object.fromEntries(fields), comment: calendar.comment ?? "" } as MessageInitShape<
    typeof import("../../messages/generated/temporal/api/schedule/v1/message_pb.ts").StructuredCalendarSpecSchema
  >;
}

function encodeInterval(interval: IntervalSpec, where: string) {
  rejectUnknownOptions(where, interval, INTERVAL);
  const { every, offset = 0 } = interval;
  const [everyMs, offsetMs] = [toMs(every), toMs(offset)];
  if (everyMs < 1000) throw new TypeError(`${where}.every must be at least 1 second, not ${every}`);
  if (offsetMs >= everyMs) {
    throw new TypeError(`${where}.offset (${offset}) must be less than \`every\` (${every})`);
  }
  return { interval: durationFromMs(everyMs), phase: durationFromMs(offsetMs) };
}

function encodeDate(date: Date | undefined, where: string) {
  if (date === undefined) return undefined;
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) {
    throw new TypeError(`${where} is not a valid Date`);
  }
  return timestampFromDate(date);
}

/** Returns the message of a spec. Throws a TypeError that names the invalid field. */
export function encodeSpec(spec: ScheduleSpec): MessageInitShape<typeof ScheduleSpecSchema> {
  if (typeof spec !== "object" || spec === null) {
    throw new TypeError("a schedule needs a spec with the times of its actions");
  }
  rejectUnknownOptions("spec", spec, SPEC);
  const { startAt, endAt } = spec;
  if (startAt !== undefined && endAt !== undefined && endAt < startAt) {
    throw new TypeError("spec.endAt must not be before spec.startAt");
  }
  return {
    structuredCalendar: (spec.calendars ?? []).map((calendar, i) =>
      encodeCalendar(calendar, `spec.calendars[${i}]`)
    ),
    interval: (spec.intervals ?? []).map((interval, i) =>
      encodeInterval(interval, `spec.intervals[${i}]`)
    ),
    cronString: [...spec.cronExpressions ?? []],
    excludeStructuredCalendar: (spec.skip ?? []).map((calendar, i) =>
      encodeCalendar(calendar, `spec.skip[${i}]`)
    ),
    startTime: encodeDate(startAt, "spec.startAt"),
    endTime: encodeDate(endAt, "spec.endAt"),
    ...(spec.jitter !== undefined && { jitter: durationFromMs(toMs(spec.jitter)) }),
    timezoneName: spec.timezone ?? "",
  };
}

function decodeRanges<Unit>(
  ranges: readonly WireRange[],
  { min, names }: Field,
): Required<ScheduleRange<Unit>>[] {
  const value = (number: number) =>
    (names === undefined ? number : names[number - min] ?? number) as Unit;
  return ranges.map(({ start, end, step }) => ({
    start: value(start),
    end: value(Math.max(start, end)),
    step: Math.max(1, step),
  }));
}

function decodeCalendar(calendar: StructuredCalendarSpec): CalendarSpecDescription {
  const fields = FIELDS.map((field) => [field.name, decodeRanges(calendar[field.name], field)]);
  return {
    ...Object.fromEntries(fields),
    ...(calendar.comment !== "" && { comment: calendar.comment }),
  };
}

/** Decodes the spec of a description. */
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
