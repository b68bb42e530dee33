// A limit on how many tasks a worker takes per second: before a poll is sent, its turn is waited for. Turns that nobody used are not saved
// up, so the limit holds for every second and not on average.
import { sleepOn, type Timers } from "../base/timers.ts";

export class RateLimit {
  readonly #intervalMs: number;
  readonly #timers: Timers;
  #next = -Infinity;

  constructor(perSecond: number, timers: Timers) {
    this.#intervalMs = 1000 / perSecond;
    this.#timers = timers;
  }

  /** Waits for a turn; rejects with the signal's reason when it is aborted first. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#timers.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#intervalMs;
    if (at > now) await sleepOn(this.#timers, at - now, signal);
  }
}
