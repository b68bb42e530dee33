// Sets the timer for the engine's next action, from its memory and its store.
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** Delay until a run is retried that the store lists as due but that did not advance. */
const STUCK_MS = 1000;

export class WakeTimer {
  /** The next wake of the runs in memory, in ms since the epoch; 0 if no run has one. */
  inMemoryMs = 0;
  readonly #store: Pick<Store, "nextWake">;
  readonly #clock: Clock;
  readonly #report: (error: Error) => void;
  #wokeMs = -Infinity;
  #cancel: (() => void) | undefined;
  #at = Infinity;

  /** `report` is called if the store cannot be read. */
  constructor(store: Pick<Store, "nextWake">, clock: Clock, report: (error: Error) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  /** Calls `wake` at the next wake time. An earlier timer stays set and checks again. */
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

  /** The next wake in ms since the epoch; Infinity if nothing will be due. */
  nextMs(): number {
    const now = this.#clock.nowMs();
    let stored = now;
    try {
      stored = this.#store.nextWake();
    } catch (e) {
      this.#report(e as Error);
    }
    // A run that is still due after its wake did not advance: it is retried later.
    const wakes = [this.inMemoryMs, stored > 0 && stored <= now ? now + STUCK_MS : stored];
    const next = Math.min(...wakes.map((wake) => (wake > 0 ? wake : Infinity)));
    // Everything due at the last wake is done.
    return next <= this.#wokeMs ? this.#wokeMs + 1 : next;
  }

  /** Records that everything due now is being processed. */
  woke(): void {
    this.#wokeMs = this.#clock.nowMs();
  }

  cancel(): void {
    this.#cancel?.();
  }
}
