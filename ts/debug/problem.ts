// Why a replay did not go through, and at which event that shows.
import type { ReplayVerdict } from "../executor/tasks/replay.ts";
import type { Divergence } from "./divergence/types.ts";

/** Where and how the code and the history part, or what the code threw. */
export interface SessionProblem {
  /** Class of the error: "NondeterminismError", "FatalCoreError", "DeadlockError", "RealmLostError", ... */
  readonly name: string;
  /** Number in the core's table of errors; 0: none of the core's. */
  readonly code: number;
  /** What went wrong, for people. */
  readonly message: string;
  /** From which position on it shows. */
  readonly position: number;
  /** The event that the code stands against; 0 when no event is to blame. */
  readonly eventId: number;
  /** What history holds, and what the code does; "" where the error is of another kind. */
  readonly expected: string;
  /** What the code does instead. */
  readonly actual: string;
  /** The fields that differ, each with what history and code say. */
  readonly diffs: readonly { readonly field: string; readonly expected: string; readonly actual: string }[];
  /** The user's line: "function (file:line:column)"; "" when not known. */
  readonly location: string;
  /** Of an error that workflow code threw: the user's frames, nearest first, one per line; "" if none is known. */
  readonly stack: string;
  /** The code makes other commands than history holds. */
  readonly isDivergence: boolean;
  /** Of a divergence: the first place of it, both sides, the likely edit, and what repairs it. */
  readonly divergence?: Divergence;
}

export function sessionProblem(
  verdict: ReplayVerdict,
  tasks: readonly { readonly eventId: number }[],
  length: number,
): SessionProblem | undefined {
  const { error } = verdict;
  if (error === undefined) return undefined;
  const { name, code, message, eventId, expected, actual, diffs, location, stack = "", divergence } = error;
  const lastTask = tasks.at(-1)?.eventId ?? 1;
  const position = Math.min(length, Math.max(1, eventId > 0 ? eventId : lastTask));
  // An event that its machine cannot take is what the core sees of it, too.
  const isDivergence = verdict.verdict === "nondeterminism" || divergence !== undefined;
  const explained = divergence === undefined ? {} : { divergence };
  return { name, code, message, position, eventId, expected, actual, diffs, location, stack, isDivergence, ...explained };
}

/**
 * What a problem is, in one text; "ok" for none: two replays that went wrong in the same way, at the same first difference, have the same.
 * Numbers of events and the order of activities may differ, because a smaller history has other ones.
 */
export function problemKey({ verdict, error }: ReplayVerdict): string {
  if (error === undefined) return verdict;
  const { name, code, commandKind, expected, actual, location, diffs } = error;
  const fields = diffs.map(({ field }) => field).sort().join();
  return [verdict, name, code, commandKind, shape(expected), shape(actual), location, fields].join("\n");
}

/** Without what another history has others of: numbers, and quoted values that hold them. */
const shape = (text: string): string => text.replace(/\d+/g, "#");

/** The same for histories whose values were replaced: values do not count. */
export const problemKeyWithoutValues = (verdict: ReplayVerdict): string =>
  problemKey(verdict).replace(/"(?:[^"\\]|\\.)*"/g, '"…"');
