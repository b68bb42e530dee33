// Workflow tasks as thin notches in the run's lane. Notches that would touch are merged.
import type { RunModel } from "../../debug/run/types.ts";
import type { Scale } from "./scale.ts";

/** Closer notches are merged. */
const NOTCH_PX = 3;

/** A workflow task that has ended. */
export interface TaskMark {
  readonly number: number;
  readonly doneAt: number;
  readonly doneMs: number;
  readonly isBad: boolean;
}

/** Returns the ended tasks of a run, in order. */
export function tasksOf(model: Pick<RunModel, "items">): TaskMark[] {
  const marks: TaskMark[] = [];
  let number = 0;
  for (const { kind, closedBy, endMs, status } of model.items) {
    if (kind !== "task") continue;
    number++;
    if (closedBy !== undefined && endMs !== undefined) {
      marks.push({ number, doneAt: closedBy, doneMs: endMs, isBad: status !== "completed" });
    }
  }
  return marks;
}

/** A notch and its position. */
export interface NotchAt {
  readonly task: TaskMark;
  readonly x: number;
}

/** Returns the notches between two pixels. */
export function notchesIn(
  tasks: readonly TaskMark[],
  scale: Scale,
  fromX: number,
  toX: number,
): readonly NotchAt[] {
  const shown: NotchAt[] = [];
  let last = -Infinity, lastBad = -Infinity;
  for (const task of tasks) {
    const x = scale.x(task.doneMs);
    if (x > toX) break;
    // A failed task takes precedence over others at the same place.
    if (x < fromX || (task.isBad ? x - lastBad < 1 : x - last < NOTCH_PX)) continue;
    last = x;
    if (task.isBad) lastBad = x;
    shown.push({ task, x });
  }
  return shown;
}
