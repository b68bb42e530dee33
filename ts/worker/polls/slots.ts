// A counter of free slots. A poller acquires a slot before it polls, so that tasks never wait for
// one.

export class Slots {
  #free: number;
  readonly size: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.size = size;
    this.#free = size;
  }

  get used(): number {
    return this.size - this.#free;
  }

  /** Resolves to a function that releases the slot; undefined if the signal is aborted first. */
  acquire(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(this.#releaser());
    }
    return new Promise((resolve) => {
      const give = () => {
        signal.removeEventListener("abort", stop);
        resolve(this.#releaser());
      };
      const stop = () => {
        const at = this.#waiting.indexOf(give);
        if (at >= 0) this.#waiting.splice(at, 1);
        resolve(undefined);
      };
      this.#waiting.push(give);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  /** Acquires a slot if one is free; returns a function that releases it. */
  tryAcquire(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free--;
    return this.#releaser();
  }

  /** A second call must not release another slot. */
  #releaser(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
