// Estimates when a server will suggest to continue as new, from the rate of the newest events.
import type { RunModel } from "../app/run_model.ts";

export interface NextLimit {
  /** What reaches its threshold first. */
  readonly name: "events" | "size";
  /** The server suggests it from this count, or these bytes, on. */
  readonly warns: number;
  /** Milliseconds after the last event; 0: it is reached. */
  readonly inMs: number;
}

/** The present rate is that of the newest events. */
const NEWEST = 500;
/** Fewer say nothing of a rate. */
const LEAST = 20;
/** The newest events in so many parts: growth is steady if each part took about as long as the others. */
const PARTS = 4;
const STEADY_FACTOR = 3;
/** A projection reaches at most so many times as far as what was observed. */
const MOST_AHEAD = 100;

/** Undefined: the run has ended, or its history is too short to tell. */
export function nextLimit({ facts, lines, limits }: RunModel): NextLimit | undefined {
  if (facts.status !== "Running") return undefined;
  const both = limits.flatMap(({ name, value, warns }) => name === "payload" ? [] : [{ name, value, warns }]);
  const reached = both.find(({ value, warns }) => value >= warns);
  if (reached !== undefined) return { name: reached.name, warns: reached.warns, inMs: 0 };
  const newest = lines.slice(-NEWEST);
  const [from, to] = [newest[0]?.timeMs, newest.at(-1)?.timeMs];
  if (newest.length < LEAST || from === undefined || to === undefined || to <= from) return undefined;
  const msEach = (to - from) / (newest.length - 1);
  if (!isSteady(newest.map(({ timeMs }) => timeMs), msEach)) return undefined;
  // An event of this run has as many bytes as those before it.
  const eventsLeft = ({ name, value, warns }: (typeof both)[number]) =>
    (warns - value) / (name === "events" ? 1 : value / lines.length);
  const first = both.toSorted((a, b) => eventsLeft(a) - eventsLeft(b))[0];
  const inMs = first === undefined ? Infinity : eventsLeft(first) * msEach;
  if (first === undefined || inMs > MOST_AHEAD * (to - from)) return undefined;
  return { name: first.name, warns: first.warns, inMs };
}

/** A burst, or a burst and a pause, says nothing of what follows. */
function isSteady(times: readonly (number | undefined)[], msEach: number): boolean {
  const size = Math.floor((times.length - 1) / PARTS);
  return Array.from({ length: PARTS }, (_, i) => ((times[(i + 1) * size] ?? 0) - (times[i * size] ?? 0)) / size)
    .every((ms) => ms > msEach / STEADY_FACTOR && ms < msEach * STEADY_FACTOR);
}
