// Where a position is among the rows of the list, and how many things it has of each kind.
import type { Row } from "../../../ts/run_view/rows.ts";
import type { ItemKind, RunModel } from "../app/run_model.ts";

/** Index of the row that a position is at: the last that has begun; -1 before all of them. Rows are in the order of their first events. */
export function rowOf(rows: readonly Row[], position: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.from <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the rule of the task that ran last, or runs, at a row; -1: none. */
export function taskRowOf(rows: readonly Row[], at: number): number {
  while (at >= 0 && rows[at]!.is !== "task") at--;
  return at;
}

/** How many things of each kind there are, in the order of their first appearance. */
export function countsOf(model: RunModel): ReadonlyMap<ItemKind, number> {
  const counts = new Map<ItemKind, number>();
  for (const { kind } of model.items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
