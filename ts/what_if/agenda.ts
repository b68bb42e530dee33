// What a branch will do at later moments of its virtual time.

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly act: () => Promise<void>;
}

/** Things to do, the earliest first; of those of one moment, the first that was entered. */
export class Agenda {
  readonly #entries: Entry[] = [];
  #order = 0;

  /** When the next is due; Infinity: nothing is left. */
  get nextMs(): number {
    return this.#entries[0]?.atMs ?? Infinity;
  }

  at(atMs: number, act: () => Promise<void>): void {
    const entry = { atMs, order: this.#order++, act };
    const index = this.#entries.findLastIndex((each) => each.atMs <= atMs) + 1;
    this.#entries.splice(index, 0, entry);
  }

  /** Does the first that is due; answers false when none is. */
  async doNext(nowMs: number): Promise<boolean> {
    const first = this.#entries[0];
    if (first === undefined || first.atMs > nowMs) return false;
    this.#entries.shift();
    await first.act();
    return true;
  }
}
