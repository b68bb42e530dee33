// Looking things up by the task, or the event, after which they held.
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

/**
 * Which of many spans are open at a place: they have begun there and have not ended. Looking at all of them would make a step cost what the
 * run is long; a tree over their ends makes it cost what is open.
 */
export class OpenSpans {
  readonly #starts: Float64Array;
  /** A binary tree in an array: the latest end of what lies below each node. Its leaves begin at half of its length. */
  readonly #ends: Float64Array;

  /** `from` is ascending; `to` is the first place at which the span is not open any more, Infinity where it never ends. */
  constructor(length: number, from: (index: number) => number, to: (index: number) => number) {
    let leaves = 1;
    while (leaves < length) leaves *= 2;
    this.#starts = Float64Array.from({ length }, (_, i) => from(i));
    const ends = this.#ends = new Float64Array(2 * leaves).fill(-Infinity);
    for (let i = 0; i < length; i++) ends[leaves + i] = to(i);
    for (let node = leaves - 1; node > 0; node--) ends[node] = Math.max(ends[2 * node]!, ends[2 * node + 1]!);
  }

  /** Indices of those that are open, ascending. */
  at(place: number): number[] {
    const found: number[] = [];
    this.#collect(place, 1, 0, this.#ends.length / 2, found);
    return found;
  }

  /** `first`: of the leaves below the node, `size` many. */
  #collect(place: number, node: number, first: number, size: number, found: number[]): void {
    if (first >= this.#starts.length || this.#starts[first]! > place || this.#ends[node]! <= place) return;
    if (size === 1) {
      found.push(first);
      return;
    }
    this.#collect(place, 2 * node, first, size / 2, found);
    this.#collect(place, 2 * node + 1, first + size / 2, size / 2, found);
  }
}
