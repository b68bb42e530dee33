// carry: what a round returns to go on with the next one. The rounds are the executor's (executor/run/rounds.ts).
import { type CarryShape, makeCarry } from "../executor/program/definition.ts";
import { callSite } from "../executor/program/call_site.ts";
import { requireRole } from "../executor/scheduler/api_guard.ts";
import { currentFiber } from "../executor/scheduler/fiber.ts";

declare const carried: unique symbol;

/** Returned by a round to go on with the next one, which begins with a state of type `S`. Made by {@link carry}. */
export interface Carry<S> extends CarryShape {
  /** The state, for the type checker. */
  readonly [carried]: S;
}

/**
 * Goes on with the next round: `return carry(state)` from the `round` of a workflow that declares `carry`. The next round begins with a
 * copy of the state, which is also what queries see. Between two rounds the run continues as new whenever its history is long enough; code
 * does not notice. Only `round` itself may return it.
 */
export function carry<S>(state: S): Carry<S> {
  const fiber = currentFiber();
  if (fiber !== undefined) {
    requireRole(fiber, "carry", ["run"], "End the handler or branch, and return carry from the round.");
    fiber.run.continuedAt = callSite(1);
  }
  return makeCarry({ state }) as Carry<S>;
}
