// Looking things up by the task after which they held.
import type { Span } from "../executor/tasks/replay_trace.ts";

/** How many of the first `length` numbers hold, where those that hold come first. */
export function countWhile(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What held after the activation with this index. */
export function valueAt<T>(spans: readonly Span<T>[], at: number): Span<T> | undefined {
  return spans[countWhile(spans.length, (i) => spans[i]!.from <= at) - 1];
}
