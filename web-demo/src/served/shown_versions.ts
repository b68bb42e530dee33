// Versions of the code whose verdicts are shown. The command that serves the page replays a version
// as well, but after the page has: on two cores it would slow down the page.

/**
 * Counts the replays of each version, and reports a version when the last of them has its verdict.
 */
export class ShownVersions {
  readonly #report: (version: number) => void;
  /** Number of replays without a verdict, by version. */
  readonly #open = new Map<number, number>();

  constructor(report: (version: number) => void) {
    this.#report = report;
  }

  /**
   * Counts a replay; `version` is undefined for code without versions. Returns a function that
   * reports its verdict; further calls are no-ops.
   */
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
      this.#report(version);
    };
  }
}
