// Where the time of a run went, by name: how often, how long, how many failed.
import type { ItemKind, RunItem, RunModel } from "../debug/run/types.ts";

export interface NameSummary {
  readonly kind: ItemKind;
  readonly name: string;
  readonly count: number;
  /** Failed, timed out, terminated or rejected. */
  readonly failed: number;
  /** Those that history says of; 0 for things that have none. */
  readonly tries: number;
  /** Milliseconds of those that closed; undefined where none did, or where things of the kind take no time. */
  readonly medianMs: number | undefined;
  readonly longestMs: number | undefined;
  /** The one that took longest, else the first. */
  readonly longest: RunItem;
}

/** Things that take time. */
const LASTING: ReadonlySet<ItemKind> = new Set(["activity", "localActivity", "timer", "child", "nexus", "external", "update"]);
const BAD: ReadonlySet<string> = new Set(["failed", "timedOut", "terminated", "rejected"]);

/** By kind and name, those that took longest first; messages and markers after them in the order in which they came. */
export function summaryOf(model: RunModel): readonly NameSummary[] {
  const groups = new Map<string, RunItem[]>();
  for (const item of model.items) {
    if (item.kind === "task" || item.kind === "run") continue;
    const key = `${item.kind} ${item.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].map(summarise).sort((a, b) => (b.longestMs ?? -1) - (a.longestMs ?? -1));
}

function summarise(items: readonly RunItem[]): NameSummary {
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
  return { kind, name, count: items.length, failed, tries, medianMs, longestMs: spans.at(-1), longest };
}
