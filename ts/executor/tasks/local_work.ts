// Local activities of a task that is open: the executor asks its host to run them, and to wait for
// them, between activations (docs/dev/semantics/tasks.md#local-activities-within-a-task). The host
// has the clock, the functions and the retries; the core has the rules.
import type { LocalWork } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

export type { LocalWork };

/** What came of local activities, so far. */
export interface LocalAnswer {
  /** Bytes of LocalActivityResolution, in the order in which they ended. */
  readonly resolutions: readonly Uint8Array[];
  /** The task is to be answered now; what runs goes on in the next one. */
  readonly heartbeat?: boolean;
  /** They cannot be run here: the task fails with this text. */
  readonly failure?: string;
}

/** Runs the local activities of one task; where the work says `wait`, it answers when there is news. */
export type RunLocalActivities = (work: LocalWork) => Promise<LocalAnswer>;

/** Of tasks whose giver runs none, and of second looks at a task that has failed. */
export const noLocalActivities: RunLocalActivities = (work) =>
  Promise.resolve({
    resolutions: [],
    failure: `local activity "${work.start[0]?.activityType ?? "?"}" cannot run: the task has no local activity handler`,
  });
