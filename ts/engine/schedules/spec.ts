// The times of a schedule: calendars, intervals, exclusions, limits and jitter.
import type {
  ScheduleSpec,
  StructuredCalendarSpec,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { Calendar } from "./calendar.ts";
import { durationMsOrZero, timestampMsIfSet } from "./durations.ts";
import { eachValue, MAX_YEAR } from "./ranges.ts";
import { type Zone, zoneNamed } from "./zones.ts";

/** Times that exclusions may skip before the search ends. */
const MAX_SKIPPED = 100_000;
/** The same, multiplied by the calendars, intervals and exclusions that each of them costs. */
const MAX_SKIPPED_PARTS = 1_000_000;
/** After the last year that calendars match, in seconds. */
const END_OF_TIME = Date.UTC(MAX_YEAR + 1, 0) / 1000;
/** The longest jitter, in ms: 32 bits. */
const MAX_JITTER_MS = 0xffff_ffff;

/** One time of a schedule, in ms since the epoch. */
export interface SpecTime {
  /** The time that matches. */
  readonly nominalMs: number;
  /** With jitter. */
  readonly nextMs: number;
}

/** Counts down while exclusions skip times; searches may share it. */
export interface Skips {
  left: number;
}

/** A spec in canonical form, ready to compute times. */
export class CompiledSpec {
  readonly #calendars: readonly RememberedCalendar[];
  readonly #excluded: readonly Calendar[];
  readonly #intervals: readonly { readonly every: number; readonly phase: number }[];
  readonly #startMs: number;
  readonly #endMs: number;
  /** The longest delay of a time. */
  readonly jitterMs: number;
  readonly #maxSkipped: number;

  /** Throws a RangeError for an unknown time zone. */
  constructor(spec: ScheduleSpec) {
    const zone = zoneNamed(spec.timezoneName);
    const compile = (calendar: StructuredCalendarSpec) => compileCalendar(calendar, zone);
    this.#calendars = spec.structuredCalendar.map((each) => new RememberedCalendar(compile(each)));
    this.#excluded = spec.excludeStructuredCalendar.map(compile);
    this.#intervals = spec.interval.map(({ interval, phase }) => ({
      every: Math.max(1, Math.trunc(durationMsOrZero(interval) / 1000)),
      phase: Math.max(0, Math.trunc(durationMsOrZero(phase) / 1000)),
    }));
    this.#startMs = Math.max(0, timestampMsIfSet(spec.startTime) ?? 0);
    this.#endMs = timestampMsIfSet(spec.endTime) ?? Infinity;
    this.jitterMs = Math.min(
      Math.max(0, Math.trunc(durationMsOrZero(spec.jitter))),
      MAX_JITTER_MS,
    );
    const parts = this.#calendars.length + this.#excluded.length + this.#intervals.length;
    this.#maxSkipped = Math.min(MAX_SKIPPED, Math.floor(MAX_SKIPPED_PARTS / Math.max(1, parts)));
  }

  /** The times that one search skips at most. */
  skips(): Skips {
    return { left: this.#maxSkipped };
  }

  /**
   * Returns the first time after `afterMs`; undefined if no time matches, or `skips` is used up.
   * `seed` selects the jitter of each time.
   */
  next(afterMs: number, seed: string, skips: Skips = this.skips()): SpecTime | undefined {
    let after = Math.floor(Math.max(afterMs, this.#startMs - 1000) / 1000);
    for (; skips.left > 0; skips.left--) {
      // Dates end some time later.
      if (!(after < END_OF_TIME)) return undefined;
      const nominal = this.#rawNext(after);
      if (nominal === undefined || nominal * 1000 > this.#endMs) return undefined;
      const end = this.#endOfExclusions(nominal);
      if (end === undefined) return this.#withJitter(nominal, seed);
      after = Math.max(nominal, end - 1);
    }
    return undefined;
  }

  /** The furthest end of the exclusions that match a time; undefined without one. */
  #endOfExclusions(nominal: number): number | undefined {
    let end: number | undefined;
    for (const calendar of this.#excluded) {
      if (!calendar.matches(nominal)) continue;
      end = Math.max(end ?? nominal, calendar.endOfMatch(nominal));
    }
    return end;
  }

  #withJitter(nominal: number, seed: string): SpecTime {
    const nominalMs = nominal * 1000;
    if (this.jitterMs === 0) return { nominalMs, nextMs: nominalMs };
    // Not past the following time, so that the order of times stays.
    const following = this.#rawNext(nominal);
    const limit = following === undefined ? Infinity : (following - nominal) * 1000;
    const maximum = Math.min(this.jitterMs, limit);
    const jitter = Math.floor(maximum * (hash32(`${nominal}-${seed}`) / 2 ** 32));
    return { nominalMs, nextMs: nominalMs + jitter };
  }

  /** The first time after `after` without exclusions and jitter, in seconds. */
  #rawNext(after: number): number | undefined {
    let first = Infinity;
    for (const calendar of this.#calendars) {
      first = Math.min(first, calendar.next(after));
    }
    for (const { every, phase } of this.#intervals) {
      first = Math.min(first, (Math.floor((after - phase) / every) + 1) * every + phase);
    }
    return first >= END_OF_TIME ? undefined : first;
  }
}

/** Remembers its last search: one that matches rarely, or never, is not searched for each time. */
class RememberedCalendar {
  readonly #calendar: Calendar;
  /** No time matches after `#from` and before `#found`. */
  #from = Infinity;
  #found = -Infinity;

  constructor(calendar: Calendar) {
    this.#calendar = calendar;
  }

  /** The first match after a time; Infinity without one. */
  next(after: number): number {
    if (after < this.#from || after >= this.#found) {
      this.#found = this.#calendar.next(after) ?? Infinity;
      this.#from = after;
    }
    return this.#found;
  }
}

function compileCalendar(calendar: StructuredCalendarSpec, zone: Zone): Calendar {
  const setOf = (ranges: Parameters<typeof eachValue>[0]) => {
    const values = new Set<number>();
    eachValue(ranges, (value) => values.add(value));
    return values;
  };
  const daysOfMonth = setOf(calendar.dayOfMonth);
  const daysOfWeek = setOf(calendar.dayOfWeek);
  return new Calendar({
    second: setOf(calendar.second),
    minute: setOf(calendar.minute),
    hour: setOf(calendar.hour),
    month: setOf(calendar.month),
    year: calendar.year.length === 0 ? undefined : setOf(calendar.year),
    day: (dayOfMonth, dayOfWeek) => daysOfMonth.has(dayOfMonth) && daysOfWeek.has(dayOfWeek),
  }, zone);
}

/** FNV-1a with a final mix, so that neighboring times have unrelated hashes. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
