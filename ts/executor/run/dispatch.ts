// Chooses the next message, and decides updates that were not taken
// (docs/dev/semantics/messages.md#the-oldest-message-that-something-takes-moves): the oldest
// message that can be taken, first by waiters for its name (waitForSignal, select), then by the
// receive, one at a time.
import type { SignalItem, UpdateItem } from "../scheduler/inbox.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { isContinuing } from "./completion.ts";
import { rejectUpdate, unknownUpdate } from "../primitives/updates.ts";

/**
 * Dispatches one message; false if none can be taken. A promise if a validator has to be awaited.
 */
export function dispatchOne(run: RunState): boolean | Promise<boolean> {
  if (run.end !== undefined) return false;
  const { inbox } = run;
  const receive = run.receive?.isIdle === true ? run.receive : undefined;
  let oldest: SignalItem | UpdateItem | undefined;
  let forWaiter = false;
  if (run.waiters.size > 0 && !inbox.isEmpty) {
    for (const name of run.waiters.keys()) {
      const signal = inbox.peekSignal(name);
      if (signal === undefined || (oldest !== undefined && oldest.order < signal.order)) continue;
      oldest = signal;
      forWaiter = true;
    }
  }
  const wanted = receive?.nextItem();
  // If both want the same signal, the waiter gets it.
  if (wanted !== undefined && (oldest === undefined || wanted.order < oldest.order)) {
    oldest = wanted;
    forWaiter = false;
  }
  if (oldest === undefined) return receive?.inboxDrained() === true;
  if (forWaiter) {
    inbox.takeSignal(oldest.name);
    run.waiters.get(oldest.name)![0]!.deliver(oldest as SignalItem);
    return true;
  }
  return receive!.dispatch(oldest)?.then(() => true) ?? true;
}

/**
 * Decides all updates at the end of an activation; the server would reject undecided ones. An
 * update that a busy receive handles is validated and queued; others are rejected. If the run
 * continues as new, the server passes them to the new run.
 */
export async function decideUpdates(run: RunState): Promise<void> {
  if (run.inbox.undecided.size === 0 || isContinuing(run)) return;
  for (const update of [...run.inbox.undecided]) {
    const receive = run.receive;
    if (receive !== undefined && !receive.isStopping && receive.handles(update)) {
      await receive.accept(update);
    } else {
      run.inbox.undecided.delete(update);
      rejectUpdate(run, update, unknownUpdate(run, update));
    }
  }
}
