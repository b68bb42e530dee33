// When a stopping worker may cancel polls of a service that loses the task of a canceled poll. The loss needs a task that is matched in the
// few milliseconds of the cancellation, so polls are canceled when the worker has had no task for a while.
import type { Timers } from "../base/timers.ts";

/** Without a task for so long a worker is idle. Tasks that come twice a second leave such a pause once in a hundred times. */
const QUIET_MS = 2000;
/** The same for a worker that has had none yet: what waited for it has come by then. */
const FIRST_QUIET_MS = 1000;

/** The time since a worker's last task, of all kinds. */
export class QuietTime {
  readonly #timers: Pick<Timers, "now">;
  #quietAt: number;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
    this.#quietAt = timers.now() + FIRST_QUIET_MS;
  }

  /** A task has come, or ended: what it reports may cause the next one. */
  noteTask(): void {
    this.#quietAt = this.#timers.now() + QUIET_MS;
  }

  /** Milliseconds until the worker is idle, if no task comes before; 0: now. */
  get leftMs(): number {
    return Math.max(0, this.#quietAt - this.#timers.now());
  }
}
