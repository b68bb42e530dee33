// The tasks that wait in a task queue, and how many come and go: rows of the core (`backlog` in
// core-rs/src/engine/api.rs).
import { durationFromMs } from "../messages/well_known.ts";

/** Tasks that wait for workers on one side of a task queue. */
export interface Backlog {
  readonly tasks: number;
  /** Age of the oldest task, in ms. */
  readonly oldestMs: number;
}

export type QueueSide = "workflow" | "activity";

/** The waiting tasks of one priority. */
export interface PriorityBacklog extends Backlog {
  /** From 1, which is dispatched first, to 5. */
  readonly priority: number;
}

/** With rates, which are averages of at most 30 s. */
export interface PriorityStats extends PriorityBacklog {
  readonly side: QueueSide;
  readonly addedPerSecond: number;
  readonly dispatchedPerSecond: number;
}

const NO_TASKS = { tasks: 0, oldestMs: 0, addedPerSecond: 0, dispatchedPerSecond: 0 };

const ROW = 6;

/** Converts the rows of the core. Each is one side and priority that was used lately. */
export function readStats(rows: ArrayLike<number>): PriorityStats[] {
  const stats: PriorityStats[] = [];
  for (let at = 0; at + ROW <= rows.length; at += ROW) {
    stats.push({
      side: rows[at] === 0 ? "workflow" : "activity",
      priority: rows[at + 1]!,
      tasks: rows[at + 2]!,
      oldestMs: rows[at + 3]!,
      addedPerSecond: rows[at + 4]!,
      dispatchedPerSecond: rows[at + 5]!,
    });
  }
  return stats;
}

/** Adds up the stats of one side. */
export function totalOf(
  stats: readonly PriorityStats[],
  side: QueueSide,
): Omit<PriorityStats, "side" | "priority"> {
  const total = { ...NO_TASKS };
  for (const row of stats) {
    if (row.side !== side) continue;
    total.tasks += row.tasks;
    total.oldestMs = Math.max(total.oldestMs, row.oldestMs);
    total.addedPerSecond += row.addedPerSecond;
    total.dispatchedPerSecond += row.dispatchedPerSecond;
  }
  return total;
}

/** TaskQueueStats of the API. */
export const statsMessage = (of: ReturnType<typeof totalOf>) => ({
  approximateBacklogCount: BigInt(of.tasks),
  approximateBacklogAge: durationFromMs(of.oldestMs),
  tasksAddRate: of.addedPerSecond,
  tasksDispatchRate: of.dispatchedPerSecond,
});

/** Adds standalone activities, which wait in separate queues. */
export function withStandalone(
  stats: readonly PriorityStats[],
  standalone: readonly PriorityBacklog[],
): PriorityStats[] {
  const all = [...stats];
  for (const { priority, tasks, oldestMs } of standalone) {
    const at = all.findIndex((row) => row.side === "activity" && row.priority === priority);
    const row = all[at] ?? { ...NO_TASKS, side: "activity", priority };
    const sum = { tasks: row.tasks + tasks, oldestMs: Math.max(row.oldestMs, oldestMs) };
    all.splice(at < 0 ? all.length : at, 1, { ...row, ...sum });
  }
  return all;
}

/** Returns both sides of a queue. */
export function backlogOf(
  stats: readonly PriorityStats[],
): { readonly workflow: Backlog; readonly activity: Backlog } {
  const side = (name: QueueSide): Backlog => {
    const { tasks, oldestMs } = totalOf(stats, name);
    return { tasks, oldestMs };
  };
  return { workflow: side("workflow"), activity: side("activity") };
}
