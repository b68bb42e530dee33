// Threads for activities, so that computing activities do not block timers, heartbeats and other
// activities. By default a thread runs one activity at a time; if it does not respond to
// cancellation, its thread is terminated and replaced. Each pool loads the module again, so a new
// pool is how changed code is loaded.
import { type ActivityContext, CompleteAsyncError } from "../../activity/context.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { messageOf } from "../../converter/thrown.ts";
import { type HidesText, loggable } from "../../codec/loggable.ts";
import { hardwareThreads } from "../../platform/host.ts";
import { ownFile } from "../../platform/own_code.ts";
import { startThread, type Thread } from "../../platform/threads.ts";
import type { Timers } from "../../base/timers.ts";
import type { FromThread, LoaderHooks, ToThread } from "./thread_messages.ts";

/**
 * Activities in separate threads, so that computing activities do not block timers and heartbeats.
 */
export interface ActivityThreads {
  /** Modules whose exported functions are the activities. URLs or absolute specifiers. */
  module: URL | string | readonly (URL | string)[];
  /** Number of threads. Default: one less than the hardware threads, at least 1. */
  size?: number;
  /**
   * Maximum activities at a time per thread. More than 1 is for activities that mostly wait.
   * Default: 1.
   */
  concurrency?: number;
  /** @internal Hooks with which Node loads the modules. */
  hooks?: LoaderHooks;
}

/** How long a canceled activity may run before its thread is terminated, in ms. */
const PATIENCE_MS = 5000;
/** How long a module may take to load, in ms. */
const LOAD_MS = 30_000;

interface Job {
  activity: string;
  context: ActivityContext;
  args: unknown[];
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Slot {
  /** Undefined while the thread starts. */
  thread: Thread | undefined;
  /** Running jobs by number. */
  readonly jobs: Map<number, Job>;
  loaded: ((names: string[]) => void) | undefined;
  broken: ((error: Error) => void) | undefined;
}

export class ActivityPool {
  /** Names of the exported activities. */
  names: readonly string[] = [];
  readonly #load: ToThread;
  readonly #size: number;
  readonly #concurrency: number;
  readonly #timers: Timers;
  readonly #codec: HidesText | undefined;
  readonly #slots = new Set<Slot>();
  readonly #queue: Job[] = [];
  #nextId = 1;
  #state: "open" | "retiring" | "closed" = "open";
  #whenIdle: (() => void) | undefined;

  private constructor(
    load: ToThread,
    size: number,
    concurrency: number,
    timers: Timers,
    codec: HidesText | undefined,
  ) {
    this.#codec = codec;
    this.#load = load;
    this.#size = size;
    this.#concurrency = concurrency;
    this.#timers = timers;
  }

  /**
   * Starts the first thread and gets the names of the activities from it. Rejects if the module
   * fails to load or loads too long, or if the signal is aborted before.
   */
  static async open(
    { module, size = Math.max(1, hardwareThreads() - 1), concurrency = 1, hooks }: ActivityThreads,
    timers: Timers,
    signal?: AbortSignal,
    codec?: HidesText,
  ): Promise<ActivityPool> {
    for (const [name, value] of Object.entries({ size, concurrency })) {
      if (Number.isInteger(value) && value >= 1) continue;
      throw new RangeError(
        `activityThreads.${name} must be a whole number of at least 1, not ${value}`,
      );
    }
    const pool = new ActivityPool(
      { kind: "load", modules: [module].flat().map(String), hooks },
      size,
      concurrency,
      timers,
      codec,
    );
    const slot = pool.#newSlot();
    let limit = () => {};
    const giveUp = () => slot.broken?.(signal!.reason);
    signal?.addEventListener("abort", giveUp);
    try {
      pool.names = await new Promise<string[]>((resolve, reject) => {
        slot.loaded = resolve;
        slot.broken = reject;
        const tooLong =
          `its module was not loaded within ${LOAD_MS} ms: its top-level code did not return`;
        limit = timers.after(LOAD_MS, () => reject(new Error(tooLong)));
        pool.#start(slot).catch(reject);
        if (signal?.aborted) giveUp();
      });
    } catch (error) {
      await pool.close();
      throw new Error(`the threads for activities could not be started: ${messageOf(error)}`, {
        cause: error,
      });
    } finally {
      limit();
      signal?.removeEventListener("abort", giveUp);
    }
    slot.loaded = slot.broken = undefined;
    return pool;
  }

  /** Runs an activity in a thread; queues it until one is free. */
  run(activity: string, context: ActivityContext, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ activity, context, args, resolve, reject });
      this.#next();
    });
  }

  /** Terminates all threads and rejects their jobs. */
  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const slots = [...this.#slots];
    for (const job of this.#queue.splice(0)) {
      job.reject(new ApplicationFailure("the worker has stopped", { type: "WORKER_SHUTDOWN" }));
    }
    for (const slot of slots) this.#lost(slot, "the worker has stopped");
    await Promise.all(slots.map((slot) => slot.thread?.terminate()));
    this.#whenIdle?.();
  }

  /** Closes the pool after its jobs have ended. No job may be added. */
  async retire(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "retiring";
    if (this.#busy) await new Promise<void>((resolve) => this.#whenIdle = resolve);
    await this.close();
  }

  get #busy(): boolean {
    return this.#queue.length > 0 || [...this.#slots].some((slot) => slot.jobs.size > 0);
  }

  #newSlot(): Slot {
    const slot: Slot = { thread: undefined, jobs: new Map(), loaded: undefined, broken: undefined };
    this.#slots.add(slot);
    return slot;
  }

  /** Assigns queued jobs to threads with free places, and starts threads up to `size`. */
  #next(): void {
    while (this.#queue.length > 0 && this.#state !== "closed") {
      const free = [...this.#slots].find((slot) =>
        slot.thread !== undefined && slot.jobs.size < this.#concurrency
      );
      if (free !== undefined) {
        this.#give(free, this.#queue.shift()!);
        continue;
      }
      const starting = [...this.#slots].filter((slot) => slot.thread === undefined).length;
      if (this.#slots.size === this.#size || starting * this.#concurrency >= this.#queue.length) {
        return;
      }
      this.#open();
    }
    if (this.#state === "retiring" && !this.#busy) this.#whenIdle?.();
  }

  /** Starts a thread for queued jobs. */
  #open(): void {
    const slot = this.#newSlot();
    this.#start(slot).then(
      () => this.#next(),
      (error: Error) => this.#unstarted(slot, error),
    );
  }

  /**
   * Handles a thread that did not start. With another thread left, queued jobs wait for it, because
   * an immediate retry could loop forever. Without one, the oldest job fails; a later start may
   * succeed.
   */
  #unstarted(slot: Slot, error: Error): void {
    this.#slots.delete(slot);
    if ([...this.#slots].some(({ thread }) => thread !== undefined)) return;
    const job = this.#queue.shift();
    job?.reject(threadEnded(job, `it did not start: ${error.message}`));
    this.#next();
  }

  async #start(slot: Slot): Promise<void> {
    const events = {
      message: (message: unknown) => this.#heard(slot, message as FromThread),
      died: (reason: string) => this.#lost(slot, reason),
    };
    const entry = ownFile(
      "worker/activities/activity_thread",
      "leave temporalex out of the bundle to use activityThreads",
    );
    const thread = await startThread(entry, events, { name: "temporalex activities" });
    if (this.#state === "closed") return await thread.terminate();
    slot.thread = thread;
    post(slot, this.#load);
  }

  #give(slot: Slot, job: Job): void {
    const id = this.#nextId++;
    slot.jobs.set(id, job);
    const { context } = job;
    const cancel = () => {
      if (slot.jobs.get(id) !== job) return;
      post(slot, {
        kind: "cancel",
        id,
        reason: context.cancelReason!,
        message: messageOf(context.cancelled.reason),
      });
      // Other activities in the thread must not fail because one ignores its cancellation.
      if (this.#concurrency > 1) return;
      this.#timers.after(PATIENCE_MS, () => {
        if (slot.jobs.get(id) !== job) return;
        this.#lost(slot, "did not respond to cancellation", context.cancelled.reason);
        void slot.thread?.terminate();
      });
    };
    try {
      post(slot, {
        kind: "run",
        id,
        activity: job.activity,
        info: context.info,
        headers: context.headers,
        args: job.args,
      });
    } catch (error) {
      return this.#finish(slot, id, () => job.reject(error));
    }
    if (context.cancelled.aborted) cancel();
    else context.cancelled.addEventListener("abort", cancel, { once: true });
  }

  #heard(slot: Slot, message: FromThread): void {
    if (message.kind === "loaded") return slot.loaded?.(message.names);
    if (message.kind === "broken") {
      this.#lost(slot, `its module cannot be loaded: ${message.message}`);
      return void slot.thread?.terminate();
    }
    const { id } = message;
    const job = slot.jobs.get(id);
    if (job === undefined) return;
    switch (message.kind) {
      case "heartbeat":
        try {
          return job.context.heartbeat(message.details);
        } catch (error) {
          // For example too large; the activity in the thread cannot get the error any more.
          return job.context.logger.warn("the details of a heartbeat were rejected", {
            error: loggable(error, this.#codec),
          });
        }
      case "log":
        return job.context.logger[message.level](message.message, message.fields);
      case "done":
        return this.#finish(slot, id, () => job.resolve(message.result));
      case "failed":
        return this.#finish(slot, id, () => job.reject(decodeFailure(message.failure)));
      case "completesAsync":
        return this.#finish(
          slot,
          id,
          () => job.reject(new CompleteAsyncError("this activity is completed from outside")),
        );
    }
  }

  #finish(slot: Slot, id: number, settle: () => void): void {
    slot.jobs.delete(id);
    settle();
    this.#next();
  }

  /** The thread has ended: its jobs fail with a retryable error, unless `error` is given. */
  #lost(slot: Slot, why: string, error?: Error): void {
    const jobs = [...slot.jobs.values()];
    slot.jobs.clear();
    this.#slots.delete(slot);
    slot.broken?.(new Error(why));
    for (const job of jobs) job.reject(error ?? threadEnded(job, why));
    this.#next();
  }
}

function threadEnded(job: Job, why: string): ApplicationFailure {
  return new ApplicationFailure(`the thread of activity "${job.activity}" has ended: ${why}`, {
    type: "ActivityThreadError",
  });
}

function post(slot: Slot, message: ToThread): void {
  slot.thread?.post(message);
}
