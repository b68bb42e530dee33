// When a worker that shuts down may cancel polls of a service that loses the task of a canceled
// poll. Only a task matched within the milliseconds of the cancellation is lost, so it waits for
// idleness.
import type { Timers } from "../../base/timers.ts";

/**
 * Idle time after a task, in ms. With two tasks per second such a pause occurs once in a hundred.
 */
const QUIET_MS = 2000;
/** Idle time of a worker without a task so far, in ms: waiting tasks have arrived by then. */
const FIRST_QUIET_MS = 1000;

/** Time since the last task of a worker, of any kind. */
export class QuietTime {
  readonly #timers: Pick<Timers, "now">;
  #quietAt: number;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
    this.#quietAt = timers.now() + FIRST_QUIET_MS;
  }

  /** Records a start or end of a task: its report may cause the next one. */
  noteTask(): void {
    this.#quietAt = this.#timers.now() + QUIET_MS;
  }

  /** Milliseconds until the worker counts as idle; 0: now. */
  get leftMs(): number {
    return Math.max(0, this.#quietAt - this.#timers.now());
  }
}
