// The clock that hosts use: current time, and a call after a delay. Tests replace it, so that rules
// about seconds do not take seconds.

export interface Timers {
  /** Milliseconds of a monotonic clock; only differences are meaningful. */
  now(): number;
  /** Milliseconds since the epoch. Default: the system's time. */
  date?(): number;
  /**
   * Calls `fire` once after `ms`, unless the returned function is called first. A `background`
   * timer does not keep the process alive.
   */
  after(ms: number, fire: () => void, background?: boolean): () => void;
}

/** The longest delay that setTimeout supports; it fires at once for longer ones. */
const LONGEST_MS = 2 ** 31 - 1;

export const realTimers: Timers = {
  now: () => performance.now(),
  after(ms, fire, background) {
    const until = performance.now() + ms;
    let handle: ReturnType<typeof setTimeout>;
    const arm = () => {
      const rest = until - performance.now();
      handle = rest > LONGEST_MS
        ? setTimeout(arm, LONGEST_MS)
        : setTimeout(fire, Math.max(0, rest));
      if (background === true) (handle as { unref?(): void }).unref?.();
    };
    arm();
    return () => clearTimeout(handle);
  },
};

/** Returns milliseconds since the epoch, on the clock of these timers. */
export function dateOn(timers: Timers): number {
  return timers.date?.() ?? Date.now();
}

/** Resolves after `ms`. Rejects with the signal's reason when the signal is aborted first. */
export function sleepOn(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal!.reason);
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
