// Asks the session what it knows of lines, whatever recorded it.
import type { DebugSession, SessionView } from "temporalex/debug";
import type { OpenRun } from "../app/state.ts";
import type { CodeSet } from "../realm/code_set.ts";
import type { Breakpoint } from "./breakpoints.ts";
import type { CodeFacts, LineAt } from "./facts.ts";
import { factsOfView } from "./view_facts.ts";

/** What is known of the lines of a set of files at a position. */
export function codeFacts(_session: DebugSession | undefined, view: SessionView | undefined, code: CodeSet): CodeFacts {
  return factsOfView(view, code);
}

/** The next position at which a line ran, or the one before; undefined: none, or not recorded. */
export function runOfLine(_run: OpenRun, _line: LineAt, _from: number, _by: 1 | -1): number | undefined {
  return undefined;
}

/** The nearest position at which a breakpoint holds. Throws an Error for an expression that cannot be read. */
export function findBreakpoint(run: OpenRun, { kind, text }: Breakpoint, from: number, by: 1 | -1): number | undefined {
  if (kind !== "event") return undefined;
  const { lines } = run.model;
  const holds = ({ type, summary }: { readonly type: string; readonly summary: string }) =>
    type.toLowerCase() === text.toLowerCase() || summary.includes(text);
  for (let i = from - 1 + by; i >= 0 && i < lines.length; i += by) if (holds(lines[i]!)) return i + 1;
  return undefined;
}

/** One time that a line ran, as a log point shows it. */
export interface Logged {
  readonly eventId: number;
  readonly fiber: string;
  readonly value: unknown;
  readonly error: string | undefined;
}

/** What an expression gave each time a line ran. */
export function logsOfLine(_run: OpenRun, _at: LineAt, _expression: string): readonly Logged[] {
  return [];
}

/** The state of a receive. */
export interface Accumulator {
  readonly name: string;
  readonly value: unknown;
  readonly before: unknown;
  /** It changed in the task at the position. */
  readonly isNew: boolean;
}

/** The states of the receives in which the code stands. */
export function accumulatorsAt(_run: OpenRun, _position: number): readonly Accumulator[] {
  return [];
}

/** Who changed a path of the published state last. */
export function lastChange(
  _run: OpenRun,
  _position: number,
  _path: readonly (string | number)[],
): { readonly eventId: number; readonly line: number | undefined } | undefined {
  return undefined;
}
