// Notifies the workers of this process of runs that close without a worker, so that they evict
// them.
import type { RunWrite } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { WorkflowExecutionStatus as Status } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";

/** Statuses of runs that close without a worker. */
const WITHOUT_WORKER: ReadonlySet<number> = new Set([Status.TERMINATED, Status.TIMED_OUT]);

export class ClosedRuns {
  readonly #listeners = new Set<(runId: string) => void>();

  /**
   * Calls the listener with the id of each such run. Returns a function that removes the listener.
   */
  readonly watch = (listener: (runId: string) => void): () => void => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Notifies the listeners after a commit. */
  committed(writes: readonly RunWrite[]): void {
    if (this.#listeners.size === 0) return;
    for (const { row } of writes) {
      if (row === undefined || !WITHOUT_WORKER.has(row.status)) continue;
      for (const listener of this.#listeners) listener(row.runId);
    }
  }
}
