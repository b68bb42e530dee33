// The lines that ran before a difference. A command has a source line. If the code ended, waits, or
// took another branch, the last line, or the line of that branch, is closer to the edit than the
// await before it.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import { Places } from "../code/places.ts";
import type { Place } from "./align.ts";
import type { EditKind, LikelyEdit, StepKind } from "./types.ts";
import { findNextSharedStep, OWN_LINE, shortFiberName, splitSite, type Where } from "./where.ts";

/** A line that ran. */
export interface PathStep {
  readonly url: string;
  readonly line: number;
  readonly column: number;
  /** "run", "handler of add_item", "branch 2". */
  readonly fiber: string;
  /** The statement is a `throw`. */
  readonly throws: boolean;
  /** The statement is an `if`. */
  readonly branches: boolean;
  /** The code awaits there. */
  readonly awaits: boolean;
}

/** Returns the path of a replay's trace, in order. */
export function readPath(trace: LineTrace): PathStep[] {
  const places = new Places(trace);
  const steps: PathStep[] = [];
  for (let i = 0; i < trace.path.length; i += 2) {
    const [number, lane] = [trace.path[i]!, trace.path[i + 1]!];
    const step = pathStep(places, trace, number, lane);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

function pathStep(
  places: Places,
  { lanes }: LineTrace,
  number: number,
  lane: number,
): PathStep | undefined {
  const [place, point] = [places.placeOf(number), places.point(number)];
  if (place === undefined || point === undefined) return undefined;
  const { url } = places.files[place.file]!;
  return {
    url,
    line: place.line,
    column: point.column,
    fiber: lanes[lane]?.name ?? "",
    throws: point.kind === "statement" && point.name === "throw",
    branches: point.kind === "statement" && point.name === "if",
    awaits: point.kind === "await",
  };
}

/**
 * Returns the await, begun in a task, of a promise of the user's code in a fiber that waits for
 * nothing else: no event can resolve it. Undefined if there is not exactly one.
 */
export function findStuckAwait(
  { lines, evidence: { activations, waits }, startedEventId }: {
    readonly lines: LineTrace;
    readonly evidence: ReplayEvidence;
    readonly startedEventId: number;
  },
): PathStep | undefined {
  // A replay that fails has no lanes of waits: fibers are compared by name.
  const busy = new Set(
    waits.flatMap(({ to, value }) => to === undefined ? [shortFiberName(value.fiber)] : []),
  );
  const stuck = lines.awaits.filter(({ from, to, wait, lane }) =>
    to < 0 && wait < 0 && !busy.has(lines.lanes[lane]?.name ?? "") &&
    activations[from]?.startedEventId === startedEventId
  );
  const inner = stuck.filter(({ lane }, i) => stuck.findLastIndex((o) => o.lane === lane) === i);
  if (inner.length !== 1) return undefined;
  const { point, lane } = inner[0]!;
  return pathStep(new Places(lines), lines, point, lane);
}

/** Edits whose changed code no longer exists. */
export const GONE: ReadonlySet<EditKind> = new Set(["removed", "patchRemoved", "endedEarly"]);

/** What a second replay recorded of the lines in the task that differs. */
export interface TaskLines {
  /** The lines in order; empty if unknown. */
  readonly path: readonly PathStep[];
  readonly stuck: PathStep | undefined;
  /** The last mistake in the code that it caught in the task. */
  readonly caught: CaughtMistake | undefined;
}

/** An error that JavaScript threw for a mistake in the code, and that the run did not fail with. */
export interface CaughtMistake {
  /** "TypeError: menu is undefined". */
  readonly error: string;
  /** The user frame that threw it, or the line that caught it. */
  readonly site: string;
  /** False if it passed a `finally` without `catch`. */
  readonly isCaught: boolean;
}

/** Returns the last mistake that the code caught in a task. */
export function findCaughtMistake(
  { lines, evidence: { activations }, startedEventId }: Parameters<typeof findStuckAwait>[0],
): CaughtMistake | undefined {
  const last = lines.caught.findLast(({ at }) =>
    activations[at]?.startedEventId === startedEventId
  );
  if (last === undefined) return undefined;
  const places = new Places(lines);
  const step = pathStep(places, lines, last.point, last.lane);
  return {
    error: last.error,
    site: last.site !== "" ? last.site : step === undefined ? "" : formatLocation(step),
    isCaught: places.point(last.point)?.name === "catch",
  };
}

/** Improves the place of a difference by the lines that ran. */
export function refineByPath(
  where: Where,
  place: Place,
  edit: LikelyEdit,
  { path, stuck }: TaskLines,
): Where {
  if (path.length === 0 || where.how === "canceled") return where;
  const code = place.pairs[place.at]!.code ?? findNextSharedStep(place);
  if (code === undefined && stuck !== undefined && edit.kind !== "handlerMissing") {
    return { ...where, location: formatLocation(stuck), fiber: stuck.fiber, how: "last" };
  }
  if (where.how === "after" && where.passed !== undefined) return where;
  if (!OWN_LINE(code)) {
    const last = decisionBefore(place, edit, path) ?? lastStep(place, path)!;
    return {
      ...where,
      location: formatLocation(last),
      fiber: last.fiber,
      how: where.how === "waits" ? "waits" : "last",
    };
  }
  // A verified added or replaced step is at the command itself.
  if (edit.confidence === "verified" && !GONE.has(edit.kind)) return where;
  const turn = turnBefore(code!.site, path);
  return turn === undefined
    ? betweenSteps(where, code!.site, path)
    : { ...where, location: formatLocation(turn), fiber: turn.fiber, how: "command" };
}

/**
 * Returns the last branch before an end that another end, or a step, has in history: the code
 * decided there to end.
 */
function decisionBefore(
  place: Place,
  edit: LikelyEdit,
  path: readonly PathStep[],
): PathStep | undefined {
  if (place.pairs[place.at]!.code?.kind !== "end" || edit.confidence === "verified") {
    return undefined;
  }
  if (edit.kind !== "endedEarly" && edit.kind !== "unknown") return undefined;
  const last = path.findLastIndex(({ fiber }) => fiber === "run");
  return last < 0 ? undefined : turnOf(path, last);
}

/**
 * A removed step was between the await that ended last and the next command: names the executed
 * line in the middle, if both are far apart.
 */
function betweenSteps(where: Where, site: string, path: readonly PathStep[]): Where {
  const [from, to] = [splitSite(where.location), splitSite(site)];
  if (where.how !== "after" || from.file !== to.file || to.line - from.line <= MIDDLE_FROM) {
    return where;
  }
  const middle = (from.line + to.line) / 2;
  const start = path.findLastIndex(({ line, url }) => line === from.line && url === from.file) + 1;
  const between = path.slice(start).filter(({ line, url }) =>
    url === from.file && line > from.line && line < to.line
  );
  const distance = ({ line }: { readonly line: number }) => Math.abs(line - middle);
  const nearest = between.toSorted((a, b) => distance(a) - distance(b))[0];
  return nearest === undefined
    ? where
    : { ...where, location: formatLocation(nearest), fiber: nearest.fiber };
}

/** Up to this many lines apart, the line of the await is near enough to the removed step. */
const MIDDLE_FROM = 2;

/**
 * Returns the last line of the fiber that ends or responds to an update; otherwise the last line
 * that ran.
 */
const lastStep = ({ pairs, at }: Place, path: readonly PathStep[]): PathStep | undefined =>
  findLastStep(pairs[at]!.code, path);

/** Returns the same for a step whose command has no line. */
export function findLastStep(
  code: { readonly kind: StepKind; readonly name: string } | undefined,
  path: readonly PathStep[],
): PathStep | undefined {
  const fiber = code?.kind === "end"
    ? /^run$/
    : code?.kind === "update"
    ? new RegExp(`^(?:async )?handler of ${escaped(code.name)}$`)
    : /./;
  return path.findLast((step) => fiber.test(step.fiber)) ?? path.at(-1);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Returns the last branch before a command since the fiber last waited. */
function turnBefore(site: string, path: readonly PathStep[]): PathStep | undefined {
  const index = path.findLastIndex(({ url, line }) => site.includes(`${url}:${line}:`));
  return index < 0 ? undefined : turnOf(path, index);
}

/** Returns the last branch before a step of the path since its fiber last waited. */
function turnOf(path: readonly PathStep[], index: number): PathStep | undefined {
  const { line, fiber } = path[index]!;
  for (const step of path.slice(0, index).toReversed()) {
    if (step.fiber !== fiber || (step.awaits && step.line !== line)) return undefined;
    if (step.branches) return step;
  }
  return undefined;
}

/** Formats the location of a step as "function (file:line:column)". */
export const formatLocation = ({ url, line, column, fiber }: PathStep): string =>
  fiber === "" ? `${url}:${line}:${column}` : `${fiber} (${url}:${line}:${column})`;
