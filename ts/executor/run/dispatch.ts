// Which message moves next, and what becomes of updates that nothing took
// (docs/dev/semantics/messages.md#the-oldest-message-that-something-takes-moves). Messages go by
// order of arrival: the oldest one that something can take. Who waits for it by name
// (waitForSignal, select) takes before the receive; a receive takes one message at a time.
import type { SignalItem, UpdateItem } from "../scheduler/inbox.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { isContinuing } from "./completion.ts";
import { rejectUpdate, unknownUpdate } from "../primitives/updates.ts";

/** Moves one message; false when none can move. Answers a promise when a validator has to be waited for. */
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
  // A signal that both want (the same item) is the waiter's.
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
 * At the end of an activation no update may stay undecided: the server would reject it for us. One that the active receive handles but
 * is too busy for is validated now and queued for it; every other one is rejected. When the run continues as new they are left to the
 * server, which gives them to the new run.
 */
export async function decideUpdates(run: RunState): Promise<void> {
  if (run.inbox.undecided.size === 0 || isContinuing(run)) return;
  for (const update of [...run.inbox.undecided]) {
    const receive = run.receive;
    if (receive !== undefined && !receive.isStopping && receive.handles(update)) await receive.accept(update);
    else {
      run.inbox.undecided.delete(update);
      rejectUpdate(run, update, unknownUpdate(run, update));
    }
  }
}
