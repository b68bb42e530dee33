// Follows workflow tasks from their poll to their outcome, for metrics and traces. It stands on the host's side of the realm and sees what
// passes there; so it knows which runs the realm has in memory only from what it was told of each task, as long as the realm keeps as many
// runs as this does. Exists only where somebody wants to know.
import { ErrorKind, type TaskOutcome } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkflowTaskHead } from "./task_bytes.ts";
import { readEnding, readPageStart, readTaskFacts, type RunStart, type TaskFacts } from "./task_facts.ts";
import type { TaskFailureReason, WorkerMetrics } from "./worker_metrics.ts";

interface RunRecord {
  start: RunStart | undefined;
  /** The task in work asked for its history from the beginning. */
  fetched: boolean;
}

/** A task that is being followed. */
export interface WatchedTask {
  readonly head: WorkflowTaskHead;
  readonly facts: TaskFacts;
  readonly run: RunRecord;
  readonly began: number;
}

export class WorkflowWatch {
  readonly #metrics: WorkerMetrics;
  readonly #cacheSize: number;
  /** Runs that are in memory, least recently used first. */
  readonly #cached = new Map<string, RunRecord>();
  /** Runs with a task in work. */
  readonly #open = new Map<string, RunRecord>();

  constructor(metrics: WorkerMetrics, cacheSize: number) {
    this.#metrics = metrics;
    this.#cacheSize = cacheSize;
  }

  /** Runs in memory. */
  get cachedRuns(): number {
    return this.#cached.size;
  }

  /** A task was taken. */
  begin(task: Uint8Array, head: WorkflowTaskHead): WatchedTask {
    const facts = readTaskFacts(task);
    const run = this.#cached.get(head.runId) ?? { start: undefined, fetched: false };
    run.fetched = false;
    run.start ??= facts.start;
    this.#open.set(head.runId, run);
    const { scheduledMs, startedMs } = facts;
    if (!head.isQuery && scheduledMs !== undefined && startedMs !== undefined && startedMs > 0) {
      this.#metrics.workflowScheduleToStart.record(startedMs - scheduledMs);
    }
    return { head, facts, run, began: performance.now() };
  }

  /** The realm asked for a page of a run's history; without a token, for the first one. */
  page(runId: string, token: Uint8Array, history: Uint8Array): void {
    const run = this.#open.get(runId);
    if (run === undefined || token.length > 0) return;
    run.fetched = true;
    run.start ??= readPageStart(history);
  }

  /** The realm has run the task. */
  settled({ head, facts, run, began }: WatchedTask, outcome: TaskOutcome): void {
    this.#open.delete(head.runId);
    const series = this.#metrics.workflow(head.workflowType);
    const took = performance.now() - began;
    const inMemory = facts.partial && !run.fetched;
    if (facts.partial) (inMemory ? series.cacheHit : this.#metrics.cacheMiss).add();
    series.execution.record(took);
    if (facts.hasPast && !inMemory) series.replay.record(took);
    if (outcome.error !== undefined && !head.isQuery) {
      const diverged = outcome.error.kind === ErrorKind.ERROR_KIND_NONDETERMINISM;
      this.failed(head, diverged ? "NonDeterminismError" : "WorkflowError");
    }
    this.#cached.delete(head.runId);
    if (outcome.evict || this.#cacheSize === 0) return;
    this.#cached.set(head.runId, run);
    if (this.#cached.size <= this.#cacheSize) return;
    this.#cached.delete(this.#cached.keys().next().value!);
    this.#metrics.forcedEviction.add();
  }

  /** The service took the task's completion (the request). */
  reported({ head, run }: WatchedTask, request: Uint8Array): void {
    const ending = readEnding(request);
    if (ending === undefined) return;
    const series = this.#metrics.workflow(head.workflowType);
    series.ended.of(ending).add();
    if (run.start !== undefined) series.endToEnd.record(Date.now() - run.start.startMs);
  }

  /** The task failed, or its report was refused. */
  failed(head: WorkflowTaskHead, reason: TaskFailureReason): void {
    this.#metrics.workflow(head.workflowType).failed.of(reason).add();
  }

  /** Another realm takes over: it has no runs in memory. */
  cleared(): void {
    this.#cached.clear();
  }

  /** The realm was told to drop a run, or never got through with it. */
  evicted(runId: string): void {
    this.#open.delete(runId);
    this.#cached.delete(runId);
  }
}
