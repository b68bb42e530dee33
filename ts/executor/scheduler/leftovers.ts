// The end of a scope cancels pending awaiters of the scope (losers of Promise.race, calls that are
// not awaited), in order of creation, with a warning. They reject with a CancelledFailure.
import { CancelledFailure } from "../../converter/failures.ts";
import type { Awaiter, Fiber, Leftover } from "./fiber.ts";
import type { RunState } from "./run_state.ts";

/** Called at the end of a fiber: cancels the pending awaiters of its subtree. */
export function cancelLeftovers(fiber: Fiber): void {
  if (fiber.pending === 0) return;
  const { run } = fiber;
  const left = close(fiber);
  const warn = (message: string, kind: Leftover) => {
    const pending = left.filter((awaiter) => awaiter.leftover === kind);
    if (pending.length > 0) {
      run.log.warn(`${fiber.label} ended ${message}`, {
        pending: pending.map((one) => one.describe()),
      });
    }
  };
  warn("with primitives still pending; they are canceled", "canceled");
  warn("before its messages were delivered; await them", "unconfirmed");
  abandonAll(run, left, `${fiber.label} has ended`);
}

/**
 * Ends a fiber that lost a race, and cancels the pending awaiters of its subtree without a warning.
 */
export function endLoser(fiber: Fiber, why: string): void {
  abandonAll(fiber.run, close(fiber), why);
}

/** Ends a fiber and its descendants. Returns their pending awaiters, in order of creation. */
function close(fiber: Fiber): Awaiter<unknown>[] {
  const { run } = fiber;
  for (const other of [...run.fibers]) {
    if (other.isWithin(fiber)) {
      other.ended = true;
      run.fibers.delete(other);
      run.context.watch?.ended(other);
    }
  }
  return fiber.pending === 0
    ? []
    : [...run.pending].filter((awaiter) => awaiter.fiber.isWithin(fiber));
}

function abandonAll(run: RunState, left: readonly Awaiter<unknown>[], why: string): void {
  for (const awaiter of left) {
    // An abandoned awaiter may have ended another: a select cancels its timers.
    if (!awaiter.isPending) continue;
    const reason = new CancelledFailure(`${awaiter.describe()} was cancelled: ${why}`);
    run.scopeReasons.add(reason);
    awaiter.abandon(reason);
  }
}
