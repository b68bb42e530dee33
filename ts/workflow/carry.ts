// carry: returned by a round to start the next one. For the rounds see executor/run/rounds.ts.
import { type CarryShape, makeCarry } from "../executor/program/definition.ts";
import { callSite } from "../executor/program/call_site.ts";
import { requireRole } from "../executor/scheduler/api_guard.ts";
import { currentFiber } from "../executor/scheduler/fiber.ts";

declare const carried: unique symbol;

/** Returned by a round to start the next one with a state of type `S`. Made by {@link carry}. */
export interface Carry<S> extends CarryShape {
  /** The state, for the type checker. */
  readonly [carried]: S;
}

/**
 * Continues with the next round: `return carry(state)` from the `round` of a workflow with `carry`.
 * The next round gets a copy of the state, which queries see too. Between rounds the run continues
 * as new when its history is long enough, without effect on the code. Only `round` itself may
 * return it.
 */
export function carry<S>(state: S): Carry<S> {
  const fiber = currentFiber();
  if (fiber !== undefined) {
    requireRole(
      fiber,
      "carry",
      ["run"],
      "End the handler or branch, and return carry from the round.",
    );
    fiber.run.continuedAt = callSite(1);
  }
  return makeCarry({ state }) as Carry<S>;
}
