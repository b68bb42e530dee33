// Finds the row at a position, and counts the items of each kind.
import type { Row } from "../../../ts/run_view/rows.ts";
import type { ItemKind, RunModel } from "../store/run_model.ts";

/**
 * Index of the last row that has begun at a position; -1 before the first. Rows are in the order of
 * their first events.
 */
export function rowOf(rows: readonly Row[], position: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.from <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the row of the last task that ran at a row, or runs there; -1 without one. */
export function taskRowOf(rows: readonly Row[], at: number): number {
  while (at >= 0 && rows[at]!.is !== "task") at--;
  return at;
}

/** Number of items of each kind, in the order of their first appearance. */
export function countsOf(model: RunModel): ReadonlyMap<ItemKind, number> {
  const counts = new Map<ItemKind, number>();
  for (const { kind } of model.items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
