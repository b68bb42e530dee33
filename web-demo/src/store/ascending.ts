// Binary search in sorted arrays: a step must not walk a whole history.

/**
 * Number of leading indexes for which `holds` returns true. All of them must come before the
 * others.
 */
export function countLeading(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of tasks that had started at an event. */
export const tasksUpTo = (
  tasks: readonly { readonly eventId: number }[],
  eventId: number,
): number => countLeading(tasks.length, (i) => tasks[i]!.eventId <= eventId);
