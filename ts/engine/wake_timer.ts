// When the engine acts by itself next: what its memory and its store say, and the clock's timer for it.
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** A run that the store calls due but that does not move is looked at again after this. */
const STUCK_MS = 1000;

export class WakeTimer {
  /** The next moment of the runs in memory; 0: none. */
  inMemoryMs = 0;
  readonly #store: Pick<Store, "nextWake">;
  readonly #clock: Clock;
  readonly #report: (error: Error) => void;
  #wokeMs = -Infinity;
  #cancel: (() => void) | undefined;
  #at = Infinity;

  /** `report`: the store could not be asked. */
  constructor(store: Pick<Store, "nextWake">, clock: Clock, report: (error: Error) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  /** Calls `wake` at the next moment. An earlier timer that is set already stays: it looks again. */
  arm(wake: () => void): void {
    const next = this.nextMs();
    if (next === Infinity) return;
    if (this.#at <= next) return;
    this.#cancel?.();
    this.#at = next;
    this.#cancel = this.#clock.setTimer(next, () => {
      this.#at = Infinity;
      this.#cancel = undefined;
      wake();
    });
  }

  /** Infinity: nothing will be due. */
  nextMs(): number {
    const now = this.#clock.nowMs();
    let stored = now;
    try {
      stored = this.#store.nextWake();
    } catch (e) {
      this.#report(e as Error);
    }
    // What the store calls due although the wake has dealt with it does not move: looked at again later.
    const wakes = [this.inMemoryMs, stored > 0 && stored <= now ? now + STUCK_MS : stored];
    const next = Math.min(...wakes.map((wake) => (wake > 0 ? wake : Infinity)));
    // Nothing is left to do at the moment of the last wake.
    return next <= this.#wokeMs ? this.#wokeMs + 1 : next;
  }

  /** What is due now is being done. */
  woke(): void {
    this.#wokeMs = this.#clock.nowMs();
  }

  cancel(): void {
    this.#cancel?.();
  }
}
