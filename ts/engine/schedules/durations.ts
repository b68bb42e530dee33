// Durations and times of protobuf messages, and durations in Go's notation ("1h30m").
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";

/** The longest duration: 10,000 years. */
export const MAX_DURATION_SECONDS = 315_576_000_000;

/** Milliseconds of a duration; 0 if absent. */
export function durationMsOrZero(duration: Duration | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

/** Returns a duration of milliseconds. */
export function durationOfMs(ms: number): Duration {
  const seconds = Math.trunc(ms / 1000);
  return {
    $typeName: "google.protobuf.Duration",
    seconds: BigInt(seconds),
    nanos: Math.round((ms - seconds * 1000) * 1e6),
  };
}

/** Milliseconds since the epoch; undefined if absent. */
export function timestampMsIfSet(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Number(time.seconds) * 1000 + time.nanos / 1e6;
}

/** Returns a timestamp, exact to the microsecond. */
export function timestampOfMs(ms: number): Timestamp {
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1e6);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (micros - seconds * 1e6) * 1000,
  };
}

const UNIT_MS: { readonly [unit: string]: number } = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  "μs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration as Go writes it, and days ("1d12h"). Returns milliseconds, or undefined. */
export function parseGoDuration(text: string): number | undefined {
  const [, sign, rest] = /^([+-]?)(.+)$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  if (rest === "0") return 0;
  let ms = 0;
  let end = 0;
  for (const part of rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/gy)) {
    ms += Number(part[1]) * UNIT_MS[part[2]!]!;
    end = part.index + part[0].length;
  }
  if (end !== rest.length) return undefined;
  return sign === "-" ? -ms : ms;
}
