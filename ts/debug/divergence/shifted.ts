// Steps of one kind and name look equal to a replay, which does not compare durations and inputs. A
// removed or added one is found at the last of them. These values show which one was changed.
import type { Place, Sides } from "./align.ts";
import type { Candidate } from "./candidates.ts";
import type { CodeStep } from "./code_steps.ts";
import { compareFields, type OfRun } from "./differences.ts";
import type { HistoryStep } from "./history_steps.ts";

/** Equal-looking steps before the place that are compared; a fan-out has thousands. */
const MAX_PAIRS = 500;

/** The changed step, and the step of the other side that took its place. */
export interface ShiftedStep {
  readonly history: HistoryStep;
  readonly code: CodeStep;
}

/**
 * Returns an earlier step that was removed or added instead of the candidate's; undefined if it is
 * the candidate's.
 */
export function shiftedStep(
  place: Place,
  sides: Sides,
  candidate: Candidate,
  run: OfRun,
): ShiftedStep | undefined {
  const { kind } = candidate;
  const own = kind === "removed"
    ? candidate.history
    : kind === "inserted"
    ? candidate.code
    : undefined;
  if (own === undefined) return undefined;
  const differs = (history: HistoryStep, code: CodeStep) =>
    compareFields(history, code, run).some(({ counts }) => !counts);
  const pairs = pairsBefore(place, sides).filter(({ history }) =>
    history.kind === own.kind && history.name === own.name
  ).slice(-MAX_PAIRS);
  let [removed, added] = [candidate.history, candidate.code];
  let shifted: ShiftedStep | undefined;
  // How many more pairs are alike if the step of the pair is the changed one.
  let [gain, most] = [0, 0];
  for (const pair of pairs.toReversed()) {
    const { history, code } = pair;
    const isShifted = kind === "removed" ? !differs(removed!, code) : !differs(history, added!);
    if (!isShifted) break;
    if (differs(history, code)) gain++;
    [removed, added] = [history, code];
    if (gain > most) [most, shifted] = [gain, pair];
  }
  return shifted;
}

/** Returns the matching pairs before a place, in order. */
function pairsBefore({ task, at, pairs }: Place, sides: Sides): ShiftedStep[] {
  const before = sides.history.filter((one) => one.task < task.task && sides.has(one)).flatMap((
    one,
  ) => sides.pairs(one));
  return [...before, ...pairs.slice(0, at)].flatMap(({ history, code, same }) =>
    same && history !== undefined && code !== undefined ? [{ history, code }] : []
  );
}
