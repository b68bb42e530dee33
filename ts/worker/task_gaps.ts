// When a stopping worker may cancel polls of a service that loses the task of a canceled poll. The loss needs a task that is matched in the
// few milliseconds of the cancellation, so polls are canceled when tasks have been absent for much longer than they usually are.
import type { Timers } from "../base/timers.ts";

/** So many of the usual gaps between two tasks without one mean that none is on its way. */
const GAPS = 20;
const MIN_QUIET_MS = 50, MAX_QUIET_MS = 1000;
/** Tasks whose gaps count. */
const REMEMBERED = 16;

/** The gaps between the tasks of one worker, of all kinds. */
export class TaskGaps {
  readonly #timers: Pick<Timers, "now">;
  /** Start of the worker, or the first remembered task; then the tasks after it. */
  readonly #times: number[];
  #lastSign: number;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
    this.#lastSign = timers.now();
    this.#times = [this.#lastSign];
  }

  /** A poll has brought a task. */
  noteTask(): void {
    this.#lastSign = this.#timers.now();
    this.#times.push(this.#lastSign);
    if (this.#times.length > REMEMBERED) this.#times.shift();
  }

  /** A task has ended: what it reports may cause the next one. */
  noteEnd(): void {
    this.#lastSign = this.#timers.now();
  }

  /** Milliseconds until no task is expected, if none comes before; 0: now. */
  get quietInMs(): number {
    const times = this.#times;
    const usualGap = (times.at(-1)! - times[0]!) /
      Math.max(1, times.length - 1);
    const quiet = Math.min(
      MAX_QUIET_MS,
      Math.max(MIN_QUIET_MS, GAPS * usualGap),
    );
    return Math.max(0, this.#lastSign + quiet - this.#timers.now());
  }
}
