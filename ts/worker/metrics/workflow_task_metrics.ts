// Counts workflow tasks: arrivals, durations, results, and use of the cache of runs. Exists only
// with metrics.
import { ErrorKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RealmOutcome, TaskHead } from "../../realm/realm.ts";
import { readEnding } from "../workflow/run_ending.ts";
import type { TaskFailureReason, WorkerMetrics } from "./worker_metrics.ts";

export class WorkflowTaskMetrics {
  readonly #metrics: WorkerMetrics;

  constructor(metrics: WorkerMetrics) {
    this.#metrics = metrics;
  }

  /** Records a received task. Returns the time for `settled`. */
  begin({ query, scheduledMs, startedMs }: TaskHead): number {
    if (query === undefined && scheduledMs > 0 && startedMs > 0) {
      this.#metrics.workflowScheduleToStart.record(startedMs - scheduledMs);
    }
    return performance.now();
  }

  /** Records a task that the realm has run. */
  settled(head: TaskHead, outcome: RealmOutcome, began: number): void {
    const series = this.#metrics.workflow(head.workflowType);
    const took = performance.now() - began;
    const { hit, displaced } = outcome.cache;
    // The service sends a later part of the history if it expects the run in the cache.
    if (head.firstEventId > 1) (hit ? series.cacheHit : this.#metrics.cacheMiss).add();
    series.execution.record(took);
    if (head.previousStartedEventId > 0 && !hit) series.replay.record(took);
    if (outcome.error !== undefined && head.query === undefined) {
      const diverged = outcome.error.kind === ErrorKind.ERROR_KIND_NONDETERMINISM;
      this.failed(head, diverged ? "NonDeterminismError" : "WorkflowError");
    }
    if (displaced > 0) this.#metrics.forcedEviction.add(displaced);
  }

  /** Records an accepted completion (the encoded request) that ended its run. */
  reported(head: TaskHead, { runStartMs }: RealmOutcome, request: Uint8Array): void {
    const ending = readEnding(request);
    if (ending === undefined) return;
    const series = this.#metrics.workflow(head.workflowType);
    series.ended.of(ending).add();
    if (runStartMs > 0) series.endToEnd.record(Date.now() - runStartMs);
  }

  /** Records a failed task or a rejected report. */
  failed({ workflowType }: TaskHead, reason: TaskFailureReason): void {
    this.#metrics.workflow(workflowType).failed.of(reason).add();
  }
}
