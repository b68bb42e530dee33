// How the time of a run was spent, by name: count, duration, failures.
import type { ItemKind, RunItem, RunModel } from "../debug/run/types.ts";

export interface NameSummary {
  readonly kind: ItemKind;
  readonly name: string;
  readonly count: number;
  /** Number of items that failed, timed out, were terminated or rejected. */
  readonly failed: number;
  /** Number of recorded attempts; 0 for items without attempts. */
  readonly tries: number;
  /**
   * Median duration of closed items in milliseconds; undefined if no item is closed or items of the
   * kind have no duration.
   */
  readonly medianMs: number | undefined;
  readonly longestMs: number | undefined;
  /** The item with the longest duration, otherwise the first one. */
  readonly longest: RunItem;
}

/** Kinds of items with a duration. */
const LASTING: ReadonlySet<ItemKind> = new Set([
  "activity",
  "localActivity",
  "timer",
  "child",
  "nexus",
  "external",
  "update",
]);
const BAD: ReadonlySet<string> = new Set(["failed", "timedOut", "terminated", "rejected"]);

/**
 * Groups items by kind and name, longest first; then messages and markers in order of appearance.
 */
export function summaryOf(model: RunModel): readonly NameSummary[] {
  const groups = new Map<string, RunItem[]>();
  for (const item of model.items) {
    if (item.kind === "task" || item.kind === "run") continue;
    const key = `${item.kind} ${item.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].map(summarize).sort((a, b) =>
    (b.longestMs ?? -1) - (a.longestMs ?? -1)
  );
}

function summarize(items: readonly RunItem[]): NameSummary {
  const { kind, name } = items[0]!;
  let longest = items[0]!;
  let longestMs = -1;
  const spans: number[] = [];
  let failed = 0;
  let tries = 0;
  for (const item of items) {
    if (BAD.has(item.status)) failed++;
    tries += item.attempt;
    if (!LASTING.has(kind) || item.startMs === undefined || item.endMs === undefined) continue;
    const ms = item.endMs - item.startMs;
    spans.push(ms);
    if (ms > longestMs) [longest, longestMs] = [item, ms];
  }
  spans.sort((a, b) => a - b);
  const medianMs = spans[spans.length >> 1];
  return {
    kind,
    name,
    count: items.length,
    failed,
    tries,
    medianMs,
    longestMs: spans.at(-1),
    longest,
  };
}
