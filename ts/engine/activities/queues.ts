// Standalone activities that wait: for a worker in their queue, or for their next deadline.
import type { PriorityBacklog } from "../backlog.ts";
import type { LiveActivity, QueuePlace } from "./state.ts";

/** The middle of a server's five priorities; 1 is the most urgent. */
const DEFAULT_PRIORITY = 3;

/** The priority that an activity has now. */
export const priorityOf = ({ info }: LiveActivity): number =>
  info.priority?.priorityKey || DEFAULT_PRIORITY;

function comparePlaces(a: QueuePlace, b: QueuePlace): number {
  return a.priority - b.priority || a.readyMs - b.readyMs || a.order - b.order;
}

/** Task queues: urgent activities first, then those that have waited longest. */
export class ActivityQueues {
  readonly #queues = new Map<string, LiveActivity[]>();
  #order = 0;
  #size = 0;

  /** Activities that wait in all queues. */
  get size(): number {
    return this.#size;
  }

  names(): string[] {
    return [...this.#queues.keys()];
  }

  first(queue: string): LiveActivity | undefined {
    return this.#queues.get(queue)?.[0];
  }

  push(activity: LiveActivity): void {
    const { info, progress } = activity;
    activity.queued = {
      queue: info.taskQueue,
      priority: priorityOf(activity),
      readyMs: progress.readyMs,
      order: this.#order++,
    };
    const waiting = this.#queues.get(info.taskQueue);
    if (waiting === undefined) this.#queues.set(info.taskQueue, [activity]);
    else waiting.splice(indexOf(waiting, activity.queued), 0, activity);
    this.#size++;
  }

  remove(activity: LiveActivity): void {
    const place = activity.queued;
    if (place === undefined) return;
    activity.queued = undefined;
    const waiting = this.#queues.get(place.queue)!;
    const at = waiting.indexOf(activity);
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#queues.delete(place.queue);
    this.#size--;
  }

  /** By priority: the number of activities in a queue, and how long the oldest has waited. */
  backlog(queue: string, nowMs: number): PriorityBacklog[] {
    const rows = new Map<number, PriorityBacklog>();
    for (const { queued } of this.#queues.get(queue) ?? []) {
      const { priority, readyMs } = queued!;
      const { tasks = 0, oldestMs = 0 } = rows.get(priority) ?? {};
      rows.set(priority, {
        priority,
        tasks: tasks + 1,
        oldestMs: Math.max(oldestMs, nowMs - readyMs),
      });
    }
    return [...rows.values()];
  }

  clear(): void {
    this.#queues.clear();
    this.#size = 0;
  }
}

function indexOf(waiting: readonly LiveActivity[], place: QueuePlace): number {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePlaces(waiting[middle]!.queued!, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Entry {
  readonly atMs: number;
  readonly activity: LiveActivity;
}

/** Activities by their deadlines: a binary heap. An entry of an older deadline is skipped. */
export class Agenda {
  #entries: Entry[] = [];

  set(activity: LiveActivity, atMs: number): void {
    // Its entry is there: heartbeats do not move most deadlines.
    if (activity.deadlineMs === atMs) return;
    activity.deadlineMs = atMs;
    if (atMs === Infinity) return;
    const entries = this.#entries;
    entries.push({ atMs, activity });
    for (let at = entries.length - 1; at > 0;) {
      const parent = (at - 1) >> 1;
      if (entries[parent]!.atMs <= atMs) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Entries, also those of older deadlines. */
  get size(): number {
    return this.#entries.length;
  }

  /** The earliest deadline; Infinity: none. */
  nextMs(): number {
    for (let first = this.#entries[0]; first !== undefined; first = this.#entries[0]) {
      if (first.activity.deadlineMs === first.atMs) return first.atMs;
      this.#removeFirst();
    }
    return Infinity;
  }

  /** Removes and returns an activity whose deadline has passed. */
  takeDue(nowMs: number): LiveActivity | undefined {
    if (this.nextMs() > nowMs) return undefined;
    const { activity } = this.#entries[0]!;
    this.#removeFirst();
    activity.deadlineMs = Infinity;
    return activity;
  }

  #removeFirst(): void {
    const entries = this.#entries;
    const last = entries.pop()!;
    if (entries.length === 0) return;
    entries[0] = last;
    for (let at = 0;;) {
      const left = 2 * at + 1;
      if (left >= entries.length) return;
      const right = left + 1;
      const least = right < entries.length && entries[right]!.atMs < entries[left]!.atMs
        ? right
        : left;
      if (entries[at]!.atMs <= entries[least]!.atMs) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const entries = this.#entries;
    const entry = entries[a]!;
    entries[a] = entries[b]!;
    entries[b] = entry;
  }

  clear(): void {
    this.#entries = [];
  }
}
