// The local activities of this worker's runs
// (docs/dev/semantics/tasks.md#local-activities-within-a-task). A workflow task that waits for some
// resumes when one ends. After most of its timeout it is reported as a heartbeat: a new task
// follows while they run. A run that was evicted meanwhile requests the same activities again;
// running and ended ones are reused and not run twice.
import { unregisteredLocalFailure } from "../../executor/program/unregistered_local.ts";
import type { LocalAnswer, LocalWork, RunIdentity } from "../../realm/realm.ts";
import { callKey, LocalActivity, type LocalSettings } from "./local_activity.ts";

export type { LocalSettings };

/** The part of its timeout for which a workflow task is held, as in Core. */
const HELD_PART = 0.8;
/** The servers' default timeout, if the start of the run has none. */
const TASK_TIMEOUT_MS = 10_000;

const NO_NEWS: LocalAnswer = { resolutions: [] };
const HEARTBEAT: LocalAnswer = { resolutions: [], heartbeat: true };

interface Run {
  readonly bySeq: Map<number, LocalActivity>;
  /** Ended activities that are not delivered, in order of their ends. */
  ended: LocalActivity[];
  taskTimeoutMs: number;
  /** Resolves the wait of the task. */
  answer: ((answer: LocalAnswer) => void) | undefined;
  /** Cancels the timer of the heartbeat, or of a run without a task. */
  stopTimer: (() => void) | undefined;
}

export class LocalActivities {
  readonly #settings: LocalSettings;
  readonly #known: (activityType: string) => string | undefined;
  readonly #runs = new Map<string, Run>();
  /** When the open task of each run began, on the timers' clock. */
  readonly #begun = new Map<string, number>();
  /** Running activities, including those without a waiting run. */
  readonly #open = new Set<LocalActivity>();
  #whenIdle: (() => void)[] = [];
  #stopped = false;

  /** `known` returns why an activity type cannot run; undefined if it can. */
  constructor(settings: LocalSettings, known: (activityType: string) => string | undefined) {
    this.#settings = settings;
    this.#known = known;
  }

  get slots(): LocalSettings["slots"] {
    return this.#settings.slots;
  }

  /** Number of activities that have not ended. */
  get running(): number {
    return this.#open.size;
  }

  /** Number of workflow tasks that wait for activities. */
  get waiting(): number {
    return this.#countRuns(() => true);
  }

  /** Number of workflow tasks whose activities all wait for time to pass. */
  get idle(): number {
    return this.#countRuns((run) =>
      [...run.bySeq.values()].every((activity) =>
        activity.resolution !== undefined || activity.idle
      )
    );
  }

  #countRuns(counts: (run: Run) => boolean): number {
    let count = 0;
    for (const run of this.#runs.values()) if (run.answer !== undefined && counts(run)) count++;
    return count;
  }

  /** Attempts in the open task of activities from earlier tasks, as services meter them. */
  laterAttempts(runId: string): number {
    let count = 0;
    for (const activity of this.#runs.get(runId)?.bySeq.values() ?? []) {
      count += activity.laterAttempts;
    }
    return count;
  }

  /** Starts a workflow task of the run. */
  begin(runId: string): void {
    this.#begun.set(runId, this.#settings.timers.now());
    const run = this.#runs.get(runId);
    run?.stopTimer?.();
    if (run !== undefined) run.stopTimer = undefined;
  }

  /**
   * Ends a task. `keep` selects the activities for the next task: "none" after the last one,
   * "unrecorded" (still running) after a heartbeat, "all" if the report was rejected. Others are
   * dropped.
   */
  end(runId: string, keep: "none" | "unrecorded" | "all"): void {
    this.#begun.delete(runId);
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    if (keep === "none" || this.#stopped) return this.#drop(runId, run);
    if (keep === "unrecorded") {
      for (const [seq, activity] of run.bySeq) {
        if (activity.delivered) run.bySeq.delete(seq);
        else activity.taskEnded();
      }
    }
    run.stopTimer?.();
    run.stopTimer = this.#settings.timers.after(
      2 * run.taskTimeoutMs,
      () => this.#drop(runId, run),
    );
  }

  /** Runs the activities that a task requests. If it waits, resolves when there is news. */
  async run(identity: RunIdentity, work: LocalWork): Promise<LocalAnswer> {
    const { runId } = identity;
    const run = this.#runOf(runId, work);
    // The realm was lost, and the task runs again in another one.
    this.#answer(run, NO_NEWS);
    for (const seq of work.cancel) run.bySeq.get(seq)?.cancel("CANCELLED");
    for (const seq of work.abandon) run.bySeq.delete(seq);
    const unregistered = new Set<string>();
    for (const { activityType } of work.start) {
      const failure = this.#known(activityType);
      if (failure === undefined) continue;
      if (work.throwsUnregistered !== true) return { resolutions: [], failure };
      unregistered.add(activityType);
    }
    for (const call of work.start) {
      this.#start(identity, run, call, unregistered.has(call.activityType));
    }
    if (!work.wait) return NO_NEWS;
    if (run.ended.length > 0) return deliver(run);
    const { timers } = this.#settings;
    const left = (this.#begun.get(runId) ?? timers.now()) + HELD_PART * run.taskTimeoutMs -
      timers.now();
    if (left <= 0 || this.#stopped) return HEARTBEAT;
    return await new Promise((resolve) => {
      run.answer = resolve;
      run.stopTimer = timers.after(left, () => this.#answer(run, HEARTBEAT));
    });
  }

  /** Resolves the wait of all tasks with what they have. */
  hurry(): void {
    for (const run of this.#runs.values()) this.#answer(run, HEARTBEAT);
  }

  /** Stops all activities at shutdown and ignores their results; other workers get the tasks. */
  stop(): void {
    this.#stopped = true;
    for (const activity of this.#open) activity.cancel("WORKER_SHUTDOWN");
    this.hurry();
    for (const [runId, run] of this.#runs) if (!this.#begun.has(runId)) this.#drop(runId, run);
  }

  /** Whether activities may continue in a further task. */
  get goOn(): boolean {
    return !this.#stopped;
  }

  /** Resolves when no activity is running. */
  whenIdle(): Promise<void> {
    return this.#open.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #runOf(runId: string, work: LocalWork): Run {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      this.#runs.set(
        runId,
        run = {
          bySeq: new Map(),
          ended: [],
          taskTimeoutMs: TASK_TIMEOUT_MS,
          answer: undefined,
          stopTimer: undefined,
        },
      );
    }
    run.taskTimeoutMs = work.workflowTaskTimeoutMs || TASK_TIMEOUT_MS;
    return run;
  }

  #start(
    identity: RunIdentity,
    run: Run,
    call: LocalWork["start"][number],
    isUnregistered: boolean,
  ): void {
    const before = run.bySeq.get(call.seq);
    if (before !== undefined && same(before.key, callKey(call))) {
      if (before.resolution === undefined || !before.delivered) return;
      before.delivered = false;
      run.ended.push(before);
      return;
    }
    before?.cancel("NOT_FOUND");
    const activity: LocalActivity = new LocalActivity(
      identity,
      call,
      this.#settings,
      (ended) => this.#ended(run, ended),
      isUnregistered ? unregisteredLocalFailure(call.activityType) : undefined,
    );
    run.bySeq.set(call.seq, activity);
    this.#open.add(activity);
  }

  #ended(run: Run, activity: LocalActivity): void {
    this.#open.delete(activity);
    if (this.#open.size === 0) { for (const resolve of this.#whenIdle.splice(0)) resolve(); }
    // Abandoned, replaced by another with its number, or no longer awaited.
    if (run.bySeq.get(activity.seq) !== activity || this.#stopped) return;
    run.ended.push(activity);
    if (run.answer !== undefined) this.#answer(run, deliver(run));
  }

  #answer(run: Run, answer: LocalAnswer): void {
    const resolve = run.answer;
    if (resolve === undefined) return;
    run.answer = undefined;
    run.stopTimer?.();
    run.stopTimer = undefined;
    resolve(answer);
  }

  #drop(runId: string, run: Run): void {
    this.#runs.delete(runId);
    run.stopTimer?.();
    this.#answer(run, NO_NEWS);
    const activities = [...run.bySeq.values()];
    run.bySeq.clear();
    for (const activity of activities) activity.cancel("NOT_FOUND");
  }
}

function deliver(run: Run): LocalAnswer {
  const resolutions = run.ended.map((activity) => {
    activity.delivered = true;
    return activity.resolution!;
  });
  run.ended = [];
  return { resolutions };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
