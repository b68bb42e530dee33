// The times of a schedule as text, and back: intervals, and calendars as cron expressions where they
// are equivalent.
import type { CalendarSpecDescription, ScheduleSpecDescription } from "temporalex/client";
import { lasting } from "../ui/time.ts";

const MONTHS = [
  ...["JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST"],
  ...["SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"],
];
const DAYS = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

interface Range {
  readonly start: number | string;
  readonly end: number | string;
  readonly step: number;
}

/** A field of a cron expression. `least` and `most`: the whole field is "*". */
function cronField(
  ranges: readonly Range[],
  least: number,
  most: number,
  names: readonly string[] = [],
  first = 0,
): string {
  const number = (value: number | string) =>
    typeof value === "number" ? value : names.indexOf(value) + first;
  return ranges.map((range) => {
    const [start, end] = [number(range.start), Math.max(number(range.start), number(range.end))];
    const step = range.step > 1 ? `/${range.step}` : "";
    if (start === least && end === most) return `*${step}`;
    return start === end ? `${start}` : `${start}-${end}${step}`;
  }).join(",");
}

/** Seconds that are not 0 are the first of six fields; years the last of seven. */
export function cronText(calendar: CalendarSpecDescription): string {
  const { second, minute, hour, dayOfMonth, month, year, dayOfWeek } = calendar;
  const fields = [
    cronField(minute, 0, 59),
    cronField(hour, 0, 23),
    cronField(dayOfMonth, 1, 31),
    cronField(month, 1, 12, MONTHS, 1),
    cronField(dayOfWeek, 0, 6, DAYS),
  ];
  const seconds = cronField(second, 0, 59);
  const years = year.length === 0 ? "*" : cronField(year, 0, 0);
  if (years !== "*") return [seconds, ...fields, years].join(" ");
  if (seconds !== "0") return [seconds, ...fields, "*"].join(" ");
  return fields.join(" ");
}

export function specText({ calendars, intervals, timezone }: ScheduleSpecDescription): string {
  const times = [
    ...intervals.map(({ every, offset }) =>
      `every ${lasting(every)}${offset > 0 ? ` + ${lasting(offset)}` : ""}`
    ),
    ...calendars.map(cronText),
  ];
  if (times.length === 0) return "no times";
  return `${times.join("; ")}${timezone === undefined || timezone === "" ? "" : ` ${timezone}`}`;
}
