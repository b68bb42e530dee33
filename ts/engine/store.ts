// The store: what the embedded engine keeps, behind one synchronous interface. The engine's memory
// is a cache of it (docs/dev/semantics/engine.md#nothing-is-seen-before-its-commit). Implementations:
// memory (tests) and SQLite on several drivers; one contract test runs on all of them. A store has
// one user, the engine that opened it.
import type { RunRecord, RunRow, RunWrite } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Condition } from "./visibility/condition.ts";

export type { Condition, RunRecord, RunRow, RunWrite };

/** A run that the engine should load. `position` orders the answers of one method; pass the last one to go on after it. */
export interface StoredRun {
  /** Id of its workflow. */
  readonly workflowId: string;
  /** Id of the run. */
  readonly runId: string;
  /** Where it stands in the order of the method that answered it. */
  readonly position: readonly [number, number];
}

/** A time that runs are listed by. */
export type OrderField = "StartTime" | "CloseTime";

/** Which runs to list, in which order. Runs that compare equal are ordered by their age. Open runs count as closed last of all. */
export interface ListQuery {
  /** Which runs; absent: all. */
  readonly where?: Condition;
  /** By which time. */
  readonly orderBy: OrderField;
  /** The latest first. */
  readonly descending: boolean;
}

/** Where a page ended: the value that it was ordered by, and the run's place in order of creation. */
export type ListPosition = readonly [number, number];

/** One page of a listing. */
export interface ListPage {
  /** What the store indexes of each run, in order. */
  readonly rows: RunRow[];
  /** The engine's own state of each of them, as committed. */
  readonly heads: readonly Uint8Array[];
  /** Undefined after the last page. */
  readonly next: ListPosition | undefined;
}

/** By run id, what is shown of runs in SQL: `phase`, and the state as JSON (`null`: none to show; absent: as before). */
export type ShownOfRuns = ReadonlyMap<string, { readonly phase: number; readonly state?: string | null }>;

/** Which closed runs to remove. */
export interface PurgeOptions {
  /** Runs that closed before this moment are removed, with their history. Milliseconds since the epoch. */
  closedBefore: number;
  /** Only runs of which this holds. */
  where?: Condition;
  /** At most so many runs (default: all). A long purge blocks the engine, so the host purges in slices. */
  limit?: number;
}

/** Where an engine keeps everything. One user, the engine that opened it; synchronous. */
export interface Store {
  /** What and where it is, for logs and errors. */
  readonly description: string;
  /** The state of one run; without a run id, of the run of that workflow id that was created last. */
  load(workflowId: string, runId?: string): RunRecord | undefined;
  /**
   * Events `from`..`to` (both included) as encoded temporal History messages, in order. Throws a StoreError when the run or a part of the
   * range is not there: a history with a gap must never be handed out.
   */
  historyRange(workflowId: string, runId: string, from: number, to: number): Uint8Array[];
  /** Open runs with a queued or handed out task, in order of creation. */
  ready(limit: number, after?: StoredRun["position"]): StoredRun[];
  /** Runs whose `wakeAtMs` has come, the earliest first. */
  due(nowMs: number, limit: number, after?: StoredRun["position"]): StoredRun[];
  /** The earliest `wakeAtMs` of all runs; 0 when there is none. */
  nextWake(): number;
  /** One page of at most `size` runs, after a position. */
  list(query: ListQuery, size: number, after?: ListPosition): ListPage;
  /** Number of runs of which the condition holds; of all without one. */
  count(where?: Condition): number;
  /** The same by status (a number of WorkflowExecutionStatus). Statuses without runs are absent. */
  countByStatus(where?: Condition): ReadonlyMap<number, number>;
  /** Open runs whose search attribute has one of these values, in order of creation. Costs what it finds, not what there is. */
  subscribers(attribute: string, values: readonly string[]): { workflowId: string; runId: string }[];
  /** Writes everything or nothing, durably (as far as the store's settings promise). Throws a StoreError. */
  commit(writes: readonly RunWrite[], shown?: ShownOfRuns): void;
  /** Copies the store to a file that must not exist, while it is open. Blocks until it is done. */
  backup(path: string): void;
  /** Removes closed runs; answers their run ids. */
  purge(options: PurgeOptions): string[];
  /** Looks for damage: one sentence for each, none when all is well. Reads everything. */
  check(): string[];
  /** Gives the storage back. Nothing may be called after it. */
  close(): void;
}
