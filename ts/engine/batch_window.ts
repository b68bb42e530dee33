// When a batch of calls is committed. It closes when no call came for one hop of the event loop, or after
// MAX_BATCH_MS or MAX_BATCH_CALLS, so a lone caller pays one commit and a busy engine shares it. While workflow code runs in this thread
// (an inline realm), more calls are certain to come: then it closes after WORK_BATCH_MS.
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

  /** `close`: commits the batch, and calls `taken` at its beginning. `now`: milliseconds, for tests. */
  constructor(close: () => void, now = () => performance.now()) {
    this.#close = close;
    this.#now = now;
  }

  /** A call has entered. Returns whether the batch is full. */
  add(): boolean {
    this.#calls++;
    return this.#calls >= MAX_BATCH_CALLS;
  }

  /** It is going to be closed. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Closes it when no more calls come. */
  closeSoon(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#seen = -1;
    this.#since = this.#now();
    void hop().then(this.#afterHop);
  }

  /** Its calls are being committed; the next one is open. */
  taken(): void {
    this.#calls = 0;
    this.#seen = 0;
  }

  /** Calls that came during the last hop are likely to be followed by more. */
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
