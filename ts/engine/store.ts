// The storage of the embedded engine, behind one synchronous interface. The engine's memory is a
// cache of it (docs/dev/semantics/engine.md#nothing-is-seen-before-its-commit). Implementations:
// memory (tests) and SQLite with several drivers; one contract test covers all. A store has one
// user, the engine that opened it.
import type {
  RunRecord,
  RunRow,
  RunWrite,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Condition } from "./visibility/condition.ts";

export type { Condition, RunRecord, RunRow, RunWrite };

/** A run that the engine should load. Pass the `position` of the last run to get the next page. */
export interface StoredRun {
  readonly workflowId: string;
  readonly runId: string;
  /** The run's place in the order of the method that returned it. */
  readonly position: readonly [number, number];
}

/** The time by which runs are listed. */
export type OrderField = "StartTime" | "CloseTime";

/**
 * Selects and orders runs. Ties are ordered by age; open runs sort after all closed ones by
 * CloseTime.
 */
export interface ListQuery {
  /** Condition; absent: all runs. */
  readonly where?: Condition;
  /** Time that orders the runs. */
  readonly orderBy: OrderField;
  /** Latest first. */
  readonly descending: boolean;
}

/** The last run of a page: the value that it was ordered by, and its place in order of creation. */
export type ListPosition = readonly [number, number];

/** One page of a list. */
export interface ListPage {
  /** The indexed fields of each run, in order. */
  readonly rows: RunRow[];
  /** The engine's committed state of each run. */
  readonly heads: readonly Uint8Array[];
  /** The position for the next page; undefined after the last page. */
  readonly next: ListPosition | undefined;
}

/**
 * What SQL shows of runs, by run id: `phase`, and the state as JSON (`null`: none; absent:
 * unchanged).
 */
export type ShownOfRuns = ReadonlyMap<
  string,
  { readonly phase: number; readonly state?: string | null }
>;

/** A schedule in a store (schedules/state.ts). */
export interface StoredSchedule {
  readonly scheduleId: string;
  /** Encoded DescribeScheduleResponse. */
  readonly description: Uint8Array;
  /** Encoded StartWorkflowExecutionRequest with the last result and failure. */
  readonly carried: Uint8Array;
  /** The rest of the state, as JSON. */
  readonly state: string;
}

/** A changed schedule; without a state it is removed. */
export type ScheduleWrite = StoredSchedule | Pick<StoredSchedule, "scheduleId">;

/** A batch operation in a store (batch_operations/state.ts). */
export interface StoredBatch {
  /** Id of the operation. */
  readonly jobId: string;
  /** Encoded StartBatchOperationRequest. */
  readonly request: Uint8Array;
  /** Its progress, as JSON. */
  readonly state: string;
}

/** A changed batch operation: without a state it is removed, without a request it keeps its own. */
export interface BatchWrite {
  /** Id of the operation. */
  readonly jobId: string;
  /** Encoded StartBatchOperationRequest: new or changed. */
  readonly request?: Uint8Array;
  /** Its progress, as JSON. */
  readonly state?: string;
}

/** A worker deployment in a store (deployments/state.ts). */
export interface StoredDeployment {
  readonly name: string;
  /** Its state, as JSON. */
  readonly state: string;
}

/** A changed worker deployment; without a state it is removed. */
export type DeploymentWrite = Pick<StoredDeployment, "name"> & Partial<StoredDeployment>;

/** The configuration of a task queue in a store (task_queue_configs.ts). */
export interface StoredTaskQueueConfig {
  readonly taskQueue: string;
  /** Number of a TaskQueueType. */
  readonly type: number;
  /** Encoded TaskQueueConfig. */
  readonly config: Uint8Array;
}

/** The configurations of task queues in a store. */
export interface TaskQueueConfigStore {
  all(): StoredTaskQueueConfig[];
  /** Sets one, in a separate transaction. */
  set(config: StoredTaskQueueConfig): void;
}

/** A standalone activity in a store (activities/state.ts). */
export interface StoredActivity {
  readonly activityId: string;
  readonly runId: string;
  /** Encoded ActivityExecutionInfo. */
  readonly info: Uint8Array;
  /** Encoded ActivityExecutionOutcome; empty while the activity is open. */
  readonly outcome: Uint8Array;
  /** The rest of the state, as JSON. */
  readonly state: string;
}

/** What queries test of a standalone activity. */
export interface ActivityRow {
  readonly activityId: string;
  readonly runId: string;
  readonly activityType: string;
  readonly taskQueue: string;
  /** Number of ActivityExecutionStatus. */
  readonly status: number;
  readonly startTimeMs: number;
  /** Start and start delay. */
  readonly executionTimeMs: number;
  /** 0: the activity is open. */
  readonly closeTimeMs: number;
  /** Encoded SearchAttributes; empty without attributes. */
  readonly searchAttributes: Uint8Array;
}

/** A changed standalone activity; without a row it is removed, with a request it is new. */
export type ActivityWrite =
  | { readonly runId: string; readonly row?: undefined }
  | (Omit<StoredActivity, "activityId"> & {
    readonly row: ActivityRow;
    /** Encoded StartActivityExecutionRequest. */
    readonly request?: Uint8Array;
  });

/** What the host of an engine has changed, by id. */
export type HostWrites = [
  schedules?: ReadonlyMap<string, ScheduleWrite>,
  batches?: ReadonlyMap<string, BatchWrite>,
  activities?: ReadonlyMap<string, ActivityWrite>,
  deployments?: ReadonlyMap<string, DeploymentWrite>,
];

/** Reads standalone activities; `Store.commit` writes them. */
export interface ActivityStore {
  /** Returns all open activities, in order of creation. */
  open(): StoredActivity[];
  /** Returns an activity; without a run id, the latest run of the activity id. */
  find(activityId: string, runId?: string): StoredActivity | undefined;
  /** Returns the request of the start; undefined if the run does not exist. */
  request(activityId: string, runId: string): Uint8Array | undefined;
  /** Returns a page of encoded ActivityExecutionInfos. */
  list(
    query: ListQuery,
    size: number,
    after?: ListPosition,
  ): { readonly infos: Uint8Array[]; readonly next: ListPosition | undefined };
  /** Returns the numbers by status. Statuses without activities are absent. */
  countByStatus(where?: Condition): ReadonlyMap<number, number>;
}

/** Selects the closed runs to remove. */
export interface PurgeOptions {
  /**
   * Removes runs that closed before this time, with their histories. Milliseconds since the epoch.
   */
  closedBefore: number;
  /** Only runs that match this condition. */
  where?: Condition;
  /**
   * Maximum number of runs. Default: all. A long purge blocks the engine, so the host purges in
   * slices.
   */
  limit?: number;
}

/** Registered search attributes: names with numbers of IndexedValueType. */
export interface AttributeTypes {
  readonly [name: string]: number;
}

/** The storage of an engine. Synchronous; used only by the engine that opened it. */
export interface Store {
  /** Kind and location of the store, for logs and errors. */
  readonly description: string;
  /** Returns the state of a run; without a run id, of the latest run of the workflow id. */
  load(workflowId: string, runId?: string): RunRecord | undefined;
  /**
   * Returns the events `from`..`to` (inclusive) as encoded temporal History messages, in order.
   * Throws a StoreError if the run or a part of the range is missing: a history must not have gaps.
   */
  historyRange(workflowId: string, runId: string, from: number, to: number): Uint8Array[];
  /** Returns open runs with a queued or dispatched task, in order of creation. */
  ready(limit: number, after?: StoredRun["position"]): StoredRun[];
  /** Returns runs whose `wakeAtMs` has passed, the earliest first. */
  due(nowMs: number, limit: number, after?: StoredRun["position"]): StoredRun[];
  /** Returns the earliest `wakeAtMs` of all runs; 0 if no run has one. */
  nextWake(): number;
  /** Returns a page of at most `size` runs, after a position. */
  list(query: ListQuery, size: number, after?: ListPosition): ListPage;
  /** Returns the number of runs that match the condition, or of all runs. */
  count(where?: Condition): number;
  /**
   * Returns the numbers by status (of WorkflowExecutionStatus). Statuses without runs are absent.
   */
  countByStatus(where?: Condition): ReadonlyMap<number, number>;
  /**
   * Returns open runs whose search attribute has one of these values, in order of creation. The
   * cost grows with the result, not with the store.
   */
  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[];
  /** Returns the registered search attributes; undefined: no register, every name is taken. */
  attributeTypes(): AttributeTypes | undefined;
  /** Replaces the register of search attributes, in a separate transaction. */
  setAttributeTypes(types: AttributeTypes): void;
  /**
   * Returns all schedules. A store without this method has none: its engine rejects schedules, and
   * `commit` gets none.
   */
  schedules?(): StoredSchedule[];
  /** Configurations of task queues. A store without them rejects changes of a configuration. */
  readonly taskQueueConfigs?: TaskQueueConfigStore;
  /**
   * Returns all batch operations. A store without this method has none: its engine rejects them, and
   * `commit` gets none.
   */
  batches?(): StoredBatch[];
  /**
   * Returns all worker deployments. A store without this method has none: its engine rejects them,
   * and `commit` gets none.
   */
  deployments?(): StoredDeployment[];
  /**
   * Standalone activities. A store without them: its engine rejects them, and `commit` gets none.
   */
  readonly activities?: ActivityStore;
  /** Writes everything or nothing, as durably as the store is configured. Throws a StoreError. */
  commit(
    writes: readonly RunWrite[],
    shown?: ShownOfRuns,
    ...host: HostWrites
  ): void;
  /** Copies the open store to a file that must not exist. Blocks until the copy is complete. */
  backup(path: string): void;
  /**
   * Removes closed runs, and without a condition closed standalone activities; returns their run ids.
   */
  purge(options: PurgeOptions): string[];
  /** Checks the whole store. Returns one sentence for each kind of damage, empty if it is sound. */
  check(): string[];
  /** Closes the store. No method may be called afterwards. */
  close(): void;
}
