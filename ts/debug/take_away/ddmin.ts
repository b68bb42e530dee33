// Delta debugging: the fewest of some things with which something still holds.

/** Told how it goes on. */
export interface Trying {
  /** Attempts so far. */
  readonly tried: number;
  /** Things that are still kept. */
  readonly left: number;
}

/**
 * The things without which `holds` would not: it holds for the answer, and for none that lacks one part of those that were tried. `holds`
 * must hold for all of them. Ends early, with what it has, when `stop` says so.
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
    // From the end: what is later depends on what is earlier.
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
