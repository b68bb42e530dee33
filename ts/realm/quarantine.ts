// Runs that have spun or crashed their realm go on in workers of their own, one per run, so that they can only hurt themselves. A worker is
// kept while its run has work and for as long as there is room; the run's later tasks then find it, or a new one and their whole history.
// Where a thread that computes cannot be ended, a run that spins gets two threads and no more: each attempt would take another core.
import { endsComputingThreads } from "../platform/threads.ts";
import type { Loss } from "./lost_task.ts";
import { type Job, type RealmSpec, RealmThread } from "./realm_thread.ts";

interface Cell {
  readonly thread: RealmThread;
  readonly ready: Promise<unknown>;
}

/** Runs that are remembered; of more, the oldest get another chance among the others. */
const MAX_RUNS = 10_000;
/** Threads that a run may leave computing. */
const MAX_LEFT_COMPUTING = 2;

interface Offence {
  /** Threads that it has left computing. */
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
    const init = Promise.resolve(spec.init).then((made) => ({ ...made, cacheSize: Math.min(1, made.cacheSize) }));
    // Whoever starts the realm is told; the quarantine may never be needed.
    init.catch(() => {});
    this.#spec = { ...spec, init };
    this.#max = Math.max(1, max);
    this.#lost = lost;
  }

  /** The run has cost a realm. */
  add(runId: string, loss: Loss): void {
    const left = (this.#runs.get(runId)?.left ?? 0) + (loss.kind === "spun" && !endsComputingThreads() ? 1 : 0);
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
    if (offence !== undefined && offence.left >= MAX_LEFT_COMPUTING) return this.#lost(job, offence.loss);
    this.#queue.push({ runId, job });
    this.#pump();
  }

  /** Gives queued work to its run's worker; where there is none and no room, the least recently used idle one goes. */
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
      return job.fail(new Error(`the quarantine realm could not be started: ${(e as Error).message}`, { cause: e }));
    }
    // It may have been lost while it was being started.
    if (this.#cells.get(runId) !== cell) return this.submit(runId, job);
    cell.thread.submit({
      runId,
      unclear: 0,
      message: (id) => job.message(id),
      fail: (error) => job.fail(error),
      lost: (loss) => job.lost(loss),
      done: (answer) => {
        job.done(answer);
        // The run is done for this worker: a closed run needs it no more, a failed one starts again.
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
      // With nobody else in it, whoever was open is the cause.
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

  /** Ends all workers; the jobs that were open. */
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
