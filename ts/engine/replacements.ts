// Counts replacements of a failed core, so that one that fails again at once is not replaced for
// ever.

/**
 * After more failures than this, each within REPLACEMENT_MS of the last, the core is not replaced.
 */
const MAX_REPLACEMENTS = 100;
const REPLACEMENT_MS = 10_000;

export class Replacements {
  #count = 0;
  #last = 0;

  /** The core has failed. Returns whether it may be replaced. */
  mayReplace(): boolean {
    const now = performance.now();
    this.#count = now - this.#last > REPLACEMENT_MS ? 1 : this.#count + 1;
    this.#last = now;
    return this.#count <= MAX_REPLACEMENTS;
  }
}
