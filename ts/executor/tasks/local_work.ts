// Local activities of an open task: the executor calls its host between activations to run them and
// wait for them (docs/dev/semantics/tasks.md#local-activities-within-a-task). The host has the
// clock, the functions and the retries; the core has the rules.
import type { LocalWork as CoreLocalWork } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** The core's request, with the program's rule for activities that are not registered. */
export interface LocalWork extends CoreLocalWork {
  /**
   * Calls of unregistered activities fail ({@link Program.throwsUnregisteredLocal}). Default: the
   * task fails.
   */
  readonly throwsUnregistered?: boolean;
}

/** Results of local activities so far. */
export interface LocalAnswer {
  /** Encoded LocalActivityResolutions, in order of their ends. */
  readonly resolutions: readonly Uint8Array[];
  /** Complete the task now; running activities continue in the next one. */
  readonly heartbeat?: boolean;
  /** They cannot run here: the task fails with this text. */
  readonly failure?: string;
}

/** Runs the local activities of one task. If the work has `wait`, resolves when there is news. */
export type RunLocalActivities = (work: LocalWork) => Promise<LocalAnswer>;

/** For tasks without local activities, and for the second pass of a failed task. */
export const noLocalActivities: RunLocalActivities = (work) =>
  Promise.resolve({
    resolutions: [],
    failure: `local activity "${
      work.start[0]?.activityType ?? "?"
    }" cannot run: the task has no local activity handler`,
  });
