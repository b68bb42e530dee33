// The first divergence of code and history: the line, the event, and the label at the line.
import type { OpenRun } from "../store/state.ts";
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import type { LineAt } from "./facts.ts";
import { frameLine } from "./view_facts.ts";

export interface Parting {
  readonly at: LineAt | undefined;
  readonly position: number;
  readonly isDivergence: boolean;
  /** What the history has instead of the command of the code, for the chip at the line. */
  readonly mark: { readonly text: string; readonly more: string };
}

/** Undefined if the code reproduces the history, as far as it was replayed. */
export function findParting(run: OpenRun): Parting | undefined {
  const { problem } = run.session.value ?? {};
  const code = run.code.value;
  if (problem === undefined || code === undefined) return undefined;
  const { position, eventId, isDivergence, message, divergence } = problem;
  const location = divergence?.location || problem.location;
  const expected = divergence?.first.history?.text ?? problem.expected;
  return {
    at: frameLine(location, code),
    position,
    isDivergence,
    mark: isDivergence && divergence !== undefined && divergence.first.history === undefined
      ? { text: "history has nothing here", more: "" }
      : isDivergence && expected !== ""
      ? { text: `history has ${expected} here`, more: eventId > 0 ? `event ${eventId}` : "" }
      : { text: message.split("\n")[0]!.slice(0, 90), more: "" },
  };
}

/** The explanation of a divergence, if the session has one. */
export const divergenceOf = (run: OpenRun): Divergence | undefined =>
  run.session.value?.problem?.divergence;
