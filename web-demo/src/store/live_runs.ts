// Open runs whose events arrive as they happen. Their timelines end at the current time.
import { type Signal, signal } from "@preact/signals";
import type { OpenRun } from "./state.ts";

/** Keys of the runs that are followed at present. */
export const liveRuns: Signal<ReadonlySet<string>> = signal<ReadonlySet<string>>(new Set());

export function setLive(key: string, isLive: boolean): void {
  if (liveRuns.peek().has(key) === isLive) return;
  const keys = new Set(liveRuns.peek());
  if (isLive) keys.add(key);
  else keys.delete(key);
  liveRuns.value = keys;
}

/** Whether the run is open, and the page knows that it still is. */
export const isLiveRun = ({ key, model }: OpenRun): boolean =>
  model.facts.status === "Running" && liveRuns.value.has(key);
