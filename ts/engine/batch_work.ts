// What the host runs when a batch is closed, before the core is flushed: transactions of the
// application, schedules, batch operations and standalone activities. They enter messages to workflows into the batch that
// commits them.
import type { RunWrite } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { Activities, type ActivitiesContext } from "./activities/activities.ts";
import type { CallOptions, MethodName } from "../service/raw.ts";
import {
  BatchOperations,
  type BatchOperationsContext,
} from "./batch_operations/batch_operations.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import { Schedules, type SchedulesContext } from "./schedules/schedules.ts";
import { StoreError } from "./store_errors.ts";
import { type CommitTransaction, Transactions } from "./transactions.ts";

export class BatchWork {
  readonly transactions: Transactions;
  readonly schedules: Schedules;
  readonly operations: BatchOperations;
  readonly activities: Activities;
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
  }

  /** Calls a method of schedules, batch operations or standalone activities; undefined: another. */
  call(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> | undefined {
    return this.schedules.call(method, request, options.signal) ??
      this.operations.call(method, request, options.signal) ??
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
      this.operations.writes.size > 0 || this.activities.writes.size > 0;
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
  }
}
