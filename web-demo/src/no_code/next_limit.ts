// When a server will suggest to continue as new, if the run goes on as it did lately.
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
  // An event of this run has as many bytes as those before it.
  const eventsLeft = ({ name, value, warns }: (typeof both)[number]) =>
    (warns - value) / (name === "events" ? 1 : value / lines.length);
  const first = both.toSorted((a, b) => eventsLeft(a) - eventsLeft(b))[0];
  return first && { name: first.name, warns: first.warns, inMs: eventsLeft(first) * msEach };
}
