// What the host runs when a batch is closed, before the core is flushed: transactions of the
// application and schedules. Both enter messages to workflows into the batch that commits them.
import type { RunWrite } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import { Schedules, type SchedulesContext } from "./schedules/schedules.ts";
import { StoreError } from "./store_errors.ts";
import { type CommitTransaction, Transactions } from "./transactions.ts";

export class BatchWork {
  readonly transactions: Transactions;
  readonly schedules: Schedules;

  constructor(
    context: SchedulesContext,
    commit: CommitTransaction,
    { workflows, isReadOnly = false }: EmbeddedEngineOptions,
  ) {
    this.transactions = new Transactions(context.host, commit, workflows);
    this.schedules = new Schedules(context, isReadOnly);
  }

  /** Runs everything that waits. Returns an error if the batch is lost. */
  run(): Error | undefined {
    const failed = this.transactions.run();
    if (failed !== undefined) return failed;
    try {
      this.schedules.run();
      return undefined;
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  /** Whether the batch must be committed, even without changes of runs. */
  get mustCommit(): boolean {
    return this.transactions.hasRun || this.schedules.writes.size > 0;
  }

  /** The earlier of a wake of the core and the next time of the schedules; 0: never. */
  nextWakeMs(ofCoreMs: number): number {
    const wakes = [ofCoreMs, this.schedules.nextWakeMs].filter((ms) => ms > 0);
    return wakes.length === 0 ? 0 : Math.min(...wakes);
  }

  /** The batch is committed. Returns whether another one must follow. */
  committed(writes: readonly RunWrite[]): boolean {
    this.transactions.committed();
    return this.schedules.committed(writes);
  }

  /** The batch is lost, with the work that has run. `all`: waiting work as well. */
  lost(error: Error, all: boolean): void {
    this.transactions.lost(error, all);
    this.schedules.lost(error, all);
  }
}
