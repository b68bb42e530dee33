// Heartbeats of one activity attempt. User code may report progress as often as it likes; the
// service hears of it at most once per interval, and of the latest state only
// (docs/dev/semantics/activities.md#heartbeats-are-throttled). The first report goes out at once.
// One request is in flight at a time.
import type { Payload } from "../converter/payload.ts";
import type { Timers } from "../base/timers.ts";

/** Limits of the interval; Temporal's defaults. */
export interface HeartbeatThrottle {
  /** Interval of activities without a heartbeat timeout, in milliseconds. */
  defaultMs: number;
  /** The longest interval, in milliseconds, whatever the activity's heartbeat timeout. */
  maximumMs: number;
}

export const DEFAULT_HEARTBEAT_THROTTLE: HeartbeatThrottle = { defaultMs: 30_000, maximumMs: 60_000 };

/** The interval between heartbeats: 80 % of the timeout, so that one late heartbeat does not fail the activity. */
export function heartbeatIntervalMs(timeoutMs: number, throttle: HeartbeatThrottle): number {
  return Math.min(timeoutMs > 0 ? timeoutMs * 0.8 : throttle.defaultMs, throttle.maximumMs);
}

export class Heartbeater {
  readonly #intervalMs: number;
  readonly #timers: Timers;
  readonly #send: (details: Payload[]) => Promise<void>;
  #pending: Payload[] | undefined;
  #sending: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #stopped = false;

  /** `send` must not reject; what it learns (cancellation, ...) is its own business. */
  constructor(intervalMs: number, timers: Timers, send: (details: Payload[]) => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#timers = timers;
    this.#send = send;
  }

  /** Reports progress now, or with the next heartbeat. */
  record(details: Payload[]): void {
    if (this.#stopped) return;
    this.#pending = details;
    if (this.#stopTimer === undefined) this.#next();
  }

  /** Sends what was recorded last and not sent yet, and resolves when nothing is in flight. No further heartbeat goes out. */
  async flush(): Promise<void> {
    this.stop();
    await this.#sending;
    const details = this.#pending;
    this.#pending = undefined;
    if (details !== undefined) await this.#send(details);
  }

  /** No further heartbeat goes out; what was recorded and not sent is dropped unless `flush` is called. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #next(): void {
    const details = this.#pending;
    if (details === undefined || this.#sending !== undefined) return;
    this.#pending = undefined;
    this.#stopTimer = this.#timers.after(this.#intervalMs, () => {
      this.#stopTimer = undefined;
      this.#next();
    });
    this.#sending = this.#send(details).finally(() => {
      this.#sending = undefined;
      // A request that took longer than the interval: what came meanwhile is overdue.
      if (!this.#stopped && this.#stopTimer === undefined) this.#next();
    });
  }
}
