// Time that moves when a test says so. Between two timers everything that the first one set off is
// allowed to run.
import { setImmediate } from "node:timers";
import type { Timers } from "../../ts/base/timers.ts";

export class ManualTimers implements Timers {
  #now = 0;
  #id = 0;
  readonly #pending = new Map<number, { at: number; fire: () => void }>();

  now(): number {
    return this.#now;
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#pending.size;
  }

  after(ms: number, fire: () => void): () => void {
    const id = this.#id++;
    this.#pending.set(id, { at: this.#now + ms, fire });
    return () => void this.#pending.delete(id);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const [id, next] = [...this.#pending].sort(([a, x], [b, y]) => x.at - y.at || a - b)[0] ??
        [0, undefined];
      if (next === undefined || next.at > until) break;
      this.#now = next.at;
      this.#pending.delete(id);
      next.fire();
      await settle();
    }
    this.#now = until;
  }
}

/** Lets everything run that needs no timer. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
