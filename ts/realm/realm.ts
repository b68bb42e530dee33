// Where workflow code runs (docs/dev/semantics/tasks.md#one-task-of-a-run-at-a-time). A worker
// realm is a worker thread or Web Worker with a determinism guard and a watchdog; an inline realm
// is this thread, for unit tests and benches. One message per workflow task each way, but for
// pages of history and local activities.
import type { RunOptions, TaskOutcome } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import type { FetchHistory, RunIdentity, RunSettings } from "../executor/tasks/cached_run.ts";
import type { LocalAnswer, LocalWork, RunLocalActivities } from "../executor/tasks/local_work.ts";
import type { LogSink } from "../executor/program/program.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { TaskHead, WorkflowTask } from "../api/workflow_task.ts";
import type { CacheUse, RealmOutcome } from "../executor/tasks/realm_outcome.ts";

export type { CacheUse, FetchHistory, LogSink, RealmOutcome, ReplayOptions, ReplayVerdict, RunOptions, RunSettings };
export type { LocalAnswer, LocalWork, RunIdentity, RunLocalActivities };
export type { TaskHead, TaskOutcome, VersioningBehavior, WorkflowTask };

/** Where workflow code runs: a worker of its own, or this thread. */
export interface Realm {
  /** Names of the workflows that it knows. */
  readonly workflowTypes: readonly string[];
  /** It runs workflows of every type: a program of `@temporalio/workflow` has a default export for those that have no code of their own. */
  readonly takesAnyType: boolean;
  /** Of the workflows that name one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  /**
   * Runs a workflow task; what is to be reported comes out, and what the cache of runs did. Tasks of different runs may be open together.
   * Workflow code that fails is part of the outcome; rejects for bytes that are no task, and when the realm is disposed. `runLocally` runs
   * its local activities; without it a task that needs some fails.
   */
  runTask(task: WorkflowTask, runLocally?: RunLocalActivities): Promise<RealmOutcome>;
  /** Replays a history (bytes of temporal.api.history.v1.History) with no reporter and gives the verdict. */
  replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict>;
  /** Runs in memory, in all of its threads, as they were after its last task. */
  readonly cachedRuns: number;
  /** The service took a completion: bytes of RespondWorkflowTaskCompletedResponse. Before the run's next task. */
  taskReported(runId: string, response: Uint8Array): void;
  /** Drops a run from memory; its next task replays it from the start. */
  evict(runId: string): void;
  /** Ends the realm. Open tasks and replays reject; nothing of it is left running. */
  dispose(): Promise<void>;
}

/** Options of every realm. */
export interface CommonRealmOptions {
  /** Runs kept in memory between tasks. Default: 1000. */
  readonly cacheSize?: number;
  /** Namespace, identity, sdk version, sticky queue, ... */
  readonly runOptions?: RunSettings;
  /** Asked for pages of history that a task lacks. Without it such a task fails. */
  readonly fetchHistory?: FetchHistory;
  /** Log lines of workflow code, and of the executor about it. */
  readonly log?: LogSink;
}

export const DEFAULT_CACHE_SIZE = 1000;

export const noHistory: FetchHistory = () =>
  Promise.reject(new Error("the task needs more of its run's history, and this realm was given no way to fetch it"));

/** What is left to say when a realm is gone. */
export class RealmDisposedError extends Error {
  override name = "RealmDisposedError";

  constructor() {
    super("the realm is disposed");
  }
}
