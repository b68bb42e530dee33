// Cancellation, of two kinds. A cancel request of the workflow reaches every unshielded awaiter in order of creation, and every one that
// is made later, and every child that was not started in a shield. The end of a scope takes back what the scope left pending (losers of Promise.race, calls that nobody awaits), in order
// of creation, with a warning. Both reject with CancelledFailure; code parked on a shielded awaiter is not touched.
import { CancelledFailure } from "../../converter/failures.ts";
import { cancelChildren } from "../primitives/children.ts";
import type { NativeRun } from "./run.ts";
import type { Awaiter, Fiber } from "./fiber.ts";

export class Cancellation {
  readonly reason: string;
  /** Messages with a smaller number in the inbox came before it. */
  readonly order: number;
  /**
   * Code of the run knows of it: a wait was rejected by it, or code asked. One that no code knows of when run returns a continueAsNew is
   * the next run's (continue_as_new_headers.ts).
   */
  told = false;

  constructor(reason: string, order: number) {
    this.reason = reason;
    this.order = order;
  }

  failure(): CancelledFailure {
    return new CancelledFailure(this.reason === "" ? "Workflow cancelled" : `Workflow cancelled: ${this.reason}`);
  }
}

/** A cancel request of the workflow; asking again changes nothing. After the end of run it reaches nothing: it may be the next run's. */
export function requestCancellation(run: NativeRun, reason: string): void {
  if (run.cancellation !== undefined) return;
  const cancellation = run.cancellation = new Cancellation(
    reason,
    run.inbox.next,
  );
  if (run.end !== undefined) return;
  for (const awaiter of [...run.pending]) {
    if (awaiter.isPending && !awaiter.fiber.shielded) awaiter.cancel(cancellation.failure());
  }
  cancelChildren(run);
}

/** A fiber has ended: takes back what it and its descendants left pending. */
export function cancelLeftovers(fiber: Fiber): void {
  if (fiber.pending === 0) return;
  const { run } = fiber;
  const left = close(fiber);
  const warn = (message: string, pending: readonly Awaiter<unknown>[]) => {
    if (pending.length > 0) run.log.warn(`${fiber.label} ended ${message}`, { pending: pending.map((one) => one.describe()) });
  };
  warn("with primitives still pending; they are cancelled", left.filter((awaiter) => !awaiter.isMessage));
  warn("before it knew whether its messages arrived; await them", left.filter((awaiter) => awaiter.isMessage));
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
    }
  }
  return fiber.pending === 0 ? [] : [...run.pending].filter((awaiter) => awaiter.fiber.isWithin(fiber));
}

function abandonAll(run: NativeRun, left: readonly Awaiter<unknown>[], why: string): void {
  for (const awaiter of left) {
    // The end of one may have ended another: a select that is given up takes its timers with it.
    if (!awaiter.isPending) continue;
    const reason = new CancelledFailure(`${awaiter.describe()} was cancelled: ${why}`);
    run.scopeReasons.add(reason);
    awaiter.abandon(reason);
  }
}
