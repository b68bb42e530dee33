// Warns of large histories, which servers terminate: once per run when the history is large, and
// again near the limit.
import type { CoreWarning } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** Where Temporal's servers (and the embedded engine) terminate a run. */
const MAX_EVENTS = 51_200;
const MAX_BYTES = 50 * 1024 * 1024;
/** The servers' first warning, and four fifths of the limit. */
const STEPS = [{ events: 10_240, bytes: 10 * 1024 * 1024 }, {
  events: 40_960,
  bytes: 40 * 1024 * 1024,
}];
/** Maximum remembered runs; beyond it, the oldest are warned again. */
const MAX_RUNS = 10_000;

/** Code of these warnings, outside the core's range. */
export const HISTORY_LARGE = 9001;

export class HistoryLimits {
  /** Number of warnings per large run. */
  readonly #warned = new Map<string, number>();

  /** Returns the due warning for this size of the history; usually undefined. */
  check(
    run: { readonly workflowType: string; readonly runId: string },
    events: number,
    bytes: number,
  ): CoreWarning | undefined {
    const step = STEPS.filter((limit) => events >= limit.events || bytes >= limit.bytes).length;
    if (step === 0 || step <= (this.#warned.get(run.runId) ?? 0)) return undefined;
    this.#warned.delete(run.runId);
    this.#warned.set(run.runId, step);
    if (this.#warned.size > MAX_RUNS) this.#warned.delete(this.#warned.keys().next().value!);
    const size = bytes > 0 ? ` and ${(bytes / 1024 / 1024).toFixed(1)} MiB` : "";
    const message = `the history of workflow "${run.workflowType}" has ${events} events${size}; ` +
      `the server terminates a run at ${MAX_EVENTS} events or ${MAX_BYTES / 1024 / 1024} MiB` +
      `${
        step === STEPS.length ? ", which is close" : ""
      }: return continueAsNew(...) when workflowInfo().continueAsNewSuggested`;
    return { code: HISTORY_LARGE, message, eventId: events };
  }

  /** Forgets a closed run. */
  forget(runId: string): void {
    this.#warned.delete(runId);
  }
}
