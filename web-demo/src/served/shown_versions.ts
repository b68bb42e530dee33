// Versions of the code whose verdicts are in sight. The command that serves the page has a verdict of its own to find, and does so after it
// was told: on a machine of two cores the page would wait for it.

/** Counts the runs that are being replayed against one version, and tells once each of them has its verdict. */
export class ShownVersions {
  readonly #tell: (version: number) => void;
  /** By version: the replays without a verdict. */
  readonly #open = new Map<number, number>();

  constructor(tell: (version: number) => void) {
    this.#tell = tell;
  }

  /** A replay begins; undefined for code that has no version. Returns what says, however often, that its verdict is there. */
  begin(version: number | undefined): () => void {
    if (version === undefined) return () => {};
    this.#open.set(version, (this.#open.get(version) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = this.#open.get(version)! - 1;
      if (left > 0) return void this.#open.set(version, left);
      this.#open.delete(version);
      this.#tell(version);
    };
  }
}
