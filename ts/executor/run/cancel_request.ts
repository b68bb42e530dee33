// A cancel request reaches awaiters in order of creation, then children and Nexus operations.
import { Cancellation } from "../scheduler/cancellation.ts";
import type { RunState } from "../scheduler/run_state.ts";

/**
 * Requests cancellation once. After the end of run it has no effect here: it may be the next run's.
 */
export function requestCancellation(run: RunState, reason: string): void {
  if (run.cancellation !== undefined) return;
  const cancellation = run.cancellation = new Cancellation(
    reason,
    run.inbox.next,
    run.end === undefined,
  );
  if (run.end !== undefined) return;
  for (const awaiter of [...run.pending]) {
    if (awaiter.isPending && !awaiter.fiber.shielded) awaiter.cancel(cancellation.failure());
  }
  // Children that nothing awaits; the awaiters have reached the others.
  for (const child of [...run.children.values()]) {
    if (!child.shielded) child.cancel(cancellation.reason, cancellation.failure());
  }
  for (const operation of [...run.nexusOperations.values()]) {
    if (!operation.shielded) operation.cancel(cancellation.failure());
  }
}
