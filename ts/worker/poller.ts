// The loops that ask for tasks. Rules: a slot is taken before asking; a task that was handed out is always handled, also when the worker
// is stopping; a refused poll waits (back-off with jitter) before the next one, and so does a service that answers "nothing" at once;
// nothing that a service says ends the process.
import { readable } from "../converter/thrown.ts";
import type { Logger } from "../base/logger.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { backoffMs, type BackoffOptions, isServiceGone } from "../service/retry.ts";
import { sleepOn, type Timers } from "../base/timers.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { PollRange } from "./poller_behavior.ts";
import { hasCode } from "./reports.ts";
import type { Slots } from "./slots.ts";
import type { QuietTime } from "./quiet_time.ts";

/** Delays after refused polls. */
export const POLL_BACKOFF: BackoffOptions = {
  initialIntervalMs: 200,
  maximumIntervalMs: 10_000,
  backoffCoefficient: 2,
  jitter: 0.2,
};
/**
 * Refusals that another attempt does not fix; seen this often in a row and nothing else, they end the worker. Also only after a time,
 * as one poll alone takes for so many: many polls at once would make a proxy's one bad moment an end.
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
/** A poll that was not refused for so long has been taken. */
const TAKEN_AFTER_MS = 1000;
/** An empty answer sooner than this did not wait for a task. */
const EMPTY_TOO_SOON_MS = 20;

/** What a poll brought. */
export interface PollAnswer<Task> {
  readonly task: Task | undefined;
  /** So many polls more, or fewer, are suggested by the service. */
  readonly scaling: number;
}

export interface PollerOptions<Task> {
  /** For logs: "workflow tasks of queue q". */
  what: string;
  /**
   * Polls in flight. When a task comes and no other poll is waiting, one more is sent from then on; a poll that ends without a task is not
   * sent again while there are more than the minimum. What the service suggests with its answers is done as well: it sees the backlog, and
   * how long polls have waited.
   */
  polls: PollRange;
  slots: Slots;
  /** Limits the tasks per second. */
  pace?: RateLimit | undefined;
  /** One poll; undefined when the long poll ended with nothing. */
  poll: (signal: AbortSignal) => Promise<PollAnswer<Task> | undefined>;
  /** Told of each answer: whether there was a task in it. */
  polled?: ((found: boolean) => void) | undefined;
  /** The time since the worker's last task. */
  quiet?: QuietTime | undefined;
  /** Works on a task; must not reject. */
  handle: (task: Task) => Promise<void>;
  /** The service refuses for good. */
  onFatal: (error: WorkerPollError) => void;
  logger: Logger;
  timers: Timers;
  random?: () => number;
}

/** The service refuses this worker's polls for a reason that trying again does not fix: `run()` rejects with it. */
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

/** What ends a loop, and what takes its poll back. Signals of its own, because a service listens to the signal of each call. */
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
  /** Loops that go on. */
  #polls = 0;
  readonly #inFlight = new Set<{ readonly since: number }>();
  /** There was an answer, and no refusal after it. */
  #answered = false;
  #refusedAt = -Infinity;
  /** Loops that are to end with their next answer. */
  #surplus = 0;

  constructor(options: PollerOptions<Task>) {
    this.#options = options;
  }

  /** Tasks in work. */
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

  /** The service takes its polls: the last answer was none of trouble, or a poll sent after it has been waiting for a while. */
  get served(): boolean {
    if (this.#answered) return true;
    const before = this.#options.timers.now() - TAKEN_AFTER_MS;
    for (const { since } of this.#inFlight) if (since > this.#refusedAt && since <= before) return true;
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

  /**
   * Sends no more polls, and resolves when the loops have ended; tasks may still be worked on (`idle`). Polls in flight are taken back
   * after `drainMs`: until then they may end by themselves.
   */
  async stop(drainMs = 0): Promise<void> {
    this.#stopping = true;
    const reason = new Error("the worker is shutting down");
    const loops = [...this.#loops];
    for (const [{ loop }] of loops) loop.abort(reason);
    const takeBack = () => {
      for (const [{ poll }] of loops) poll.abort(reason);
    };
    const cancel = drainMs === 0 ? takeBack() : drainMs === Infinity ? undefined : this.#options.timers.after(drainMs, takeBack);
    await Promise.all(loops.map(([, ended]) => ended));
    cancel?.();
  }

  /** Resolves when no task is being worked on. Call after `stop`. */
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
        // The service has enough to do without the polls that it did not need before.
        if (hasCode(error, Code.RESOURCE_EXHAUSTED) && this.#ends()) return;
        failures++;
        pause = backoffMs(failures, POLL_BACKOFF, random);
        this.#count(error);
        logger.warn(`polling for ${what} failed`, { error, attempt: failures, nextInMs: Math.round(pause) });
      }
      if (pause > 0 && !signal.aborted) await sleepOn(timers, pause, signal).catch(() => {});
    }
  }

  /** So many polls more, or fewer, within the range. */
  #scale(by: number): void {
    const { min, max } = this.#options.polls;
    if (by < 0) this.#surplus = Math.min(this.#surplus - by, this.#polls - min);
    for (let i = 0; i < by && !this.#stopping; i++) {
      if (this.#surplus > 0) this.#surplus--;
      else if (this.#polls < max) this.#add();
      else return;
    }
  }

  /** A loop asks whether it is one too many; then it is gone. */
  #ends(): boolean {
    if (this.#polls <= this.#options.polls.min) {
      this.#surplus = 0;
      return false;
    }
    this.#polls--;
    if (this.#surplus > 0) this.#surplus--;
    return true;
  }

  async #ask(poll: PollerOptions<Task>["poll"], signal: AbortSignal): Promise<PollAnswer<Task> | undefined> {
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
    if (this.#finalRefusals < FINAL_AFTER || now - this.#finalSince < FINAL_AFTER_MS || this.#ended) return;
    this.#ended = true;
    this.#options.onFatal(new WorkerPollError(this.#options.what, error));
  }

  /** Works on a task that came by another way than a poll, in a slot of this poller's. */
  work(task: Task, release: () => void): void {
    this.#work(task, release);
  }

  #work(task: Task, release: () => void): void {
    const { quiet } = this.#options;
    quiet?.noteTask();
    const work = this.#options.handle(task).catch((error) => {
      // A defect: what handles tasks ends each in a report. The worker goes on, and the service gives the task again.
      this.#options.logger.error(`a task of ${this.#options.what} was not handled`, { error: readable(error) });
    }).finally(() => {
      this.#tasks.delete(work);
      quiet?.noteTask();
      release();
    });
    this.#tasks.add(work);
  }
}
