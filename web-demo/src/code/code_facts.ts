// Reads from the session what it recorded about lines of code.
import type {
  ChangedValue,
  Condition,
  CopiedValue,
  Crossing,
  DebugSession,
  SessionCode,
  SessionView,
} from "temporalex/debug";
import type { OpenRun } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import type { Breakpoint } from "./breakpoints.ts";
import type { CodeFacts, LineAt } from "./facts.ts";
import { factsOfSession, pathsOf, placeIn } from "./session_facts.ts";
import { factsOfView } from "./view_facts.ts";

/** Values, hits and waits of the lines of a set of files at a position. */
export function codeFacts(
  session: DebugSession | undefined,
  view: SessionView | undefined,
  code: CodeSet,
  changed: readonly ChangedValue[],
): CodeFacts {
  const known = session?.code;
  return known === undefined || view === undefined
    ? factsOfView(view, code)
    : factsOfSession(known, view, code, changed);
}

/** The recorded lines of the last replay, and a line as a place of that replay. */
function placed(
  run: OpenRun,
  at: LineAt,
): { readonly known: SessionCode; readonly place: { file: number; line: number } } | undefined {
  const known = run.session.value?.code;
  const code = run.code.value;
  const place = known === undefined || code === undefined ? undefined : placeIn(known, code, at);
  return place === undefined ? undefined : { known: known!, place };
}

/**
 * The next or previous position at which a line ran; undefined if it did not run, or was not
 * recorded.
 */
export function runOfLine(
  run: OpenRun,
  line: LineAt,
  from: number,
  by: 1 | -1,
): number | undefined {
  const found = placed(run, line);
  return by === 1
    ? found?.known.nextRun(found.place, from)
    : found?.known.previousRun(found.place, from);
}

/** The nearest position at which a breakpoint holds. Throws an Error for an invalid expression. */
export function findBreakpoint(
  run: OpenRun,
  breakpoint: Breakpoint,
  from: number,
  by: 1 | -1,
): number | undefined {
  const { kind, text, path, line } = breakpoint;
  if (kind === "event") return eventLike(run, text, from, by);
  const known = run.session.value?.code;
  if (known === undefined) throw new Error("known after a replay with line probes");
  let condition: Condition;
  if (kind === "line") {
    const place = placed(run, { path, line })?.place;
    if (place === undefined) throw new Error(`${path} is not one of the files that ran`);
    condition = { place };
  } else condition = kind === "command" ? { command: text } : { when: text };
  return known.findNext(from, by === 1 ? "forward" : "back", condition);
}

/** Finds an event by its type, ignoring case, or by a part of its summary. */
function eventLike(
  { model: { lines } }: OpenRun,
  text: string,
  from: number,
  by: 1 | -1,
): number | undefined {
  const wanted = text.toLowerCase();
  for (let i = from - 1 + by; i >= 0 && i < lines.length; i += by) {
    const { type, summary } = lines[i]!;
    if (type.toLowerCase() === wanted || summary.toLowerCase().includes(wanted)) return i + 1;
  }
  return undefined;
}

/** One run of a line, as a row of a log point. */
export interface Logged {
  readonly eventId: number;
  readonly fiber: string;
  readonly value: unknown;
  readonly error: string | undefined;
}

/**
 * The values of an expression, one for each time that a line ran. `binding`: the variable to which
 * the line assigns the result of its await.
 */
export function logsOfLine(
  run: OpenRun,
  at: LineAt,
  expression: string,
  binding: string | undefined,
): readonly Logged[] | { readonly wrong: string } {
  const found = placed(run, at);
  if (found === undefined || expression.trim() === "") return [];
  const { known, place } = found;
  try {
    return known.logPoint(place, expression, binding).map((
      { taskEventId, fiber, value, error },
    ) => ({
      eventId: taskEventId,
      fiber: fiber === undefined ? "" : known.fibers[fiber]?.name ?? "",
      value,
      error,
    }));
  } catch (e) {
    return { wrong: (e as Error).message };
  }
}

/** The state that a receive accumulates. */
export interface Accumulator {
  readonly name: string;
  readonly value: unknown;
  readonly before: unknown;
  /** Whether the task at the position changed it. */
  readonly isNew: boolean;
}

/** The state of the receive at which the code waits, now and before the task at the position. */
export function accumulatorAt(
  run: OpenRun,
  position: number,
  taskEventId: number,
): Accumulator | undefined {
  const known = run.session.value?.code;
  const code = run.code.value;
  if (known === undefined || code === undefined) return undefined;
  const receive = known.parked(position).find(({ kind, place }) =>
    kind === "receive" && place !== undefined
  );
  if (receive === undefined) return undefined;
  const now = latestState(known, position, receive.since);
  if (now === undefined) return undefined;
  const before = taskEventId > receive.since
    ? latestState(known, taskEventId - 1, receive.since)
    : undefined;
  const { file, line } = receive.place!;
  const isNew = before !== undefined && before.text !== now.text;
  return {
    name: nameOf(code, pathsOf(known, code)[file], line),
    value: now.value,
    before: before?.value,
    isNew,
  };
}

/** The newest value: handlers set it at their own lines. A value that was cut is not shown. */
function latestState(known: SessionCode, position: number, since: number): CopiedValue | undefined {
  let latest: Crossing | undefined;
  for (const one of known.crossings(position)) {
    if (one.kind !== "accumulator" || one.taskEventId < since) continue;
    if (latest === undefined || one.taskEventId >= latest.taskEventId) latest = one;
  }
  return latest === undefined || latest.value.cut ? undefined : latest.value;
}

/** The variable of the receive: "items" for `const items = await receive(`. */
function nameOf(code: CodeSet, path: string | undefined, line: number): string {
  const text = code.files.find((one) => one.path === path)?.text.split("\n")[line - 1] ?? "";
  const name = /\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)/.exec(text)?.[1];
  return name === undefined ? "State of this receive" : `${name} of this receive`;
}

/** The last change of a path of the published state. */
export function lastChange(
  run: OpenRun,
  position: number,
  path: readonly (string | number)[],
): { readonly eventId: number; readonly line: number | undefined } | undefined {
  const change = run.session.value?.code?.lastChange("published", path, position);
  return change === undefined
    ? undefined
    : { eventId: change.taskEventId, line: change.place?.line };
}
