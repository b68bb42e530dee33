// Time zones, computed by `Intl`: the offset of a zone is constant between two transitions. A year
// is searched when it is first needed; zones are shared by all schedules.

const DAY_SECONDS = 86_400;
/**
 * Two transitions of a zone are at least weeks apart, so that the offsets at both ends of a step
 * find each of them.
 */
const STEP_SECONDS = 4 * DAY_SECONDS;
/** The year of the first and last transitions that are searched. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2101;
const MAX_ZONES = 100;

/** A time span with a constant offset, in seconds since the epoch. */
export interface OffsetSpan {
  /** First second after the span. */
  readonly end: number;
  /** Local time minus UTC, in seconds. */
  readonly offset: number;
}

/** A time zone. */
export interface Zone {
  readonly name: string;
  /** Returns the span that contains a time; a long span may be returned in parts. */
  spanAt(seconds: number): OffsetSpan;
}

const UTC: Zone = { name: "UTC", spanAt: () => ({ end: Infinity, offset: 0 }) };
const zones = new Map<string, Zone>();

/** Returns a time zone by its IANA name; "" is UTC. Throws a RangeError for unknown names. */
export function zoneNamed(name: string): Zone {
  if (name === "" || name === "UTC") return UTC;
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = createZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(name, zone);
  }
  return zone;
}

function createZone(name: string): Zone {
  if (!/^[A-Za-z]/.test(name)) throw new RangeError(`unknown time zone ${name}`);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (cause) {
    throw new RangeError(`unknown time zone ${name}`, { cause });
  }
  const offsetAt = (seconds: number): number => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(seconds * 1000)) part[type] = Number(value);
    const local = Date.UTC(
      part["year"]!,
      part["month"]! - 1,
      part["day"],
      part["hour"],
      part["minute"],
      part["second"],
    );
    return local / 1000 - seconds;
  };
  const years = new Map<number, readonly OffsetSpan[]>();
  return {
    name,
    spanAt(seconds) {
      const year = Math.min(
        Math.max(new Date(seconds * 1000).getUTCFullYear(), FIRST_YEAR),
        LAST_YEAR,
      );
      let spans = years.get(year);
      if (spans === undefined) years.set(year, spans = spansOfYear(year, offsetAt));
      return spans.find(({ end }) => seconds < end) ?? spans[spans.length - 1]!;
    },
  };
}

/** The spans of a UTC year, in order; the last one ends with the year. */
function spansOfYear(year: number, offsetAt: (seconds: number) => number): OffsetSpan[] {
  const end = Date.UTC(year + 1, 0) / 1000;
  const spans: OffsetSpan[] = [];
  let at = Date.UTC(year, 0) / 1000;
  let offset = offsetAt(at);
  while (at < end) {
    const next = Math.min(at + STEP_SECONDS, end);
    const later = offsetAt(next);
    if (later !== offset) {
      const border = transition(at, next, offset, offsetAt);
      if (border < end) {
        spans.push({ end: border, offset });
        offset = later;
      }
    }
    at = next;
  }
  spans.push({ end, offset });
  return spans;
}

/** The first second whose offset differs from that of `from`. */
function transition(
  from: number,
  to: number,
  offset: number,
  offsetAt: (seconds: number) => number,
): number {
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}
