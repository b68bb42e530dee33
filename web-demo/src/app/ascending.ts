// Look-ups in what is in order: a step must not walk a history.

/** How many of the first `length` hold, where those that hold come first. */
export function countLeading(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of some tasks had begun at an event. */
export const tasksUpTo = (tasks: readonly { readonly eventId: number }[], eventId: number): number =>
  countLeading(tasks.length, (i) => tasks[i]!.eventId <= eventId);
