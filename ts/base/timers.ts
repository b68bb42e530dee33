// Time as far as hosts need it: now, and a call after a delay. Replaced in tests, so that rules about seconds do not take seconds.

export interface Timers {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** Milliseconds since the epoch. Left out: the system's time. */
  date?(): number;
  /** Calls `fire` once after `ms`; the returned function takes that back. In the background it keeps no process alive. */
  after(ms: number, fire: () => void, background?: boolean): () => void;
}

/** The longest delay that setTimeout keeps; it fires at once on larger ones. */
const LONGEST_MS = 2 ** 31 - 1;

export const realTimers: Timers = {
  now: () => performance.now(),
  after(ms, fire, background) {
    const until = performance.now() + ms;
    let handle: ReturnType<typeof setTimeout>;
    const arm = () => {
      const rest = until - performance.now();
      handle = rest > LONGEST_MS ? setTimeout(arm, LONGEST_MS) : setTimeout(fire, Math.max(0, rest));
      if (background === true) (handle as { unref?(): void }).unref?.();
    };
    arm();
    return () => clearTimeout(handle);
  },
};

/** Milliseconds since the epoch, on the clock of these timers. */
export function dateOn(timers: Timers): number {
  return timers.date?.() ?? Date.now();
}

/** Resolves after `ms`; with a signal it rejects with the signal's reason when that is aborted first. */
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
