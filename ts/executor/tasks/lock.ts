// A FIFO lock. Acquiring a free one creates no promise.
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
