// Limits the tasks of a worker per second: each poll waits for its turn. Unused turns are not
// saved, so the limit holds for every second, not on average.
import { sleepOn, type Timers } from "../../base/timers.ts";

export class RateLimit {
  readonly #intervalMs: number;
  readonly #timers: Timers;
  #next = -Infinity;

  constructor(perSecond: number, timers: Timers) {
    this.#intervalMs = 1000 / perSecond;
    this.#timers = timers;
  }

  /** Waits for a turn; rejects with the signal's reason if it is aborted first. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#timers.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#intervalMs;
    if (at > now) await sleepOn(this.#timers, at - now, signal);
  }
}
