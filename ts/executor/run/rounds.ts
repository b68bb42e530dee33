// The rounds of a workflow with `carry`. Each round is a separate run function with its own fiber;
// only the carried state passes between rounds, so a round cannot depend on whether it is the first
// of a run (docs/dev/semantics/endless_loops.md). When a round has ended, open work is canceled and
// handlers are done. Only there the run continues as new, if the service suggests it.
import type { Payload } from "../../converter/payload.ts";
import type { WirePayload } from "../program/encode.ts";
import { callRun, isCarry, makeContinueAsNew } from "../program/definition.ts";
import type { Caller } from "../program/local_calls.ts";
import { Fiber } from "../scheduler/fiber.ts";
import { CARRY_HEADER, signalsFit } from "../scheduler/next_run_headers.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { startFiber } from "../scheduler/turns.ts";
import { endRun } from "./completion.ts";

/** Starts the first round of this run: from the workflow's arguments, or from the carried state. */
export function startRounds(
  run: RunState,
  first: (...args: unknown[]) => unknown,
  args: unknown[],
  headers: { readonly [name: string]: WirePayload },
): void {
  if (headers[CARRY_HEADER] === undefined) {
    return startRound(run, run.caller, args, () => encoded(run, first(...args)));
  }
  const state = args.pop();
  startRound(run, run.caller, args, () => encoded(run, state));
}

/**
 * A round gets the encoded and decoded state, as a next run would, so encoding problems appear at
 * once.
 */
function encoded(run: RunState, state: unknown): Payload {
  run.published.publish(run.converter, state, "the carried state");
  return run.published.payload!;
}

/** `caller`: that of the previous round, which may have ended with a message. */
function startRound(
  run: RunState,
  caller: Caller,
  args: readonly unknown[],
  make: () => Payload,
): void {
  const fiber = new Fiber(run, "run", `run of workflow "${run.definition.name}"`, undefined, {
    caller,
  });
  run.continuedAt = undefined;
  const round = () => {
    const state = make();
    run.context.watch?.published();
    return callRun(run.definition, [run.converter.fromPayload(state), ...args]);
  };
  startFiber(fiber, round, (outcome) => {
    if (!outcome.ok || !isCarry(outcome.value)) return endRun(run, outcome);
    const { state } = outcome.value;
    if (continuesHere(run)) {
      return endRun(run, {
        ok: true,
        value: makeContinueAsNew({ args: [...args, state], options: {}, carries: true }),
      });
    }
    // Encoded before the next round's turn: canceled code runs before it, and could change the
    // state.
    let next: Payload;
    try {
      next = encoded(run, state);
    } catch (error) {
      return endRun(run, { ok: false, error });
    }
    startRound(run, fiber.caller, args, () => next);
  });
}

/**
 * False while a child would end with this run, or too many signals are buffered; a later round
 * continues.
 */
function continuesHere(run: RunState): boolean {
  if (!run.continueAsNewSuggested || run.end !== undefined) return false;
  for (const child of run.children.values()) if (child.endsWithParent) return false;
  return signalsFit(run.inbox.signals());
}
