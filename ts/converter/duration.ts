// Durations: milliseconds as a number, or text such as "1.5s", "10 minutes", "2h". Units: ms, s, m,
// h, d and their long forms.

/** Milliseconds, or text such as "30s", "5 minutes", "1h". */
export type Duration = number | string;

const UNITS: { [unit: string]: number } = {
  ms: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
};

/**
 * Returns the duration in milliseconds. Throws a RangeError for invalid text, NaN, infinity and
 * negative values.
 */
export function toMs(duration: Duration): number {
  let ms: number;
  if (typeof duration === "number") ms = duration;
  else {
    const m = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(duration);
    const unit = m === null ? undefined : UNITS[m[2]!.toLowerCase()];
    if (m === null || unit === undefined) {
      throw new RangeError(
        `"${duration}" is not a duration; write milliseconds as a number, or text such as "30s", "5m", "1.5 hours"`,
      );
    }
    ms = Number(m[1]) * unit;
  }
  if (!Number.isFinite(ms) || ms < 0) {
    throw new RangeError(
      `a duration must be a finite number of milliseconds >= 0, not ${duration}`,
    );
  }
  return ms;
}
