// Runs that this worker advanced recently. A replacement of workflows checks them in addition to
// the listed ones: a cluster's lists lag behind, and a run that advanced during its check needs
// another.
import type { Timers } from "../../base/timers.ts";

export interface RunName {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
}

/** Maximum lag of a cluster's lists, in ms. */
const LAG_MS = 60_000;
const MAX_RUNS = 20_000;

export class RecentRuns {
  readonly #timers: Timers;
  /** In order of their last task. */
  readonly #runs = new Map<string, RunName & { readonly at: number }>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  note({ workflowId, runId, workflowType }: RunName): void {
    this.#runs.delete(runId);
    this.#runs.set(runId, { workflowId, runId, workflowType, at: this.#timers.now() });
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
  }

  /** Removes a closed run; no code has to replay it. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Returns and clears the runs of the last minute. */
  take(): RunName[] {
    const since = this.#timers.now() - LAG_MS;
    const runs = [...this.#runs.values()].filter(({ at }) => at >= since);
    this.#runs.clear();
    return runs.map(({ workflowId, runId, workflowType }) => ({ workflowId, runId, workflowType }));
  }
}
