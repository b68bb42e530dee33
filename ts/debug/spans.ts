// Look-ups of values that apply from one activation or event to another.
import type { Span } from "../executor/tasks/replay_trace.ts";

/**
 * Returns how many of the first `length` numbers pass the predicate. The numbers that pass must
 * come first.
 */
export function countWhile(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the span that applies after the given activation. */
export function valueAt<T>(spans: readonly Span<T>[], at: number): Span<T> | undefined {
  return spans[countWhile(spans.length, (i) => spans[i]!.from <= at) - 1];
}

/**
 * Finds the spans that are open at a place: they have started and not ended. A tree of their ends
 * makes a look-up proportional to the open spans instead of to the length of the run.
 */
export class OpenSpans {
  readonly #starts: Float64Array;
  /**
   * A binary tree in an array: the latest end below each node. The leaves begin at half of its
   * length.
   */
  readonly #ends: Float64Array;

  /**
   * `from` is ascending. `to` is the first place at which the span is no longer open; Infinity if
   * it never ends.
   */
  constructor(length: number, from: (index: number) => number, to: (index: number) => number) {
    let leaves = 1;
    while (leaves < length) leaves *= 2;
    this.#starts = Float64Array.from({ length }, (_, i) => from(i));
    const ends = this.#ends = new Float64Array(2 * leaves).fill(-Infinity);
    for (let i = 0; i < length; i++) ends[leaves + i] = to(i);
    for (let node = leaves - 1; node > 0; node--) {
      ends[node] = Math.max(ends[2 * node]!, ends[2 * node + 1]!);
    }
  }

  /** Returns the indices of the open spans, ascending. */
  at(place: number): number[] {
    const found: number[] = [];
    this.#collect(place, 1, 0, this.#ends.length / 2, found);
    return found;
  }

  /** `first`, `size`: the first leaf below the node, and their number. */
  #collect(place: number, node: number, first: number, size: number, found: number[]): void {
    if (
      first >= this.#starts.length || this.#starts[first]! > place || this.#ends[node]! <= place
    ) return;
    if (size === 1) {
      found.push(first);
      return;
    }
    this.#collect(place, 2 * node, first, size / 2, found);
    this.#collect(place, 2 * node + 1, first + size / 2, size / 2, found);
  }
}
