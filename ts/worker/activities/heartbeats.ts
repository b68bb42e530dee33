// Heartbeats of one activity attempt. User code may report progress at any rate; the service gets
// the latest details at most once per interval
// (docs/dev/semantics/activities.md#heartbeats-are-throttled). The first heartbeat is sent at once.
// One request is in flight at a time.
import type { Payload } from "../../converter/payload.ts";
import type { Timers } from "../../base/timers.ts";

/** Limits of the interval. Defaults as in Temporal. */
export interface HeartbeatThrottle {
  /** Interval of activities without a heartbeat timeout, in ms. Default: 30,000. */
  defaultMs: number;
  /** The longest interval, whatever the heartbeat timeout, in ms. Default: 60,000. */
  maximumMs: number;
}

export const DEFAULT_HEARTBEAT_THROTTLE: HeartbeatThrottle = {
  defaultMs: 30_000,
  maximumMs: 60_000,
};

/**
 * The interval between heartbeats: 80 % of the timeout, so that one late heartbeat is tolerated.
 */
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

  /** `send` must not reject, and handles the response itself. */
  constructor(intervalMs: number, timers: Timers, send: (details: Payload[]) => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#timers = timers;
    this.#send = send;
  }

  /** Records progress, sent now or with the next heartbeat. */
  record(details: Payload[]): void {
    if (this.#stopped) return;
    this.#pending = details;
    if (this.#stopTimer === undefined) this.#next();
  }

  /**
   * Sends the last unsent details, and resolves when nothing is in flight. Stops further
   * heartbeats.
   */
  async flush(): Promise<void> {
    this.stop();
    await this.#sending;
    const details = this.#pending;
    this.#pending = undefined;
    if (details !== undefined) await this.#send(details);
  }

  /** Stops further heartbeats. Unsent details are dropped unless `flush` is called. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer?.();
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
      // The request took longer than the interval: newer details are overdue.
      if (!this.#stopped && this.#stopTimer === undefined) this.#next();
    });
  }
}
