// Clock of a server with skippable time: it follows the wall clock and jumps on request. A test can
// wait for half a real second, or for a result in a month without waiting.
import { type Clock, RealClock } from "../../engine/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
  /** Cancels its real timer. */
  cancel: () => void;
}

export class SkippingClock implements Clock {
  readonly #real = new RealClock();
  readonly #timers = new Set<Timer>();
  #skippedMs = 0;

  nowMs(): number {
    return this.#real.nowMs() + this.#skippedMs;
  }

  setTimer(atMs: number, fire: () => void): () => void {
    const timer: Timer = { atMs, fire, cancel: () => {} };
    this.#timers.add(timer);
    this.#wait(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel();
    };
  }

  #wait(timer: Timer): void {
    timer.cancel();
    timer.cancel = this.#real.setTimer(timer.atMs - this.#skippedMs, () => {
      // Removed before, so that its callback can set it again.
      if (this.#timers.delete(timer)) timer.fire();
    });
  }

  /** Jumps to a later time. Timers on the way fire in order, each at its own time. */
  advanceTo(ms: number): void {
    for (
      let next = this.#earliest();
      next !== undefined && next.atMs <= ms;
      next = this.#earliest()
    ) {
      this.#timers.delete(next);
      next.cancel();
      this.#jumpTo(next.atMs);
      next.fire();
    }
    this.#jumpTo(ms);
    for (const timer of this.#timers) this.#wait(timer);
  }

  #jumpTo(ms: number): void {
    this.#skippedMs += Math.max(0, ms - this.nowMs());
  }

  #earliest(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.atMs < first.atMs) first = timer;
    }
    return first;
  }
}
