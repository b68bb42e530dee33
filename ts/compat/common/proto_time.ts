// Times and durations in the official packages' form: seconds as a Long, and nanoseconds.
import { ValueError } from "./errors.ts";
import { Long, type LongLike } from "./long.ts";
import { type Duration, msToNumber } from "./time.ts";

/** A time or a duration in a message. */
export interface Timestamp {
  /** Whole seconds. */
  seconds?: LongLike | null;
  /** Additional nanoseconds. */
  nanos?: number | null;
}
type Optional = Timestamp | null | undefined;

/** Returns milliseconds; undefined if not set. */
export function optionalTsToMs(ts: Optional): number | undefined {
  return ts === undefined || ts === null ? undefined : tsToMs(ts);
}

/** Returns milliseconds. Throws a TypeError that names the field if not set. */
export function requiredTsToMs(ts: Optional, fieldName: string): number {
  if (ts === undefined || ts === null) {
    throw new TypeError(`Expected ${fieldName} to be a timestamp, got ${ts}`);
  }
  return tsToMs(ts);
}

/** Returns milliseconds. Throws if not set. */
export function tsToMs(ts: Optional): number {
  if (ts === undefined || ts === null) throw new Error(`Expected timestamp, got ${ts}`);
  return Long.fromValue(ts.seconds ?? 0).toNumber() * 1000 +
    Math.floor((ts.nanos ?? 0) / 1_000_000);
}

/** Converts milliseconds. Throws a ValueError for NaN. */
export function msNumberToTs(millis: number): Timestamp {
  const seconds = Math.floor(millis / 1000);
  const nanos = (millis % 1000) * 1_000_000;
  if (Number.isNaN(seconds) || Number.isNaN(nanos)) {
    throw new ValueError(`Invalid millis ${millis}`);
  }
  return { seconds: Long.fromNumber(seconds), nanos };
}

/** Converts a duration. */
export function msToTs(duration: Duration): Timestamp {
  return msNumberToTs(msToNumber(duration));
}

/** Converts an optional duration. */
export function msOptionalToTs(duration: Duration | undefined | null): Timestamp | undefined {
  return duration === undefined || duration === null ? undefined : msToTs(duration);
}

/** Returns the Date. */
export function tsToDate(ts: Timestamp): Date {
  return new Date(tsToMs(ts));
}

/** Returns the Date. Throws a TypeError that names the field if not set. */
export function requiredTsToDate(ts: Optional, fieldName: string): Date {
  return new Date(requiredTsToMs(ts, fieldName));
}

/** Returns the Date; undefined if not set. */
export function optionalTsToDate(ts: Optional): Date | undefined {
  return ts === undefined || ts === null ? undefined : tsToDate(ts);
}

/** Converts a Date; undefined if not set. */
export function optionalDateToTs(date: Date | null | undefined): Timestamp | undefined {
  return date === undefined || date === null ? undefined : msToTs(date.getTime());
}
