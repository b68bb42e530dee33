// updateState: changes the state of the receive whose async handler calls it
// (docs/dev/semantics/messages.md#one-sync-handler-at-a-time).
import { callingFiber, requireRole } from "../scheduler/api_guard.ts";
import { rejected } from "../scheduler/fiber.ts";
import type { StateChange } from "../scheduler/job_targets.ts";

/** updateState from an async handler or its branches. */
export function updateStateInFiber<R>(fn: StateChange<R>): Promise<R> {
  const fiber = callingFiber("updateState", undefined, 2);
  const scope = fiber.receive;
  if (scope === undefined) {
    requireRole(
      fiber,
      "updateState",
      ["async"],
      "Return the new state from a handler; run gets the state when receive returns.",
    );
    throw new Error("an async handler without a receive");
  }
  if (fiber.ended) return rejected(fiber.run.scopeEnded(fiber, "updateState"));
  return scope.updateState(fiber, fn);
}
