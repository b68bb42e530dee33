// Workflow tasks as notches in the run's own lane: thin, and one where many would touch.
import type { RunModel } from "../../debug/run/types.ts";
import type { Scale } from "./scale.ts";

/** Notches that would touch are one. */
const NOTCH_PX = 3;

/** A workflow task that has ended. */
export interface TaskMark {
  readonly number: number;
  readonly doneAt: number;
  readonly doneMs: number;
  readonly isBad: boolean;
}

/** The tasks of a run that have ended, in order. */
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

/** A notch, and where it stands. */
export interface NotchAt {
  readonly task: TaskMark;
  readonly x: number;
}

/** Those between two pixels. */
export function notchesIn(tasks: readonly TaskMark[], scale: Scale, fromX: number, toX: number): readonly NotchAt[] {
  const shown: NotchAt[] = [];
  let last = -Infinity, lastBad = -Infinity;
  for (const task of tasks) {
    const x = scale.x(task.doneMs);
    if (x > toX) break;
    // One that failed is seen among others, and of many at one place one is.
    if (x < fromX || (task.isBad ? x - lastBad < 1 : x - last < NOTCH_PX)) continue;
    last = x;
    if (task.isBad) lastBad = x;
    shown.push({ task, x });
  }
  return shown;
}
