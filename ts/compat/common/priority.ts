// The order of tasks of workflows and activities in a queue.

/** Order among the tasks of a queue. */
export interface Priority {
  /** A whole number from 1; smaller ones go first. Default: the middle of what the server has. */
  priorityKey?: number;
  /** Tasks of different keys share the queue, by their weights. */
  fairnessKey?: string;
  /** Share of the key. Default: 1. */
  fairnessWeight?: number;
}
type ProtoPriority = { readonly [name in keyof Priority]?: Priority[name] | null };

/** The priority of what the wire has. */
export function decodePriority(priority?: ProtoPriority | null): Priority {
  return {
    priorityKey: priority?.priorityKey ?? undefined,
    fairnessKey: priority?.fairnessKey ?? undefined,
    fairnessWeight: priority?.fairnessWeight ?? undefined,
  } as Priority;
}

/** What the wire has for a priority. Throws a TypeError or RangeError for a value outside of its range. */
export function compilePriority({ priorityKey, fairnessKey, fairnessWeight }: Priority): Required<Priority> {
  if (priorityKey !== undefined && priorityKey !== null) {
    if (!Number.isInteger(priorityKey)) throw new TypeError("priorityKey must be an integer");
    if (priorityKey < 0) throw new RangeError("priorityKey must be a positive integer");
  }
  // The official package sends such weights: a server rejects negative ones, and keeps the others.
  if (fairnessWeight !== undefined && fairnessWeight !== null && !(Number.isFinite(fairnessWeight) && fairnessWeight >= 0)) {
    throw new RangeError(`fairnessWeight must be a finite number of at least 0, not ${fairnessWeight}`);
  }
  return { priorityKey: priorityKey ?? 0, fairnessKey: fairnessKey ?? "", fairnessWeight: fairnessWeight ?? 0 };
}
