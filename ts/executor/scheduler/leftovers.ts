// The end of a scope takes back what the scope left pending (losers of Promise.race, calls that are
// not awaited), in order of creation, with a warning. It rejects with CancelledFailure.
import { CancelledFailure } from "../../converter/failures.ts";
import type { Awaiter, Fiber, Leftover } from "./fiber.ts";
import type { RunState } from "./run_state.ts";

/** A fiber has ended: takes back what it and its descendants left pending. */
export function cancelLeftovers(fiber: Fiber): void {
  if (fiber.pending === 0) return;
  const { run } = fiber;
  const left = close(fiber);
  const warn = (message: string, kind: Leftover) => {
    const pending = left.filter((awaiter) => awaiter.leftover === kind);
    if (pending.length > 0) run.log.warn(`${fiber.label} ended ${message}`, { pending: pending.map((one) => one.describe()) });
  };
  warn("with primitives still pending; they are canceled", "canceled");
  warn("before its messages were delivered; await them", "unconfirmed");
  abandonAll(run, left, `${fiber.label} has ended`);
}

/** A fiber has lost a race, which is no oversight of anybody's: it ends here, with what it and its descendants left pending. */
export function endLoser(fiber: Fiber, why: string): void {
  abandonAll(fiber.run, close(fiber), why);
}

/** The fiber and its descendants have ended. Answers what they left pending, in order of creation. */
function close(fiber: Fiber): Awaiter<unknown>[] {
  const { run } = fiber;
  for (const other of [...run.fibers]) {
    if (other.isWithin(fiber)) {
      other.ended = true;
      run.fibers.delete(other);
      run.context.watch?.ended(other);
    }
  }
  return fiber.pending === 0 ? [] : [...run.pending].filter((awaiter) => awaiter.fiber.isWithin(fiber));
}

function abandonAll(run: RunState, left: readonly Awaiter<unknown>[], why: string): void {
  for (const awaiter of left) {
    // The end of one may have ended another: a select that is given up takes its timers with it.
    if (!awaiter.isPending) continue;
    const reason = new CancelledFailure(`${awaiter.describe()} was cancelled: ${why}`);
    run.scopeReasons.add(reason);
    awaiter.abandon(reason);
  }
}
