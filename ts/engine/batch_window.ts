// Decides when a batch of calls is committed: after one hop of the event loop without a new call,
// MAX_BATCH_MS, or MAX_BATCH_CALLS. A lone caller pays one commit; a busy engine shares it. While
// workflow code runs in this thread (an inline realm), more calls are certain to come, so the limit
// is WORK_BATCH_MS.
import { hop } from "../platform/hop.ts";
import { hasThreadWork } from "../platform/thread_work.ts";

const MAX_BATCH_CALLS = 256;
const MAX_BATCH_MS = 2;
const WORK_BATCH_MS = 10;

export class BatchWindow {
  readonly #close: () => void;
  #calls = 0;
  #seen = 0;
  #since = 0;
  #closing = false;

  readonly #now: () => number;

  /**
   * `close` commits the batch and calls `taken` first. `now` returns milliseconds; tests replace
   * it.
   */
  constructor(close: () => void, now = () => performance.now()) {
    this.#close = close;
    this.#now = now;
  }

  /** Adds a call to the batch. Returns whether the batch is full. */
  add(): boolean {
    this.#calls++;
    return this.#calls >= MAX_BATCH_CALLS;
  }

  /** True while the batch waits to be closed. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Closes the batch when no more calls come. */
  closeSoon(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#seen = -1;
    this.#since = this.#now();
    void hop().then(this.#afterHop);
  }

  /** Starts the next batch; the calls of this one are being committed. */
  taken(): void {
    this.#calls = 0;
    this.#seen = 0;
  }

  /** Calls during the last hop make more calls likely. */
  readonly #afterHop = (): void => {
    const more = this.#calls > 0 && this.#calls !== this.#seen;
    const works = this.#calls > 0 && hasThreadWork();
    if ((more || works) && this.#now() - this.#since < (works ? WORK_BATCH_MS : MAX_BATCH_MS)) {
      this.#seen = this.#calls;
      void hop().then(this.#afterHop);
      return;
    }
    this.#closing = false;
    this.#close();
  };
}
