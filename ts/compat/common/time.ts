// Durations of the official packages: milliseconds, or text in the format of npm's `ms` ("1.5h",
// "10 minutes", "-3 days"; "100" is milliseconds). Unlike in the native API they can be negative;
// each caller defines the meaning.

import { ValueError } from "./errors.ts";

/** Milliseconds, or text such as "1.5h" or "10 minutes". */
export type Duration = number | string;

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(years?|yrs?|y)$/, 365.25 * DAY],
  [/^(weeks?|w)$/, 7 * DAY],
  [/^(days?|d)$/, DAY],
  [/^(hours?|hrs?|h)$/, HOUR],
  [/^(minutes?|mins?|m)$/, MINUTE],
  [/^(seconds?|secs?|s)$/, SECOND],
  [/^(milliseconds?|msecs?|ms)?$/, 1],
];

/**
 * Returns milliseconds. Throws a TypeError for invalid text, and the errors of `ms` for other
 * values.
 */
export function msToNumber(duration: Duration): number {
  if (typeof duration === "number") return duration;
  if (typeof duration !== "string" || duration === "") {
    throw new Error(`Value is not a string or number.. value=${JSON.stringify(duration)}`);
  }
  const parts = /^(-?(?:\d+)?\.?\d+) *([a-z]*)$/i.exec(duration);
  const unit = parts === null
    ? undefined
    : UNITS.find(([name]) => name.test(parts[2]!.toLowerCase()));
  if (parts === null || unit === undefined) {
    throw new TypeError(`Invalid duration string: '${duration}'`);
  }
  return Number.parseFloat(parts[1]!) * unit[1];
}

/** Same for an optional duration. */
export function msOptionalToNumber(duration: Duration | undefined | null): number | undefined {
  return duration === undefined || duration === null ? undefined : msToNumber(duration);
}

/**
 * Returns a timeout for the core, where 0 is unset: zero and empty text are unset, as in the
 * official packages.
 */
export function timeoutMs(duration: Duration | undefined | null): number {
  const ms = duration ? msToNumber(duration) : 0;
  if (!Number.isFinite(ms)) throw new ValueError(`Invalid millis ${ms}`);
  return ms;
}
