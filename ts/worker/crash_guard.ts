// Workflow tasks on their way into a realm, where the process may die of one (crash_notes/running_tasks.ts): each is noted before it enters, a
// suspected run's enters alone, and those of a held run do not enter at all until the run is released.
import { describeHeld, type HeldRun } from "../crash_notes/held_runs.ts";
import type { Logger } from "../base/logger.ts";
import type { RunningTasks } from "../crash_notes/running_tasks.ts";
import { sleepOn, type Timers } from "../base/timers.ts";
import type { TaskHead, WorkflowTask } from "../realm/realm.ts";

/**
 * Held tasks that wait here for a release, each in a slot of its worker. Half of the slots stay with runs that are not held; further held
 * tasks come again when the service gives them again.
 */
const MAX_PARKED = 8;
const LOOK_MS = 250;
/** How long a service waits for a task before it gives it again, and what it adds for later attempts. */
const TASK_MS = 10_000;
const ADDED_FROM_ATTEMPT = 4;
const ADDED_MS = 5000;
const MAX_ADDED_MS = 600_000;

/** The tasks of a run wait for its release. */
export class HeldRunError extends Error {
  override name = "HeldRunError";

  constructor(run: HeldRun) {
    super(describeHeld(run));
    // A stack of the host's says nothing about the workflow.
    this.stack = `${this.name}: ${this.message}`;
  }
}

export interface CrashGuardParts {
  readonly running: RunningTasks;
  readonly timers: Timers;
  /** Tasks that the worker takes at a time. */
  readonly slots: number;
  /** Reports that a task is not run. */
  refuse(task: WorkflowTask, error: Error, logger: Logger): Promise<void>;
}

/** The waits of a worker's tasks, from its start on: its realm asks for pages of history before there is a guard. */
export class TaskWaits {
  guard: CrashGuard | undefined;

  /** Waits for something that a task of the run needs from outside of its realm. */
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

  /** Runs a task that may be the end of the process. What the task waits for goes through `waitOutside`. */
  async run<T>(head: TaskHead, task: () => Promise<T>): Promise<T> {
    const { running } = this.#parts;
    const turn = running.enter(head);
    if (turn !== undefined) await turn;
    try {
      return await task();
    } finally {
      // What a query does not do again the run's next task may.
      running.leave(head, head.query === undefined);
    }
  }

  /**
   * Waits for something that the task needs from outside of its realm. Meanwhile no code of the run computes: a process that ends now
   * did not end because of it, and other runs need not wait for it.
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

  /** Answers true for a task that is not to be run: its run is held. */
  async heldBack(task: WorkflowTask, logger: Logger): Promise<boolean> {
    const { head } = task;
    const { running, refuse } = this.#parts;
    const held = running.held(head.runId);
    if (held === undefined) return false;
    if (head.query !== undefined || head.attempt <= 1) {
      // A first attempt is reported, so that the history says why nothing happens; the next one comes at once.
      await refuse(task, new HeldRunError(held), logger);
      return true;
    }
    return !(await this.#released(head));
  }

  /** Waits for a release while the service waits for the task. */
  async #released({ runId, attempt }: TaskHead): Promise<boolean> {
    const { running, timers, slots } = this.#parts;
    if (this.#parked >= Math.min(MAX_PARKED, Math.floor(slots / 2))) return false;
    this.#parked++;
    try {
      const added = attempt < ADDED_FROM_ATTEMPT ? 0 : ADDED_MS * 2 ** Math.min(attempt - ADDED_FROM_ATTEMPT, 20);
      const until = timers.now() + TASK_MS + Math.min(added, MAX_ADDED_MS);
      while (timers.now() < until) {
        await sleepOn(timers, LOOK_MS, this.#stop.signal);
        if (running.held(runId) === undefined) return true;
      }
      return false;
    } catch {
      // The worker stops.
      return false;
    } finally {
      this.#parked--;
    }
  }

  /** Tasks that wait for a release wait no longer: the service gives them again. */
  letGo(): void {
    this.#stop.abort(new Error("the task is no longer queued"));
    this.#stop = new AbortController();
  }

  /** The run's tasks wait for its release. */
  holds(runId: string): boolean {
    return this.#parts.running.held(runId) !== undefined;
  }
}
