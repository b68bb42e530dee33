// The order of workflow and activity tasks in a queue, as an option of starts and calls.
import { checkNumber, FAIRNESS_WEIGHTS, MAX_INT32 } from "./number_ranges.ts";
import { type OptionNames, rejectUnknownOptions } from "./option_names.ts";

/** Order among the tasks of a queue. */
export interface TaskPriority {
  /** Integer from 1; lower values first. Default: the middle of the service's range. */
  priorityKey?: number;
  /** Tasks of different keys share the queue by weight. */
  fairnessKey?: string;
  /** Weight of the key. Default: 1. */
  fairnessWeight?: number;
}

const PRIORITY: OptionNames<TaskPriority> = {
  priorityKey: 1,
  fairnessKey: 1,
  fairnessWeight: 1,
};

/** Throws for an unknown field and for a value outside of its range. */
export function checkPriority(priority: TaskPriority | undefined): void {
  if (priority === undefined) return;
  if (typeof priority !== "object" || priority === null) {
    throw new TypeError(`priority must be an object of its options, not ${String(priority)}`);
  }
  rejectUnknownOptions("priority", priority, PRIORITY);
  const { priorityKey, fairnessKey, fairnessWeight } = priority;
  checkNumber("priority.priorityKey", priorityKey, { min: 1, max: MAX_INT32 });
  checkNumber("priority.fairnessWeight", fairnessWeight, FAIRNESS_WEIGHTS);
  if (fairnessKey !== undefined && typeof fairnessKey !== "string") {
    throw new TypeError(`priority.fairnessKey must be a string, not ${typeof fairnessKey}`);
  }
}
