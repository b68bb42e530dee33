// Future actions of a branch in virtual time.

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly act: () => Promise<void>;
}

/** Actions in order of time; actions of the same time in order of insertion. */
export class Agenda {
  readonly #entries: Entry[] = [];
  #order = 0;

  /** When the next action is due; Infinity without one. */
  get nextMs(): number {
    return this.#entries[0]?.atMs ?? Infinity;
  }

  at(atMs: number, act: () => Promise<void>): void {
    const entry = { atMs, order: this.#order++, act };
    const index = this.#entries.findLastIndex((each) => each.atMs <= atMs) + 1;
    this.#entries.splice(index, 0, entry);
  }

  /** Runs the first action if it is due; returns whether it was. */
  async doNext(nowMs: number): Promise<boolean> {
    const first = this.#entries[0];
    if (first === undefined || first.atMs > nowMs) return false;
    this.#entries.shift();
    await first.act();
    return true;
  }
}
