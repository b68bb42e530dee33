// The lines that ran before a difference. A command has a source line. If the code ended, waits, or
// took another branch, the last line, or the line of that branch, is closer to the edit than the
// await before it.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import { Places } from "../code/places.ts";
import type { Place } from "./align.ts";
import type { EditKind, LikelyEdit } from "./types.ts";
import { findNextSharedStep, OWN_LINE, type Where } from "./where.ts";

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
    const [place, point] = [places.placeOf(number), places.point(number)];
    if (place === undefined || point === undefined) continue;
    const { url } = places.files[place.file]!;
    steps.push({
      url,
      line: place.line,
      column: point.column,
      fiber: trace.lanes[lane]?.name ?? "",
      throws: point.kind === "statement" && point.name === "throw",
      branches: point.kind === "statement" && point.name === "if",
      awaits: point.kind === "await",
    });
  }
  return steps;
}

/** Edits whose changed code no longer exists. */
export const GONE: ReadonlySet<EditKind> = new Set(["removed", "patchRemoved", "endedEarly"]);

/** Improves the place of a difference by the lines that ran. */
export function refineByPath(
  where: Where,
  place: Place,
  edit: LikelyEdit,
  path: readonly PathStep[],
): Where {
  if (path.length === 0) return where;
  const code = place.pairs[place.at]!.code ?? findNextSharedStep(place);
  if (!OWN_LINE(code)) {
    const last = lastStep(place, path)!;
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
    ? where
    : { ...where, location: formatLocation(turn), fiber: turn.fiber, how: "command" };
}

/**
 * Returns the last line of the fiber that ends or responds to an update; otherwise the last line
 * that ran.
 */
function lastStep({ pairs, at }: Place, path: readonly PathStep[]): PathStep | undefined {
  const { code } = pairs[at]!;
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
  if (index < 0) return undefined;
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
