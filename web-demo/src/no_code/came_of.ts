// The cause and result of an item in the history: the workflow task that processed it, and the
// commands of that task.
import { countLeading } from "../store/ascending.ts";
import type { RunItem, RunModel } from "../store/run_model.ts";

/** A completed workflow task and the results of its commands. */
export interface TaskAnswer {
  /** From 1, as in the list. */
  readonly number: number;
  readonly task: RunItem;
  /** Items that it started, in order; the end of the run is one of them. */
  readonly began: readonly RunItem[];
  /** Timers, activities and children that it canceled. */
  readonly took: readonly RunItem[];
  /** Updates that it completed and an earlier task had accepted. */
  readonly completedUpdates: readonly RunItem[];
}

interface Numbered {
  readonly number: number;
  readonly task: RunItem;
}

interface Tasks {
  readonly numbers: ReadonlyMap<RunItem, number>;
  /** In order: each was started after the previous one had completed. */
  readonly completed: readonly Numbered[];
}

const known = new WeakMap<RunModel, Tasks>();

function tasksOf(model: RunModel): Tasks {
  let tasks = known.get(model);
  if (tasks === undefined) {
    const all = model.items.filter(({ kind }) => kind === "task").map((task, i) => ({
      number: i + 1,
      task,
    }));
    const numbers = new Map(all.map(({ number, task }) => [task, number]));
    known.set(
      model,
      tasks = { numbers, completed: all.filter(({ task }) => task.status === "completed") },
    );
  }
  return tasks;
}

/** Number of a task, from 1. */
export const numberOfTask = (model: RunModel, task: RunItem): number =>
  tasksOf(model).numbers.get(task) ?? 0;

/** The first completed task that processed an event; undefined without one. */
export function takenBy(model: RunModel, eventId: number): TaskAnswer | undefined {
  const { completed } = tasksOf(model);
  const found =
    completed[countLeading(completed.length, (i) => completed[i]!.task.eventIds[1]! <= eventId)];
  return found === undefined ? undefined : taskAnswer(model, found);
}

/**
 * The completed task whose command created an item; undefined for items from outside the workflow.
 */
export function madeIn(model: RunModel, item: RunItem): Numbered | undefined {
  if (item.kind === "signal" || item.kind === "task" || item.from === 1) return undefined;
  const { completed } = tasksOf(model);
  const task =
    completed[countLeading(completed.length, (i) => completed[i]!.task.closedBy! < item.from) - 1];
  return task !== undefined && taskAnswer(model, task).began.includes(item) ? task : undefined;
}

/** The completed task that wrote an event of a command. */
export function writtenIn(model: RunModel, eventId: number): Numbered | undefined {
  const { completed } = tasksOf(model);
  return completed[
    countLeading(completed.length, (i) => completed[i]!.task.closedBy! < eventId) - 1
  ];
}

/** What was new to a task: messages, and items that closed since the previous task. */
export function seenBy(model: RunModel, { number, task }: Numbered): readonly RunItem[] {
  const { completed } = tasksOf(model);
  const before = completed[countLeading(completed.length, (i) => completed[i]!.number < number) - 1]
    ?.task;
  const from = before === undefined ? 1 : before.eventIds[1]! + 1;
  const seen = new Set<RunItem>();
  for (let id = from; id < task.eventIds[1]!; id++) {
    const item = model.itemOf(id);
    if (item === undefined || item.kind === "task") continue;
    const isNews = item.kind === "signal" || item.from === 1 ||
      (item.closedBy === id && item.from !== id);
    // Items that the previous task closed by its own commands are not new.
    const isOwn = before !== undefined && isCommand(model, item, id);
    if (isNews && !isOwn) seen.add(item);
  }
  return [...seen];
}

/** Whether the event is the result of a command for an earlier item. */
const isCommand = (model: RunModel, item: RunItem, id: number): boolean =>
  item.kind === "update" || /^(?:TimerCanceled|.*CancelRequested)$/.test(model.lines[id - 1]!.type);

/** Items started and closed by the commands of a task. */
export function taskAnswer(model: RunModel, { number, task }: Numbered): TaskAnswer {
  const began: RunItem[] = [];
  const took: RunItem[] = [];
  const completedUpdates: RunItem[] = [];
  for (let id = task.closedBy! + 1; id <= model.lines.length; id++) {
    const item = model.itemOf(id);
    if (item === undefined || item.kind === "task" || item.kind === "signal") break;
    if (item.from === id) began.push(item);
    else if (!isCommand(model, item, id)) break;
    else if (item.kind !== "update") took.push(item);
    else if (item.closedBy === id && !began.includes(item)) completedUpdates.push(item);
  }
  return { number, task, began, took, completedUpdates };
}
