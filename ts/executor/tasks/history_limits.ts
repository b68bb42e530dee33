// Servers end a run whose history grows too large. Whoever writes workflows should hear of it while there is time to continue as new: once
// per run when it is large, and once more when the end is near.
import type { CoreWarning } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** Where Temporal's servers (and the embedded engine) end a run. */
const MAX_EVENTS = 51_200;
const MAX_BYTES = 50 * 1024 * 1024;
/** Where Temporal's servers begin to warn, and four fifths of the way to the end. */
const STEPS = [{ events: 10_240, bytes: 10 * 1024 * 1024 }, { events: 40_960, bytes: 40 * 1024 * 1024 }];
/** Runs that are remembered; of more, the oldest are warned of again. */
const MAX_RUNS = 10_000;

/** Code of these warnings: beyond the core's own. */
export const HISTORY_LARGE = 9001;

export class HistoryLimits {
  /** How often each large run has been warned of. */
  readonly #warned = new Map<string, number>();

  /** The warning that is due now that the run's history is so large; mostly none. */
  check(run: { readonly workflowType: string; readonly runId: string }, events: number, bytes: number): CoreWarning | undefined {
    const step = STEPS.filter((limit) => events >= limit.events || bytes >= limit.bytes).length;
    if (step === 0 || step <= (this.#warned.get(run.runId) ?? 0)) return undefined;
    this.#warned.delete(run.runId);
    this.#warned.set(run.runId, step);
    if (this.#warned.size > MAX_RUNS) this.#warned.delete(this.#warned.keys().next().value!);
    const size = bytes > 0 ? ` and ${(bytes / 1024 / 1024).toFixed(1)} MiB` : "";
    const message = `the history of workflow "${run.workflowType}" has ${events} events${size}; ` +
      `the server terminates a run at ${MAX_EVENTS} events or ${MAX_BYTES / 1024 / 1024} MiB` +
      `${step === STEPS.length ? ", which is close" : ""}: return continueAsNew(...) when workflowInfo().continueAsNewSuggested`;
    return { code: HISTORY_LARGE, message, eventId: events };
  }

  /** The run has ended. */
  forget(runId: string): void {
    this.#warned.delete(runId);
  }
}
