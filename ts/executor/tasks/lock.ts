// A lock with a queue: whoever asked first gets it first. Taking a free one costs no promise of its own.
export class Lock {
  #held = false;
  readonly #waiting: (() => void)[] = [];

  get isHeld(): boolean {
    return this.#held;
  }

  acquire(): Promise<void> | undefined {
    if (!this.#held) {
      this.#held = true;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#held = false;
    else next();
  }
}
