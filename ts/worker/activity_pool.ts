// Threads for activities, so that one that computes does not stop timers, heartbeats and other activities. A thread runs one activity at a
// time; one that was told to stop and does not react is ended with its thread, and the next activity gets a new one.
import { type ActivityContext, CompleteAsyncError } from "../activity/context.ts";
import { decodeFailure } from "../converter/failure_converter.ts";
import { ApplicationFailure } from "../converter/failures.ts";
import { hardwareThreads } from "../platform/host.ts";
import { startThread, type Thread } from "../platform/threads.ts";
import type { Timers } from "../service/timers.ts";
import type { FromThread, ToThread } from "./thread_messages.ts";

export interface ActivityThreads {
  /** Module whose exported functions are the activities. A URL, or an absolute specifier. */
  module: URL | string;
  /** Threads. Default: one less than the machine runs at once, at least one. */
  size?: number;
}

/** How long an activity that was told to stop may go on before its thread is ended. */
const PATIENCE_MS = 5000;

interface Job {
  activity: string;
  context: ActivityContext;
  args: unknown[];
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Slot {
  /** Undefined while it starts. */
  thread: Thread | undefined;
  id: number;
  job: Job | undefined;
  loaded: ((names: string[]) => void) | undefined;
  broken: ((error: Error) => void) | undefined;
}

export class ActivityPool {
  /** What the module exports. */
  names: readonly string[] = [];
  readonly #module: string;
  readonly #size: number;
  readonly #timers: Timers;
  readonly #idle: Slot[] = [];
  readonly #busy = new Set<Slot>();
  readonly #queue: Job[] = [];
  #nextId = 1;
  #closed = false;

  private constructor(module: string, size: number, timers: Timers) {
    this.#module = module;
    this.#size = size;
    this.#timers = timers;
  }

  /** Starts the first thread and learns from it what the module has. Rejects when the module does not load. */
  static async open(
    { module, size = Math.max(1, hardwareThreads() - 1) }: ActivityThreads,
    timers: Timers,
  ): Promise<ActivityPool> {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`activityThreads.size must be a whole number of at least 1, not ${size}`);
    }
    const pool = new ActivityPool(String(module), size, timers);
    const slot = newSlot(undefined);
    try {
      pool.names = await new Promise<string[]>((resolve, reject) => {
        slot.loaded = resolve;
        slot.broken = reject;
        pool.#start(slot).catch(reject);
      });
    } catch (error) {
      await slot.thread?.terminate();
      throw new Error(`the threads for activities could not be started: ${(error as Error).message}`, { cause: error });
    }
    slot.loaded = slot.broken = undefined;
    pool.#idle.push(slot);
    return pool;
  }

  /** Runs an activity in a thread, or queues it until one is free. */
  run(activity: string, context: ActivityContext, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ activity, context, args, resolve, reject });
      this.#next();
    });
  }

  /** Ends all threads; what still runs in them is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#idle, ...this.#busy];
    for (const job of this.#queue.splice(0)) {
      job.reject(new ApplicationFailure("the worker has stopped", { type: "WORKER_SHUTDOWN" }));
    }
    for (const slot of slots) this.#lost(slot, "the worker has stopped");
    await Promise.all(slots.map((slot) => slot.thread?.terminate()));
  }

  #next(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const slot = this.#idle.pop();
      if (slot !== undefined) this.#give(slot, this.#queue.shift()!);
      else if (this.#busy.size < this.#size) this.#open(this.#queue.shift()!);
      else return;
    }
  }

  /** A new thread, with its first job. */
  #open(job: Job): void {
    const slot = newSlot(job);
    this.#busy.add(slot);
    this.#start(slot).then(
      () => slot.job === job && this.#give(slot, job),
      (error: Error) => this.#lost(slot, `it did not start: ${error.message}`),
    );
  }

  async #start(slot: Slot): Promise<void> {
    const events = {
      message: (message: unknown) => this.#heard(slot, message as FromThread),
      died: (reason: string) => this.#lost(slot, reason),
    };
    const thread = await startThread(new URL("./activity_thread.ts", import.meta.url), events, { name: "temporalex activities" });
    if (this.#closed) return await thread.terminate();
    slot.thread = thread;
    post(slot, { kind: "load", module: this.#module });
  }

  #give(slot: Slot, job: Job): void {
    const id = slot.id = this.#nextId++;
    slot.job = job;
    this.#busy.add(slot);
    const { context } = job;
    const cancel = () => {
      if (slot.id !== id) return;
      post(slot, {
        kind: "cancel",
        id,
        reason: context.cancelReason!,
        message: (context.cancelled.reason as Error).message,
      });
      this.#timers.after(PATIENCE_MS, () => {
        if (slot.id !== id || slot.job === undefined) return;
        this.#lost(slot, "it was told to stop and did not", context.cancelled.reason);
        void slot.thread?.terminate();
      });
    };
    try {
      post(slot, { kind: "run", id, activity: job.activity, info: context.info, args: job.args });
    } catch (error) {
      return this.#finish(slot, () => job.reject(error));
    }
    if (context.cancelled.aborted) cancel();
    else context.cancelled.addEventListener("abort", cancel, { once: true });
  }

  #heard(slot: Slot, message: FromThread): void {
    if (message.kind === "loaded") return slot.loaded?.(message.names);
    if (message.kind === "broken") return this.#lost(slot, `its module does not load: ${message.message}`);
    const { job } = slot;
    if (job === undefined || message.id !== slot.id) return;
    switch (message.kind) {
      case "heartbeat":
        return job.context.heartbeat(message.details);
      case "log":
        return job.context.logger[message.level](message.message, message.fields);
      case "done":
        return this.#finish(slot, () => job.resolve(message.result));
      case "failed":
        return this.#finish(slot, () => job.reject(decodeFailure(message.failure)));
      case "completesAsync":
        return this.#finish(slot, () => job.reject(new CompleteAsyncError("this activity is completed from outside")));
    }
  }

  #finish(slot: Slot, settle: () => void): void {
    slot.job = undefined;
    this.#busy.delete(slot);
    this.#idle.push(slot);
    settle();
    this.#next();
  }

  /** The thread is gone; the activity in it failed in a way that another attempt may mend, unless `error` says otherwise. */
  #lost(slot: Slot, why: string, error?: Error): void {
    const { job } = slot;
    slot.job = undefined;
    this.#busy.delete(slot);
    const at = this.#idle.indexOf(slot);
    if (at >= 0) this.#idle.splice(at, 1);
    slot.broken?.(new Error(why));
    const message = `the thread of activity "${job?.activity}" has ended: ${why}`;
    job?.reject(error ?? new ApplicationFailure(message, { type: "ActivityThreadError" }));
    this.#next();
  }
}

function newSlot(job: Job | undefined): Slot {
  return { thread: undefined, id: 0, job, loaded: undefined, broken: undefined };
}

function post(slot: Slot, message: ToThread): void {
  slot.thread?.post(message);
}
