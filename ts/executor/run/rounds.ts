// The rounds of a workflow that declares `carry`. Each round is a run function of its own, with a fiber of its own; nothing but the carried
// state goes from one to the next, so a round cannot depend on whether it is the first of a run
// (docs/dev/semantics/endless_loops.md). Where a round has returned the state of the next, its fiber has ended: what it left open is cancelled,
// its handlers are done. There, and only there, the run continues as new when the service suggests it.
import type { Payload } from "../../converter/payload.ts";
import type { WirePayload } from "../program/encode.ts";
import { isCarry, makeContinueAsNew } from "../program/definition.ts";
import type { Caller } from "../program/local_calls.ts";
import { Fiber } from "../scheduler/fiber.ts";
import { CARRY_HEADER, signalsFit } from "../scheduler/next_run_headers.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { startFiber } from "../scheduler/turns.ts";
import { endRun } from "./completion.ts";

/** Starts the first round of this run: of the workflow's arguments, or of what the run before this one carried behind them. */
export function startRounds(
  run: RunState,
  first: (...args: unknown[]) => unknown,
  args: unknown[],
  headers: { readonly [name: string]: WirePayload },
): void {
  if (headers[CARRY_HEADER] === undefined) return startRound(run, run.caller, args, () => encoded(run, first(...args)));
  const state = args.pop();
  startRound(run, run.caller, args, () => encoded(run, state));
}

/** The round works on what a next run would get, so what the encoding changes or refuses shows in the first round. */
function encoded(run: RunState, state: unknown): Payload {
  run.published.publish(run.converter, state, "the carried state");
  return run.published.payload!;
}

/** `caller`: the one of the round before, which may have ended with a message. */
function startRound(run: RunState, caller: Caller, args: readonly unknown[], make: () => Payload): void {
  const fiber = new Fiber(run, "run", `run of workflow "${run.definition.name}"`, undefined, { caller });
  run.continuedAt = undefined;
  const round = () => {
    const state = make();
    run.context.watch?.published();
    return run.definition.run(run.converter.fromPayload(state), ...args);
  };
  startFiber(fiber, round, (outcome) => {
    if (!outcome.ok || !isCarry(outcome.value)) return endRun(run, outcome);
    const { state } = outcome.value;
    if (continuesHere(run)) {
      return endRun(run, { ok: true, value: makeContinueAsNew({ args: [...args, state], options: {}, carries: true }) });
    }
    // Now, and not in the next round's turn: before it runs what the code does that has just been cancelled, which would change the state.
    let next: Payload;
    try {
      next = encoded(run, state);
    } catch (error) {
      return endRun(run, { ok: false, error });
    }
    startRound(run, fiber.caller, args, () => next);
  });
}

/** Not where a child would end with this run, nor where more signals wait than the next run can be handed: then after a later round. */
function continuesHere(run: RunState): boolean {
  if (!run.continueAsNewSuggested || run.end !== undefined) return false;
  for (const child of run.children.values()) if (child.endsWithParent) return false;
  return signalsFit(run.inbox.signals());
}
