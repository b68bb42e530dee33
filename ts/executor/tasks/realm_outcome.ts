// Results of a workflow task: the core's outcome, and the use of the cache of runs.
import type { TaskOutcome } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

import type { RunShown } from "../program/run_shown.ts";
import type { TaskWishes } from "../program/program.ts";

/** Use of the cache of runs by a task. */
export interface CacheUse {
  /** The run was in the cache and continued without replay. */
  readonly hit: boolean;
  /** Number of runs evicted to make room. */
  readonly displaced: number;
}

/** The result of a task: the core's outcome, with data of its realm. */
export interface RealmOutcome extends TaskOutcome, TaskWishes {
  readonly cache: CacheUse;
  /** Start of the run in ms since the epoch; 0 before its code began. */
  readonly runStartMs: number;
  /** What SQL shows of the run, if the service stores it. */
  readonly shown?: RunShown;
  /** The user's line where the task failed, if the response does not contain it. */
  readonly at?: string;
}

/** For a task whose run was neither looked up nor kept in the cache. */
export const CACHE_UNUSED: CacheUse = { hit: false, displaced: 0 };
