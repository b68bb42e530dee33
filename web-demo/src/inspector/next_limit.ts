// Estimates when a server will suggest to continue as new, from the rate of the newest events.
import type { RunModel } from "../store/run_model.ts";

export interface NextLimit {
  /** The limit that is reached first. */
  readonly name: "events" | "size";
  /** Number of events or bytes at which the server suggests it. */
  readonly warns: number;
  /** Milliseconds after the last event; 0 if it is reached. */
  readonly inMs: number;
}

/** Newest events from which the current rate is computed. */
const NEWEST = 500;
/** Minimum number of events for a rate. */
const LEAST = 20;
/**
 * Number of parts of the newest events: growth is steady if each part took about as long as the
 * others.
 */
const PARTS = 4;
const STEADY_FACTOR = 3;
/** Limit of an estimate, as a multiple of the observed duration. */
const MOST_AHEAD = 100;

/** Undefined if the run has ended, or there are too few events for an estimate. */
export function nextLimit({ facts, lines, limits }: RunModel): NextLimit | undefined {
  if (facts.status !== "Running") return undefined;
  const both = limits.flatMap(({ name, value, warns }) =>
    name === "payload" ? [] : [{ name, value, warns }]
  );
  const reached = both.find(({ value, warns }) => value >= warns);
  if (reached !== undefined) return { name: reached.name, warns: reached.warns, inMs: 0 };
  const newest = lines.slice(-NEWEST);
  const [from, to] = [newest[0]?.timeMs, newest.at(-1)?.timeMs];
  if (newest.length < LEAST || from === undefined || to === undefined || to <= from) {
    return undefined;
  }
  const msEach = (to - from) / (newest.length - 1);
  if (!isSteady(newest.map(({ timeMs }) => timeMs), msEach)) return undefined;
  // Assumes that further events are as large as the average.
  const eventsLeft = ({ name, value, warns }: (typeof both)[number]) =>
    (warns - value) / (name === "events" ? 1 : value / lines.length);
  const first = both.toSorted((a, b) => eventsLeft(a) - eventsLeft(b))[0];
  const inMs = first === undefined ? Infinity : eventsLeft(first) * msEach;
  if (first === undefined || inMs > MOST_AHEAD * (to - from)) return undefined;
  return { name: first.name, warns: first.warns, inMs };
}

/** False for a burst, or a burst and a pause: they allow no estimate. */
function isSteady(times: readonly (number | undefined)[], msEach: number): boolean {
  const size = Math.floor((times.length - 1) / PARTS);
  return Array.from(
    { length: PARTS },
    (_, i) => ((times[(i + 1) * size] ?? 0) - (times[i * size] ?? 0)) / size,
  )
    .every((ms) => ms > msEach / STEADY_FACTOR && ms < msEach * STEADY_FACTOR);
}
