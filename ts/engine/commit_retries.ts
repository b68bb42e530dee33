// Retries of a batch whose commit failed. After a failure of the store the pauses grow, so that a
// full disk does not cause a busy loop. While another process has the store locked for writing, the
// pauses are short. The event loop stays free in both cases.
import type { Flush } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { ShownOfRuns } from "./store.ts";
import { realTimers, sleepOn, type Timers } from "../base/timers.ts";
import { StoreBusyError } from "./store_errors.ts";

/** A flush of the core that waits for the store. */
export interface HeldBatch {
  readonly flush: Flush;
  readonly shown: ShownOfRuns | undefined;
}

/** Pauses after a failure, in ms. */
const FAILED_MS = [10, 50, 200, 1000];
/** Pauses while the store is locked, in ms. */
const LOCKED_MS = [1, 2, 5, 10, 20, 40];
/** The longest wait of a batch for the lock, in ms. */
export const LOCK_WAIT_MS = 10_000;
/** A wait of this length, in ms, is reported while it lasts. */
const REPORT_LOCK_MS = 1000;

export class CommitRetries {
  /** The last failure of the store, until a commit succeeds. */
  trouble: Error | undefined;
  readonly #report: (error: Error) => void;
  readonly #timers: Timers;
  #failures = 0;
  #lockedSince: number | undefined;
  #tries = 0;
  #reported = false;
  #stopTimer: (() => void) | undefined;

  /** `report` is called once for each long wait. */
  constructor(report: (error: Error) => void, timers: Timers = realTimers) {
    this.#report = report;
    this.#timers = timers;
  }

  /** True during a pause; the store is not used then. */
  get isWaiting(): boolean {
    return this.#stopTimer !== undefined;
  }

  /** The store failed, perhaps temporarily. Calls `again` after a pause. */
  failed(e: Error, again: () => void): void {
    this.#unlocked();
    this.trouble = e;
    this.#after(FAILED_MS[Math.min(this.#failures++, FAILED_MS.length - 1)]!, again);
  }

  /**
   * Another process has locked the store. Returns false after LOCK_WAIT_MS: the batch has failed.
   */
  locked(e: StoreBusyError, again: () => void): boolean {
    const now = this.#timers.now();
    const waited = now - (this.#lockedSince ??= now);
    if (waited >= LOCK_WAIT_MS) return false;
    this.trouble = e;
    if (waited >= REPORT_LOCK_MS && !this.#reported) {
      this.#reported = true;
      this.#report(
        new StoreBusyError(`writes wait until the store is free: ${e.message}`, { cause: e }),
      );
    }
    this.#after(LOCKED_MS[Math.min(this.#tries++, LOCKED_MS.length - 1)]!, again);
    return true;
  }

  committed(): void {
    this.#unlocked();
    this.#failures = 0;
    this.trouble = undefined;
  }

  #unlocked(): void {
    this.#lockedSince = undefined;
    this.#tries = 0;
    this.#reported = false;
  }

  #after(ms: number, again: () => void): void {
    this.cancel();
    this.#stopTimer = this.#timers.after(ms, () => {
      this.#stopTimer = undefined;
      again();
    });
  }

  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}

/**
 * Runs work that writes to the store, and retries while another process has the store locked.
 * Throws the StoreBusyError after LOCK_WAIT_MS.
 */
export async function whenFree<T>(work: () => T, timers: Timers = realTimers): Promise<T> {
  const began = timers.now();
  for (let tries = 0;; tries++) {
    try {
      return work();
    } catch (e) {
      if (!(e instanceof StoreBusyError) || timers.now() - began >= LOCK_WAIT_MS) throw e;
    }
    await sleepOn(timers, LOCKED_MS[Math.min(tries, LOCKED_MS.length - 1)]!);
  }
}
