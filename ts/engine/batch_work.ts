// What the host runs when a batch is closed, before the core is flushed: transactions of the
// application, schedules, batch operations, standalone activities and worker deployments. They enter
// messages to workflows into the batch that commits them.
import type { RunWrite } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { Activities, type ActivitiesContext } from "./activities/activities.ts";
import type { CallOptions, MethodName } from "../service/raw.ts";
import {
  BatchOperations,
  type BatchOperationsContext,
} from "./batch_operations/batch_operations.ts";
import { Deployments } from "./deployments/deployments.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import { Schedules, type SchedulesContext } from "./schedules/schedules.ts";
import type { HostWrites } from "./store.ts";
import { StoreError } from "./store_errors.ts";
import { type CommitTransaction, Transactions } from "./transactions.ts";

export class BatchWork {
  readonly transactions: Transactions;
  readonly schedules: Schedules;
  readonly operations: BatchOperations;
  readonly activities: Activities;
  /** Undefined: the workers are in this process, and need no versions. */
  readonly deployments: Deployments | undefined;
  #isPartial = false;

  constructor(
    context: SchedulesContext & BatchOperationsContext & ActivitiesContext,
    commit: CommitTransaction,
    { workflows, isReadOnly = false, remoteWorkers = false }: EmbeddedEngineOptions,
  ) {
    this.transactions = new Transactions(context.host, commit, workflows);
    this.schedules = new Schedules(context, isReadOnly);
    this.operations = new BatchOperations(context, isReadOnly);
    this.activities = new Activities(context, isReadOnly, !remoteWorkers);
    this.deployments = remoteWorkers ? new Deployments(context, isReadOnly) : undefined;
  }

  /** Calls a method of the host's work; undefined: another method. */
  call(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> | undefined {
    return this.schedules.call(method, request, options.signal) ??
      this.operations.call(method, request, options.signal) ??
      this.deployments?.call(method, request, options.signal) ??
      this.activities.call(method, request, options);
  }

  /**
   * Whether the last `run` ended in schedules or operations: they may have entered messages, which a
   * second run would enter again, so the core must drop its batch.
   */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Runs everything that waits. Returns an error if the batch is lost. */
  run(): Error | undefined {
    this.#isPartial = false;
    const failed = this.transactions.run();
    if (failed !== undefined) return failed;
    try {
      this.deployments?.run();
      this.schedules.run();
      this.operations.run();
      this.activities.run();
      return undefined;
    } catch (error) {
      this.#isPartial = true;
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  /** Whether the batch must be committed, even without changes of runs. */
  get mustCommit(): boolean {
    return this.transactions.hasRun || this.schedules.writes.size > 0 ||
      this.operations.writes.size > 0 || this.activities.writes.size > 0 ||
      (this.deployments?.writes.size ?? 0) > 0;
  }

  /** The host's changes, as a commit writes them. */
  get writes(): HostWrites {
    const { schedules, operations, activities, deployments } = this;
    return [schedules.writes, operations.writes, activities.writes, deployments?.writes];
  }

  /** The earliest of a wake of the core and of the others; 0: never. */
  nextWakeMs(ofCoreMs: number): number {
    const { schedules, operations, activities } = this;
    const wakes = [ofCoreMs, schedules.nextWakeMs, operations.nextWakeMs, activities.nextWakeMs]
      .filter((ms) => ms > 0);
    return wakes.length === 0 ? 0 : Math.min(...wakes);
  }

  /** The batch is committed. Returns whether another one must follow. */
  committed(writes: readonly RunWrite[]): boolean {
    this.transactions.committed();
    this.deployments?.committed();
    const schedulesFollow = this.schedules.committed(writes);
    const operationsFollow = this.operations.committed();
    return this.activities.committed() || operationsFollow || schedulesFollow;
  }

  /** The replies of the committed batch were sent. */
  replied(): void {
    this.operations.removeRuns();
  }

  /** The batch is lost, with the work that has run. `all`: waiting work as well. */
  lost(error: Error, all: boolean): void {
    this.transactions.lost(error, all);
    this.schedules.lost(error, all);
    this.operations.lost(error, all);
    this.activities.lost(error, all);
    this.deployments?.lost(error, all);
  }
}
