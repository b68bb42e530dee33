// Buffering and deduplication: signals are collected into batches, and each id counts once.
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const ledger = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });
export const add = defineSignal<[id: string, amount: number]>("add");
export const close = defineSignal("close");

const REMEMBERED = 1000;
export interface Seen {
  readonly ids: readonly string[];
  readonly stored: number;
  /** Amounts that arrived with the last batch and are not stored. */
  readonly waiting: readonly number[];
  readonly closed: boolean;
}

export async function collect(
  size: number,
  windowMs: number,
  seen: Seen = { ids: [], stored: 0, waiting: [], closed: false },
): Promise<number> {
  const ids = new Set(seen.ids);
  const waiting = [...seen.waiting];
  let closed = seen.closed;
  setHandler(add, (id, amount) => {
    if (ids.has(id) || closed) return;
    ids.add(id);
    waiting.push(amount);
  });
  setHandler(close, () => {
    closed = true;
  });
  await condition(
    () => waiting.length >= size || closed || workflowInfo().continueAsNewSuggested,
    windowMs,
  );
  const batch = waiting.splice(0, size);
  if (batch.length > 0) await ledger.store(batch);
  const stored = seen.stored + batch.length;
  if (closed && waiting.length === 0) return stored;
  return await continueAsNew<typeof collect>(size, windowMs, {
    ids: [...ids].slice(-REMEMBERED),
    stored,
    waiting,
    closed,
  });
}
