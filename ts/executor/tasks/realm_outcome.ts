// What comes back for a workflow task from where its run is: the core's outcome, and what the cache of runs did.
import type { TaskOutcome } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

import type { RunShown } from "../program/run_shown.ts";
import type { TaskWishes } from "../program/program.ts";

/** What the cache of runs did for a task. */
export interface CacheUse {
  /** The run was in memory, and went on from where it was: nothing was replayed. */
  readonly hit: boolean;
  /** Runs that left memory because this one came. */
  readonly displaced: number;
}

/** What a task came to: the core's outcome, and what is known where the run was. */
export interface RealmOutcome extends TaskOutcome, TaskWishes {
  /** What the cache did for it. */
  readonly cache: CacheUse;
  /** When the run was started. Milliseconds since the epoch; 0 when its code has not begun. */
  readonly runStartMs: number;
  /** What SQL shows of the run, where the service keeps that. */
  readonly shown?: RunShown;
  /** The user's line on which the task failed, where the response does not say it. */
  readonly at?: string;
}

/** What the cache did for a task whose run was not kept in it, and was not looked for. */
export const CACHE_UNUSED: CacheUse = { hit: false, displaced: 0 };
