// The runs that this worker has moved on lately. When its workflows are replaced, these are checked besides those that the service lists: a
// cluster's lists lag behind its histories, and a run that moved while it was being checked has to be checked again.
import type { Timers } from "../base/timers.ts";

export interface RunName {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
}

/** How far a cluster's lists may lag behind. */
const LAG_MS = 60_000;
const MAX_RUNS = 20_000;

export class RecentRuns {
  readonly #timers: Timers;
  /** In the order of their last step. */
  readonly #runs = new Map<string, RunName & { readonly at: number }>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  note({ workflowId, runId, workflowType }: RunName): void {
    this.#runs.delete(runId);
    this.#runs.set(runId, { workflowId, runId, workflowType, at: this.#timers.now() });
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
  }

  /** The run has closed: no code matters to it any more. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Those of the last minute, and from then on those noted after this call. */
  take(): RunName[] {
    const since = this.#timers.now() - LAG_MS;
    const runs = [...this.#runs.values()].filter(({ at }) => at >= since);
    this.#runs.clear();
    return runs.map(({ workflowId, runId, workflowType }) => ({ workflowId, runId, workflowType }));
  }
}
