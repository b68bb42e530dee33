// Waits until a page has its verdict on a version of the code. The page is what the user looks at, and on a machine of two cores the
// command's own replay would hold it up.

/** A page that says nothing (its tab is frozen, its code has no end) is waited for no longer. */
const PATIENCE_MS = 1000;

export class PageWaits {
  readonly #patienceMs: number;
  /** By version. */
  readonly #open = new Map<number, () => void>();
  /** The newest version that a page has its verdict on. */
  #last = 0;

  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** A page has its verdict on a version. */
  shown(version: number): void {
    this.#last = Math.max(this.#last, version);
    this.#open.get(version)?.();
  }

  /** Resolves when a page has it, when it has been waited for long enough, and when a later version is waited for. */
  wait(version: number): Promise<void> {
    this.close();
    if (version <= this.#last) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#open.delete(version);
        resolve();
      };
      const timer = setTimeout(end, this.#patienceMs);
      this.#open.set(version, end);
    });
  }

  /** Ends all waits. */
  close(): void {
    for (const end of [...this.#open.values()]) end();
  }
}
