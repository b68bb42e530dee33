// Guards workflow tasks that may crash the process (crash_notes/running_tasks.ts): each is recorded
// before it runs, tasks of a suspected run run alone, and those of a held run wait for its release.
import { describeHeld, type HeldRun } from "../../crash_notes/held_runs.ts";
import type { Logger } from "../../base/logger.ts";
import type { RunningTasks } from "../../crash_notes/running_tasks.ts";
import { sleepOn, type Timers } from "../../base/timers.ts";
import type { TaskHead, WorkflowTask } from "../../realm/realm.ts";

/**
 * Maximum held tasks that wait for a release, each in a slot of the worker; at most half of the
 * slots. Further held tasks return when the service dispatches them again.
 */
const MAX_PARKED = 8;
const LOOK_MS = 250;
/**
 * How long a service waits for a task until it dispatches it again, and the extension for retries.
 */
const TASK_MS = 10_000;
const ADDED_FROM_ATTEMPT = 4;
const ADDED_MS = 5000;
const MAX_ADDED_MS = 600_000;

/** The tasks of a run wait for its release. */
export class HeldRunError extends Error {
  override name = "HeldRunError";

  constructor(run: HeldRun) {
    super(describeHeld(run));
    // A stack of the host does not help the workflow's author.
    this.stack = `${this.name}: ${this.message}`;
  }
}

export interface CrashGuardParts {
  readonly running: RunningTasks;
  readonly timers: Timers;
  /** Maximum workflow tasks at a time. */
  readonly slots: number;
  /** Reports that a task was not run. */
  refuse(task: WorkflowTask, error: Error, logger: Logger): Promise<void>;
}

/**
 * The waits of a worker's tasks. The realm may request pages of history before the guard exists.
 */
export class TaskWaits {
  guard: CrashGuard | undefined;

  /** Waits for data that a task of the run needs from outside its realm. */
  async around<T>(runId: string, wait: () => Promise<T>): Promise<T> {
    return await (this.guard === undefined ? wait() : this.guard.waitOutside(runId, wait));
  }
}

export class CrashGuard {
  readonly #parts: CrashGuardParts;
  #stop = new AbortController();
  #parked = 0;

  constructor(parts: CrashGuardParts) {
    this.#parts = parts;
  }

  /** Runs a task that may crash the process. Its waits must use `waitOutside`. */
  async run<T>(head: TaskHead, task: () => Promise<T>): Promise<T> {
    const { running } = this.#parts;
    const turn = running.enter(head);
    if (turn !== undefined) await turn;
    try {
      return await task();
    } finally {
      // A run's next task may still crash after a query that did not.
      running.leave(head, head.query === undefined);
    }
  }

  /**
   * Waits for data from outside the realm. Meanwhile the run executes no code: it cannot be the
   * cause if the process ends now, and other runs need not wait for it.
   */
  async waitOutside<T>(runId: string, wait: () => Promise<T>): Promise<T> {
    const { running } = this.#parts;
    const run = running.computing(runId);
    if (run === undefined) return await wait();
    running.pause(run);
    try {
      return await wait();
    } finally {
      const turn = running.enter(run, run.waits + 1);
      if (turn !== undefined) await turn;
    }
  }

  /** Returns true for a task that must not run, because its run is held. */
  async heldBack(task: WorkflowTask, logger: Logger): Promise<boolean> {
    const { head } = task;
    const { running, refuse } = this.#parts;
    const held = running.held(head.runId);
    if (held === undefined) return false;
    if (head.query !== undefined || head.attempt <= 1) {
      // A first attempt is reported, so that the history states the reason; the next one comes at
      // once.
      await refuse(task, new HeldRunError(held), logger);
      return true;
    }
    return !(await this.#released(head));
  }

  /** Waits for a release, at most until the task times out. */
  async #released({ runId, attempt }: TaskHead): Promise<boolean> {
    const { running, timers, slots } = this.#parts;
    if (this.#parked >= Math.min(MAX_PARKED, Math.floor(slots / 2))) return false;
    this.#parked++;
    try {
      const added = attempt < ADDED_FROM_ATTEMPT
        ? 0
        : ADDED_MS * 2 ** Math.min(attempt - ADDED_FROM_ATTEMPT, 20);
      const until = timers.now() + TASK_MS + Math.min(added, MAX_ADDED_MS);
      while (timers.now() < until) {
        await sleepOn(timers, LOOK_MS, this.#stop.signal);
        if (running.held(runId) === undefined) return true;
      }
      return false;
    } catch {
      // The worker is shutting down.
      return false;
    } finally {
      this.#parked--;
    }
  }

  /** Ends the wait of all held tasks; the service dispatches them again. */
  letGo(): void {
    this.#stop.abort(new Error("the task is no longer queued"));
    this.#stop = new AbortController();
  }

  /** Whether the run's tasks wait for its release. */
  holds(runId: string): boolean {
    return this.#parts.running.held(runId) !== undefined;
  }
}
