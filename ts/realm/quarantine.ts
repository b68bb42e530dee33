// Runs that looped or crashed their realm continue in separate workers, one per run, so that they
// affect no other run. A worker is kept while its run has work and capacity remains; otherwise a
// later task starts a new worker with the whole history. If the runtime cannot end a computing
// thread, a looping run gets at most MAX_LEFT_COMPUTING threads, because each occupies a core.
import { endsComputingThreads } from "../platform/threads.ts";
import type { Loss } from "./lost_task.ts";
import { type Job, type RealmSpec, RealmThread } from "./realm_thread.ts";

interface Cell {
  readonly thread: RealmThread;
  readonly ready: Promise<unknown>;
}

/** Maximum number of quarantined runs; beyond it the oldest returns to the shared realm. */
const MAX_RUNS = 10_000;
/** Maximum number of threads that a run may leave computing. */
const MAX_LEFT_COMPUTING = 2;

interface Offence {
  /** Number of threads that it has left computing. */
  left: number;
  readonly loss: Loss;
}

export class Quarantine {
  readonly #spec: RealmSpec;
  readonly #max: number;
  readonly #lost: (job: Job, loss: Loss) => void;
  readonly #runs = new Map<string, Offence>();
  readonly #cells = new Map<string, Cell>();
  readonly #queue: { runId: string; job: Job }[] = [];
  #disposed = false;

  constructor(spec: RealmSpec, max: number, lost: (job: Job, loss: Loss) => void) {
    const init = Promise.resolve(spec.init).then((made) => ({
      ...made,
      cacheSize: Math.min(1, made.cacheSize),
    }));
    // The start of the realm reports a failure; the quarantine may never be used.
    init.catch(() => {});
    this.#spec = { ...spec, init };
    this.#max = Math.max(1, max);
    this.#lost = lost;
  }

  /** Quarantines a run that took down a realm. */
  add(runId: string, loss: Loss): void {
    const left = (this.#runs.get(runId)?.left ?? 0) +
      (loss.kind === "spun" && !endsComputingThreads() ? 1 : 0);
    this.#runs.set(runId, { left, loss });
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
  }

  holds(runId: string): boolean {
    return this.#runs.has(runId);
  }

  threadOf(runId: string): RealmThread | undefined {
    return this.#cells.get(runId)?.thread;
  }

  get cachedRuns(): number {
    let runs = 0;
    for (const { thread } of this.#cells.values()) runs += thread.cachedRuns;
    return runs;
  }

  submit(runId: string, job: Job): void {
    const offence = this.#runs.get(runId);
    if (offence !== undefined && offence.left >= MAX_LEFT_COMPUTING) {
      return this.#lost(job, offence.loss);
    }
    this.#queue.push({ runId, job });
    this.#pump();
  }

  /**
   * Assigns queued work to the workers of its runs. At capacity the least recently used idle worker
   * is ended.
   */
  #pump(): void {
    const queue = this.#queue.splice(0);
    for (const entry of queue) {
      const cell = this.#cells.get(entry.runId) ?? this.#open(entry.runId);
      if (cell === undefined) this.#queue.push(entry);
      else void this.#give(entry.runId, cell, entry.job);
    }
  }

  async #give(runId: string, cell: Cell, job: Job): Promise<void> {
    try {
      await cell.ready;
    } catch (e) {
      this.#cells.delete(runId);
      return job.fail(
        new Error(`the quarantine realm could not be started: ${(e as Error).message}`, {
          cause: e,
        }),
      );
    }
    // The worker may have been lost while it was starting.
    if (this.#cells.get(runId) !== cell) return this.submit(runId, job);
    cell.thread.submit({
      runId,
      unclear: 0,
      message: (id) => job.message(id),
      fail: (error) => job.fail(error),
      lost: (loss) => job.lost(loss),
      done: (answer) => {
        job.done(answer);
        // The worker no longer needs the run: it is closed, or failed and starts again.
        if (answer.t !== "outcome" || answer.outcome.evict) this.#close(runId);
        this.#pump();
      },
    });
  }

  #open(runId: string): Cell | undefined {
    if (this.#disposed) return undefined;
    if (this.#cells.size >= this.#max) {
      const idle = [...this.#cells].filter(([, cell]) =>
        cell.thread.openJobs === 0
      ).sort(([, a], [, b]) => a.thread.lastUsed - b.thread.lastUsed)[0];
      if (idle === undefined) {
        return undefined;
      }
      this.#cells.delete(idle[0]);
      void idle[1].thread.end();
    }
    const thread = new RealmThread(this.#spec, (jobs, culprit, loss) => {
      this.#cells.delete(runId);
      this.add(runId, loss);
      // The worker has a single run, so its open job is the culprit.
      for (const job of jobs) {
        if (culprit === undefined || job === culprit.job) this.#lost(job, loss);
        else this.submit(runId, job);
      }
      this.#pump();
    });
    const ready = thread.start();
    ready.catch(() => {});
    const cell: Cell = { thread, ready };
    this.#cells.set(runId, cell);
    return cell;
  }

  #close(runId: string): void {
    const cell = this.#cells.get(runId);
    if (cell === undefined || cell.thread.openJobs > 0) return;
    this.#cells.delete(runId);
    void cell.thread.end();
  }

  /** Ends all workers. Returns the jobs that were open. */
  async dispose(): Promise<Job[]> {
    this.#disposed = true;
    const jobs = this.#queue.splice(0).map(({ job }) => job);
    const cells = [...this.#cells.values()];
    this.#cells.clear();
    for (const { thread, ready } of cells) {
      await ready.catch(() => {});
      jobs.push(...await thread.end());
    }
    return jobs;
  }
}
