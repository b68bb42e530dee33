// Where workflow code runs (docs/dev/semantics/tasks.md#one-task-of-a-run-at-a-time). A worker
// realm is a worker thread or Web Worker with a determinism guard and a watchdog; an inline realm
// is the calling thread, for unit tests and benchmarks. Each workflow task takes one message each
// way, plus pages of history and local activities.
import type {
  RunOptions,
  TaskOutcome,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import type { FetchHistory, RunIdentity, RunSettings } from "../executor/tasks/cached_run.ts";
import type { LocalAnswer, LocalWork, RunLocalActivities } from "../executor/tasks/local_work.ts";
import type { LogSink } from "../executor/program/program.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { TaskHead, WorkflowTask } from "../messages/workflow_task.ts";
import type { CacheUse, RealmOutcome } from "../executor/tasks/realm_outcome.ts";

export type {
  CacheUse,
  FetchHistory,
  LogSink,
  RealmOutcome,
  ReplayOptions,
  ReplayVerdict,
  RunOptions,
  RunSettings,
};
export type { LocalAnswer, LocalWork, RunIdentity, RunLocalActivities };
export type { TaskHead, TaskOutcome, VersioningBehavior, WorkflowTask };

/** An environment that runs workflow code: a worker, or the calling thread. */
export interface Realm {
  /** Names of the registered workflows. */
  readonly workflowTypes: readonly string[];
  /**
   * True if it runs workflows of every type: a `@temporalio/workflow` program has a default export
   * for types without a workflow.
   */
  readonly takesAnyType: boolean;
  /** By type, for workflows that set one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  /**
   * Runs a workflow task. Resolves with what to report and the effect on the cache of runs. Tasks
   * of different runs may run concurrently. Errors of workflow code are part of the outcome.
   * Rejects for invalid bytes, and when the realm is disposed. `runLocally` runs local activities;
   * without it a task that needs one fails.
   */
  runTask(task: WorkflowTask, runLocally?: RunLocalActivities): Promise<RealmOutcome>;
  /**
   * Replays a history (bytes of temporal.api.history.v1.History) and resolves with the verdict.
   * Nothing is reported to a service.
   */
  replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict>;
  /** Number of runs in memory in all threads, after the last task. */
  readonly cachedRuns: number;
  /**
   * Notifies the realm that the service accepted a completion: bytes of
   * RespondWorkflowTaskCompletedResponse. Call before the run's next task.
   */
  taskReported(runId: string, response: Uint8Array): void;
  /** Evicts a run from memory; its next task replays from the start. */
  evict(runId: string): void;
  /** Ends the realm and its threads. Open tasks and replays reject. */
  dispose(): Promise<void>;
}

/** Options of every realm. */
export interface CommonRealmOptions {
  /** Maximum number of runs in memory between tasks. Default: 1000. */
  readonly cacheSize?: number;
  /** Namespace, identity, SDK version, sticky queue, ... */
  readonly runOptions?: RunSettings;
  /** Fetches pages of history that a task lacks. Without it such a task fails. */
  readonly fetchHistory?: FetchHistory;
  /** Receives log lines of workflow code, and those of the executor about it. */
  readonly log?: LogSink;
}

export const DEFAULT_CACHE_SIZE = 1000;

export const noHistory: FetchHistory = () =>
  Promise.reject(
    new Error("the task needs more of its run's history, but the realm has no `fetchHistory`"),
  );

/** Thrown for work of a disposed realm. */
export class RealmDisposedError extends Error {
  override name = "RealmDisposedError";

  constructor() {
    super("the realm is disposed");
  }
}
