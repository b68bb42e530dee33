// The poll loops. A slot is acquired before a poll. A task that was received is always processed,
// also during shutdown. After a rejected poll, or empty responses without a wait, the next poll
// waits (back-off with jitter). No response of a service ends the process.
import { readable } from "../../converter/thrown.ts";
import type { Logger } from "../../base/logger.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { backoffMs, type BackoffOptions, isServiceGone } from "../../service/retry.ts";
import { sleepOn, type Timers } from "../../base/timers.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { PollRange } from "./poller_behavior.ts";
import { hasCode } from "../workflow/reports.ts";
import type { Slots } from "./slots.ts";
import type { QuietTime } from "./quiet_time.ts";

/** Delays after rejected polls. */
export const POLL_BACKOFF: BackoffOptions = {
  initialIntervalMs: 200,
  maximumIntervalMs: 10_000,
  backoffCoefficient: 2,
  jitter: 0.2,
};
/**
 * Errors that a retry does not fix. FINAL_AFTER of them in a row over at least FINAL_AFTER_MS end
 * the worker. The time is required because many concurrent polls may fail in one short disturbance.
 */
const FINAL_CODES: ReadonlySet<number> = new Set([
  Code.INVALID_ARGUMENT,
  Code.NOT_FOUND,
  Code.UNIMPLEMENTED,
  Code.PERMISSION_DENIED,
  Code.UNAUTHENTICATED,
  Code.FAILED_PRECONDITION,
]);
const FINAL_AFTER = 5;
const FINAL_AFTER_MS = 2000;
/** A poll that waits for this long was accepted, in ms. */
const TAKEN_AFTER_MS = 1000;
/** A sooner empty response did not wait for a task, in ms. */
const EMPTY_TOO_SOON_MS = 20;
const SHUTTING_DOWN = new Error("the worker is shutting down");

/** The result of a poll. */
export interface PollAnswer<Task> {
  readonly task: Task | undefined;
  /** Change of the number of polls that the service suggests. */
  readonly scaling: number;
}

export interface PollerOptions<Task> {
  /** For logs: "workflow tasks of queue q". */
  what: string;
  /**
   * Polls in flight. A task that arrives while no poll is waiting adds one; a poll that ends
   * without a task is not repeated above the minimum. The service's suggestions are applied too: it
   * knows the backlog and the waiting times of polls.
   */
  polls: PollRange;
  slots: Slots;
  /** Limits tasks per second. */
  pace?: RateLimit | undefined;
  /** Sends one poll; resolves to undefined if the long poll ended without a task. */
  poll: (signal: AbortSignal) => Promise<PollAnswer<Task> | undefined>;
  /** Called after each response: whether it had a task. */
  polled?: ((found: boolean) => void) | undefined;
  /** Time since the worker's last task. */
  quiet?: QuietTime | undefined;
  /** Processes a task; must not reject. */
  handle: (task: Task) => Promise<void>;
  /** Called once when the service rejects the polls permanently. */
  onFatal: (error: WorkerPollError) => void;
  logger: Logger;
  timers: Timers;
  random?: () => number;
}

/**
 * The service rejects the polls of this worker, and a retry does not help. `run()` rejects with it.
 */
export class WorkerPollError extends Error {
  override name = "WorkerPollError";

  constructor(what: string, cause: unknown) {
    super(
      isServiceGone(cause)
        ? `cannot poll for ${what}: ${cause.message}; shut the worker down before its engine, or create both again`
        : `the service keeps rejecting polls for ${what}: ${(cause as Error).message}; ` +
          "check the namespace, the task queue's name and the credentials",
      { cause },
    );
  }
}

/**
 * Aborts a loop and its poll. Separate signals, because a service listens to the signal of each
 * call.
 */
interface LoopStop {
  readonly loop: AbortController;
  readonly poll: AbortController;
}

export class Poller<Task> {
  readonly #options: PollerOptions<Task>;
  readonly #loops = new Map<LoopStop, Promise<void>>();
  #stopping = false;
  readonly #tasks = new Set<Promise<void>>();
  #finalRefusals = 0;
  /** When the first of them came. */
  #finalSince = 0;
  #ended = false;
  /** Loops that are not ending. */
  #polls = 0;
  readonly #inFlight = new Set<{ readonly since: number }>();
  /** The last response was not an error. */
  #answered = false;
  #refusedAt = -Infinity;
  /** Loops that end after their next response. */
  #surplus = 0;

  constructor(options: PollerOptions<Task>) {
    this.#options = options;
  }

  /** Tasks in progress. */
  get tasks(): number {
    return this.#tasks.size;
  }

  get slots(): Slots {
    return this.#options.slots;
  }

  /** Polls in flight. */
  get waiting(): number {
    return this.#inFlight.size;
  }

  /** Whether the service accepts the polls: the last one succeeded, or a later one is waiting. */
  get served(): boolean {
    if (this.#answered) return true;
    const before = this.#options.timers.now() - TAKEN_AFTER_MS;
    for (const { since } of this.#inFlight) {
      if (since > this.#refusedAt && since <= before) return true;
    }
    return false;
  }

  start(): void {
    for (let i = 0; i < this.#options.polls.initial; i++) this.#add();
  }

  #add(): void {
    const stop: LoopStop = { loop: new AbortController(), poll: new AbortController() };
    this.#polls++;
    this.#loops.set(stop, this.#loop(stop).finally(() => this.#loops.delete(stop)));
  }

  /** Sends no further polls. Polls in flight continue. */
  stopRepeating(): void {
    this.#stopping = true;
    for (const { loop } of this.#loops.keys()) loop.abort(SHUTTING_DOWN);
  }

  /**
   * Stops polling; resolves when the loops have ended. Tasks may still be running (`idle`). Polls
   * in flight are canceled after `drainMs`, unless they end before.
   */
  async stop(drainMs = 0): Promise<void> {
    this.stopRepeating();
    const loops = [...this.#loops];
    const cancelPolls = () => {
      for (const [{ poll }] of loops) poll.abort(SHUTTING_DOWN);
    };
    const cancel = drainMs === 0
      ? cancelPolls()
      : drainMs === Infinity
      ? undefined
      : this.#options.timers.after(drainMs, cancelPolls);
    await Promise.all(loops.map(([, ended]) => ended));
    cancel?.();
  }

  /** Resolves when no task is running. Call after `stop`. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  async #loop(stop: LoopStop): Promise<void> {
    const { slots, pace, poll, timers, logger, what, random } = this.#options;
    const { signal } = stop.loop;
    let failures = 0;
    while (!signal.aborted) {
      const release = await slots.acquire(signal);
      if (release === undefined) return;
      let pause = 0;
      let asked = 0;
      try {
        await pace?.turn(signal);
        // A shutdown may have been requested since the slot was acquired.
        signal.throwIfAborted();
        asked = timers.now();
        const answer = await this.#ask(poll, stop.poll.signal);
        if (answer !== undefined) this.#scale(answer.scaling);
        if (answer?.task !== undefined) {
          this.#work(answer.task, release);
          if (this.#inFlight.size === 0) this.#scale(1);
          failures = this.#finalRefusals = 0;
          if (this.#surplus > 0 && this.#ends()) return;
          continue;
        }
        release();
        if (this.#ends()) return;
        failures = timers.now() - asked < EMPTY_TOO_SOON_MS ? failures + 1 : 0;
        this.#finalRefusals = 0;
        if (failures > 2) pause = backoffMs(failures - 2, POLL_BACKOFF, random);
      } catch (error) {
        release();
        if (signal.aborted) return;
        if (isServiceGone(error)) return this.#options.onFatal(new WorkerPollError(what, error));
        // Releases load from a throttled service.
        if (hasCode(error, Code.RESOURCE_EXHAUSTED) && this.#ends()) return;
        failures++;
        pause = backoffMs(failures, POLL_BACKOFF, random);
        this.#count(error);
        logger.warn(`polling for ${what} failed`, {
          error,
          attempt: failures,
          nextInMs: Math.round(pause),
        });
      }
      if (pause > 0 && !signal.aborted) await sleepOn(timers, pause, signal).catch(() => {});
    }
  }

  /** Adds or removes polls within the range. */
  #scale(by: number): void {
    const { min, max } = this.#options.polls;
    if (by < 0) this.#surplus = Math.min(this.#surplus - by, this.#polls - min);
    for (let i = 0; i < by && !this.#stopping; i++) {
      if (this.#surplus > 0) this.#surplus--;
      else if (this.#polls < max) this.#add();
      else return;
    }
  }

  /** Ends the calling loop if there are more than the minimum; returns whether it did. */
  #ends(): boolean {
    if (this.#polls <= this.#options.polls.min) {
      this.#surplus = 0;
      return false;
    }
    this.#polls--;
    if (this.#surplus > 0) this.#surplus--;
    return true;
  }

  async #ask(
    poll: PollerOptions<Task>["poll"],
    signal: AbortSignal,
  ): Promise<PollAnswer<Task> | undefined> {
    const { timers, polled } = this.#options;
    const one = { since: timers.now() };
    this.#inFlight.add(one);
    try {
      const answer = await poll(signal);
      this.#answered = true;
      polled?.(answer?.task !== undefined);
      return answer;
    } catch (error) {
      if (!signal.aborted) {
        this.#answered = false;
        this.#refusedAt = timers.now();
      }
      throw error;
    } finally {
      this.#inFlight.delete(one);
    }
  }

  #count(error: unknown): void {
    const final = error instanceof ServiceError && FINAL_CODES.has(error.code);
    const now = this.#options.timers.now();
    this.#finalRefusals = final ? this.#finalRefusals + 1 : 0;
    if (this.#finalRefusals === 1) this.#finalSince = now;
    if (
      this.#finalRefusals < FINAL_AFTER || now - this.#finalSince < FINAL_AFTER_MS || this.#ended
    ) return;
    this.#ended = true;
    this.#options.onFatal(new WorkerPollError(this.#options.what, error));
  }

  /** Processes a task that did not come with a poll, in a slot of this poller. */
  work(task: Task, release: () => void): void {
    this.#work(task, release);
  }

  #work(task: Task, release: () => void): void {
    const { quiet } = this.#options;
    quiet?.noteTask();
    const work = this.#options.handle(task).catch((error) => {
      // Internal error: `handle` must report every task. The service dispatches the task again.
      this.#options.logger.error(`a task of ${this.#options.what} was not handled`, {
        error: readable(error),
      });
    }).finally(() => {
      this.#tasks.delete(work);
      quiet?.noteTask();
      release();
    });
    this.#tasks.add(work);
  }
}
