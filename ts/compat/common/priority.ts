// Priority of workflow and activity tasks in a queue.
import { FAIRNESS_WEIGHTS } from "../../base/number_ranges.ts";

/** Priority in a queue. */
export interface Priority {
  /** Integer from 1; lower values first. Default: the middle of the server's range. */
  priorityKey?: number;
  /** Tasks of different keys share the queue by weight. */
  fairnessKey?: string;
  /** Weight of the key. Default: 1. */
  fairnessWeight?: number;
}
type ProtoPriority = { readonly [name in keyof Priority]?: Priority[name] | null };

/** Converts a priority from a message. */
export function decodePriority(priority?: ProtoPriority | null): Priority {
  return {
    priorityKey: priority?.priorityKey ?? undefined,
    fairnessKey: priority?.fairnessKey ?? undefined,
    fairnessWeight: priority?.fairnessWeight ?? undefined,
  } as Priority;
}

/**
 * Converts a priority to a message. Throws a TypeError or RangeError for a key that is not an
 * integer from 0.
 */
export function compilePriority(
  { priorityKey, fairnessKey, fairnessWeight }: Priority,
): Required<Priority> {
  if (priorityKey !== undefined && priorityKey !== null) {
    if (!Number.isInteger(priorityKey)) throw new TypeError("priorityKey must be an integer");
    if (priorityKey < 0) throw new RangeError("priorityKey must be a positive integer");
  }
  // The official package sends such weights: a server rejects negative ones, and keeps the others.
  if (
    fairnessWeight !== undefined && fairnessWeight !== null &&
    !(Number.isFinite(fairnessWeight) && fairnessWeight >= 0)
  ) {
    throw new RangeError(
      `fairnessWeight must be a finite number of at least 0, not ${fairnessWeight}`,
    );
  }
  return {
    priorityKey: priorityKey ?? 0,
    fairnessKey: fairnessKey ?? "",
    fairnessWeight: fairnessWeight ?? 0,
  };
}

/**
 * Returns a priority for this package's client: 0 means unset, and the weight is limited as a
 * server does.
 */
export function clientPriority(priority: Priority): Priority {
  const { priorityKey, fairnessKey, fairnessWeight } = compilePriority(priority);
  const { min, max } = FAIRNESS_WEIGHTS;
  return {
    ...(priorityKey !== 0 && { priorityKey }),
    fairnessKey,
    ...(fairnessWeight !== 0 && { fairnessWeight: Math.min(max, Math.max(min, fairnessWeight)) }),
  };
}
