// Why a replay failed, and the event at which it shows.
import type { ReplayVerdict } from "../executor/tasks/replay.ts";
import type { Divergence } from "./divergence/types.ts";

/** Where and how the code diverges from history, or the error of the code. */
export interface SessionProblem {
  /**
   * Class of the error: "NondeterminismError", "FatalCoreError", "DeadlockError", "RealmLostError",
   * ...
   */
  readonly name: string;
  /** Number in the core's table of errors; 0 for other errors. */
  readonly code: number;
  /** What went wrong, for people. */
  readonly message: string;
  /** The first position at which it shows. */
  readonly position: number;
  /** The event that the code does not match; 0 without one. */
  readonly eventId: number;
  /** What history has; "" for other kinds of errors. */
  readonly expected: string;
  /** What the code does instead. */
  readonly actual: string;
  /** The fields that differ, with both values. */
  readonly diffs: readonly {
    readonly field: string;
    readonly expected: string;
    readonly actual: string;
  }[];
  /** The user's line: "function (file:line:column)"; "" if unknown. */
  readonly location: string;
  /**
   * For an error thrown by workflow code: the user's frames, nearest first, one per line; "" if
   * unknown.
   */
  readonly stack: string;
  /** True if the code issues other commands than history has. */
  readonly isDivergence: boolean;
  /** For a divergence: its first place, both sides, the likely edit, and a repair. */
  readonly divergence?: Divergence;
}

export function sessionProblem(
  verdict: ReplayVerdict,
  tasks: readonly { readonly eventId: number }[],
  length: number,
): SessionProblem | undefined {
  const { error } = verdict;
  if (error === undefined) return undefined;
  const {
    name,
    code,
    message,
    eventId,
    expected,
    actual,
    diffs,
    location,
    stack = "",
    divergence,
  } = error;
  const lastTask = tasks.at(-1)?.eventId ?? 1;
  const position = Math.min(length, Math.max(1, eventId > 0 ? eventId : lastTask));
  // The core also reports an event that a state machine rejects as nondeterminism.
  const isDivergence = verdict.verdict === "nondeterminism" || divergence !== undefined;
  const explained = divergence === undefined ? {} : { divergence };
  return {
    name,
    code,
    message,
    position,
    eventId,
    expected,
    actual,
    diffs,
    location,
    stack,
    isDivergence,
    ...explained,
  };
}

/**
 * Returns a text that identifies a problem; "ok" for none. Replays that fail in the same way at the
 * same first difference have the same text. Numbers of events and the order of activities are
 * ignored, because they change in a smaller history.
 */
export function problemKey({ verdict, error }: ReplayVerdict): string {
  if (error === undefined) return verdict;
  const { name, code, commandKind, expected, actual, location, diffs } = error;
  const fields = diffs.map(({ field }) => field).sort().join();
  return [verdict, name, code, commandKind, shape(expected), shape(actual), location, fields].join(
    "\n",
  );
}

/** Removes what differs in another history: numbers, and quoted values that contain them. */
const shape = (text: string): string => text.replace(/\d+/g, "#");

/** Ignores values as well, for histories whose values were replaced. */
export const problemKeyWithoutValues = (verdict: ReplayVerdict): string =>
  problemKey(verdict).replace(/"(?:[^"\\]|\\.)*"/g, '"…"');
