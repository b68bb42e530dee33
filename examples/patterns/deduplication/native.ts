// Buffering and deduplication: signals are collected into batches, and each id counts once.
import {
  activities,
  continueAsNew,
  noreply,
  on,
  receive,
  signal,
  stop,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

const ledger = activities<typeof import("./activities.ts")>({ startToClose: "10s" });
export const add = signal<[id: string, amount: number]>("add");
export const close = signal("close");

const REMEMBERED = 1000;
export interface Seen {
  readonly ids: readonly string[];
  readonly stored: number;
}
interface Collected {
  readonly ids: readonly string[];
  readonly batch: readonly number[];
  readonly closed: boolean;
}

export const collect = workflow(
  "collect",
  async (size: number, windowMs: number, seen: Seen = { ids: [], stored: 0 }) => {
    const start: Collected = { ids: seen.ids, batch: [], closed: false };
    const { state: { ids, batch, closed } } = await receive(start, [
      on(add, ([id, amount], state) => {
        if (state.ids.includes(id)) return noreply(state);
        const next = { ...state, ids: [...state.ids, id], batch: [...state.batch, amount] };
        return next.batch.length < size ? noreply(next) : stop(next);
      }),
      on(close, (_, state) => stop({ ...state, closed: true })),
    ], { timeout: windowMs, until: () => workflowInfo().continueAsNewSuggested });
    if (batch.length > 0) await ledger.store(batch);
    const stored = seen.stored + batch.length;
    if (closed) return stored;
    return continueAsNew(size, windowMs, { ids: ids.slice(-REMEMBERED), stored });
  },
);
