// Waits until a page has its verdict on a version of the code. The user looks at the page first,
// and on a machine with two cores the command's own replay would delay it.

/** Maximum wait for a page that does not report (a frozen tab, an endless loop). */
const PATIENCE_MS = 1000;

export class PageWaits {
  readonly #patienceMs: number;
  /** By version. */
  readonly #open = new Map<number, () => void>();
  /** Newest version with a verdict of a page. */
  #last = 0;

  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Records that a page has its verdict on a version. */
  shown(version: number): void {
    this.#last = Math.max(this.#last, version);
    this.#open.get(version)?.();
  }

  /**
   * Resolves when a page has its verdict, after the maximum wait, and when a later version is
   * waited for.
   */
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
