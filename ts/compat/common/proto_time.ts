// Times and durations as the wire has them, in the form of the official packages: seconds as a Long, and nanoseconds.
import { ValueError } from "./errors.ts";
import { Long, type LongLike } from "./long.ts";
import { type Duration, msToNumber } from "./time.ts";

/** A moment or a duration on the wire. */
export interface Timestamp {
  /** Whole seconds. */
  seconds?: LongLike | null;
  /** Nanoseconds beside them. */
  nanos?: number | null;
}
type Optional = Timestamp | null | undefined;

/** Milliseconds; undefined where there is none. */
export function optionalTsToMs(ts: Optional): number | undefined {
  return ts === undefined || ts === null ? undefined : tsToMs(ts);
}

/** Milliseconds. Throws a TypeError that names the field where there is none. */
export function requiredTsToMs(ts: Optional, fieldName: string): number {
  if (ts === undefined || ts === null) throw new TypeError(`Expected ${fieldName} to be a timestamp, got ${ts}`);
  return tsToMs(ts);
}

/** Milliseconds. Throws where there is none. */
export function tsToMs(ts: Optional): number {
  if (ts === undefined || ts === null) throw new Error(`Expected timestamp, got ${ts}`);
  return Long.fromValue(ts.seconds ?? 0).toNumber() * 1000 + Math.floor((ts.nanos ?? 0) / 1_000_000);
}

/** What the wire has for so many milliseconds. Throws a ValueError for NaN. */
export function msNumberToTs(millis: number): Timestamp {
  const seconds = Math.floor(millis / 1000);
  const nanos = (millis % 1000) * 1_000_000;
  if (Number.isNaN(seconds) || Number.isNaN(nanos)) throw new ValueError(`Invalid millis ${millis}`);
  return { seconds: Long.fromNumber(seconds), nanos };
}

/** What the wire has for a duration. */
export function msToTs(duration: Duration): Timestamp {
  return msNumberToTs(msToNumber(duration));
}

/** The same for an option that may be absent. */
export function msOptionalToTs(duration: Duration | undefined | null): Timestamp | undefined {
  return duration === undefined || duration === null ? undefined : msToTs(duration);
}

/** The moment. */
export function tsToDate(ts: Timestamp): Date {
  return new Date(tsToMs(ts));
}

/** The moment. Throws a TypeError that names the field where there is none. */
export function requiredTsToDate(ts: Optional, fieldName: string): Date {
  return new Date(requiredTsToMs(ts, fieldName));
}

/** The moment; undefined where there is none. */
export function optionalTsToDate(ts: Optional): Date | undefined {
  return ts === undefined || ts === null ? undefined : tsToDate(ts);
}

/** What the wire has for a moment; undefined where there is none. */
export function optionalDateToTs(date: Date | null | undefined): Timestamp | undefined {
  return date === undefined || date === null ? undefined : msToTs(date.getTime());
}
