// The times that match a calendar in a time zone. Local time runs without jumps while the offset of
// the zone is constant, so each such span is searched by itself: a time that a clock change skips
// never matches, and a time that occurs twice matches twice.
import { MAX_YEAR } from "./ranges.ts";
import type { Zone } from "./zones.ts";

const DAY = 86_400;

/** The fields of a calendar: which values match. */
export interface CalendarFields {
  readonly second: ReadonlySet<number>;
  readonly minute: ReadonlySet<number>;
  readonly hour: ReadonlySet<number>;
  readonly month: ReadonlySet<number>;
  /** Undefined: every year. */
  readonly year: ReadonlySet<number> | undefined;
  /** Whether the day matches. Days of the week start on Sunday with 0. */
  day(dayOfMonth: number, dayOfWeek: number): boolean;
}

interface LocalDay {
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
  readonly dayOfWeek: number;
}

function localDay(day: number): LocalDay {
  const date = new Date(day * DAY * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    dayOfMonth: date.getUTCDate(),
    dayOfWeek: date.getUTCDay(),
  };
}

const dayNumber = (year: number, month: number): number => Date.UTC(year, month - 1) / 1000 / DAY;

/** A calendar in a time zone. Times are in seconds since the epoch. */
export class Calendar {
  readonly #fields: CalendarFields;
  readonly #zone: Zone;
  readonly #hours: readonly number[];
  readonly #minutes: readonly number[];
  readonly #seconds: readonly number[];

  constructor(fields: CalendarFields, zone: Zone) {
    this.#fields = fields;
    this.#zone = zone;
    const sorted = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);
    this.#hours = sorted(fields.hour);
    this.#minutes = sorted(fields.minute);
    this.#seconds = sorted(fields.second);
  }

  /** Whether the time matches. */
  matches(seconds: number): boolean {
    const local = seconds + this.#zone.spanAt(seconds).offset;
    const day = Math.floor(local / DAY);
    return this.#matchesTime(local - day * DAY) && this.#matchesDay(localDay(day));
  }

  #matchesDay({ year, month, dayOfMonth, dayOfWeek }: LocalDay): boolean {
    const fields = this.#fields;
    return (fields.year?.has(year) ?? true) && fields.month.has(month) &&
      fields.day(dayOfMonth, dayOfWeek);
  }

  #matchesTime(ofDay: number): boolean {
    const { hour, minute, second } = this.#fields;
    return hour.has(Math.floor(ofDay / 3600)) && minute.has(Math.floor(ofDay / 60) % 60) &&
      second.has(ofDay % 60);
  }

  /** Returns the first matching time after `seconds`; undefined if no time until `lastYear` matches. */
  next(seconds: number, lastYear: number = MAX_YEAR): number | undefined {
    let from = seconds + 1;
    for (;;) {
      const { offset, end } = this.#zone.spanAt(from);
      const local = this.#nextLocal(from + offset, lastYear);
      if (local === undefined) return undefined;
      if (local - offset < end) return local - offset;
      from = end;
    }
  }

  /** The first match at or after a local time. */
  #nextLocal(from: number, lastYear: number): number | undefined {
    const { year: years, month: months } = this.#fields;
    let day = Math.floor(from / DAY);
    let ofDay = from - day * DAY;
    for (;;) {
      const date = localDay(day);
      if (date.year > lastYear) return undefined;
      if (years !== undefined && !years.has(date.year)) {
        day = dayNumber(date.year + 1, 1);
        ofDay = 0;
        continue;
      }
      if (!months.has(date.month)) {
        day = dayNumber(date.year, date.month + 1);
        ofDay = 0;
        continue;
      }
      if (this.#fields.day(date.dayOfMonth, date.dayOfWeek)) {
        const found = this.#timeFrom(ofDay);
        if (found !== undefined) return day * DAY + found;
      }
      day++;
      ofDay = 0;
    }
  }

  /** The first matching second of a day, at or after a second of it. */
  #timeFrom(ofDay: number): number | undefined {
    const hourFrom = Math.floor(ofDay / 3600);
    for (const hour of this.#hours) {
      if (hour < hourFrom) continue;
      const minuteFrom = hour === hourFrom ? Math.floor(ofDay / 60) % 60 : 0;
      for (const minute of this.#minutes) {
        if (minute < minuteFrom) continue;
        const exact = hour === hourFrom && minute === minuteFrom;
        const second = this.#seconds.find((each) => !exact || each >= ofDay % 60);
        if (second !== undefined) return hour * 3600 + minute * 60 + second;
      }
    }
    return undefined;
  }

  /**
   * Returns the end of the span of time after `seconds` in which the calendar matches every second:
   * the minute, hour or day, by the fields that match all values.
   */
  endOfMatch(seconds: number): number {
    const { second, minute, hour } = this.#fields;
    if (second.size < 60) return seconds + 1;
    const { offset, end } = this.#zone.spanAt(seconds);
    const unit = minute.size < 60 ? 60 : hour.size < 24 ? 3600 : DAY;
    const local = seconds + offset;
    return Math.min(local - (((local % unit) + unit) % unit) + unit - offset, end);
  }
}
