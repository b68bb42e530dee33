// Delta debugging: finds a minimal subset of items for which a predicate still holds.

/** The progress of the search. */
export interface Trying {
  /** Number of attempts so far. */
  readonly tried: number;
  /** Number of items that are still kept. */
  readonly left: number;
}

/**
 * Returns a subset for which `holds` is true and from which no tried part can be removed. `holds`
 * must be true for all items. If `stop` returns true, returns the best subset so far.
 */
export async function ddmin<T>(
  all: readonly T[],
  holds: (some: readonly T[]) => Promise<boolean>,
  stop: (trying: Trying) => boolean,
): Promise<readonly T[]> {
  let left = all;
  let parts = 2;
  let tried = 0;
  while (left.length > 0) {
    const size = Math.max(1, Math.ceil(left.length / parts));
    let smaller: readonly T[] | undefined;
    // From the end: later items depend on earlier ones.
    for (let from = Math.floor((left.length - 1) / size) * size; from >= 0; from -= size) {
      if (stop({ tried, left: left.length })) return left;
      const without = [...left.slice(0, from), ...left.slice(from + size)];
      tried++;
      if (await holds(without)) {
        left = smaller = without;
        from = Math.min(from, Math.floor((left.length - 1) / size) * size + size);
      }
    }
    if (smaller !== undefined && size > 1) parts = Math.max(2, Math.ceil(left.length / size));
    else if (size === 1) {
      if (smaller === undefined) return left;
    } else parts = Math.min(left.length, parts * 2);
  }
  return left;
}
