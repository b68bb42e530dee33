// Time for the engine. The real clock is the wall clock, so that timers keep their meaning after a
// restart, but it never goes back while the process lives: after a jump back it runs at half speed
// until the wall clock catches up, so timers fire late rather than early. After a jump forward (or
// sleep of the machine), due timers fire within CHECK_MS. The virtual clock is for tests.

/** The source of time of an engine. */
export interface Clock {
  /** Milliseconds since the epoch; never goes back. */
  nowMs(): number;
  /**
   * Calls `fire` once, not before `nowMs()` reaches `atMs`. Returns a function that cancels the
   * timer.
   */
  setTimer(atMs: number, fire: () => void): () => void;
}

/** The longest delay until a jump of the wall clock is noticed. */
const CHECK_MS = 5_000;

/** Lets the process exit while the timer is set, in runtimes that support it. */
export function unrefTimer(timer: unknown): void {
  if (typeof timer === "object" && timer !== null) (timer as { unref?(): void }).unref?.();
  else (globalThis as { Deno?: { unrefTimer?(id: unknown): void } }).Deno?.unrefTimer?.(timer);
}

/** Reverts `unrefTimer`. */
export function refTimer(timer: unknown): void {
  if (typeof timer === "object" && timer !== null) (timer as { ref?(): void }).ref?.();
  else (globalThis as { Deno?: { refTimer?(id: unknown): void } }).Deno?.refTimer?.(timer);
}

/** The wall clock. Tests of clock jumps replace the sources of time. */
export class RealClock implements Clock {
  readonly #wall: () => number;
  readonly #steady: () => number;
  readonly #checkMs: number;
  #last = -Infinity;
  #lastSteady = 0;

  constructor(
    wall: () => number = Date.now,
    steady: () => number = () => performance.now(),
    checkMs = CHECK_MS,
  ) {
    this.#wall = wall;
    this.#steady = steady;
    this.#checkMs = checkMs;
  }

  nowMs(): number {
    const wall = this.#wall();
    const steady = this.#steady();
    if (wall >= this.#last) this.#last = wall;
    else this.#last += Math.max(0, steady - this.#lastSteady) / 2;
    this.#lastSteady = steady;
    return this.#last;
  }

  setTimer(atMs: number, fire: () => void): () => void {
    let timer: unknown;
    const check = () => {
      const left = atMs - this.nowMs();
      if (left <= 0) return fire();
      // Rounded up: a timeout that fires within the same millisecond would be set again.
      timer = setTimeout(check, Math.min(Math.ceil(left), this.#checkMs));
      unrefTimer(timer);
    };
    timer = setTimeout(check, Math.min(Math.max(Math.ceil(atMs - this.nowMs()), 0), this.#checkMs));
    unrefTimer(timer);
    return () => clearTimeout(timer as number);
  }
}

interface VirtualTimer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** A clock that advances only on request. Due timers fire in order of time while it advances. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<VirtualTimer>();

  constructor(startMs: number = Date.now()) {
    this.#now = startMs;
  }

  nowMs(): number {
    return this.#now;
  }

  setTimer(atMs: number, fire: () => void): () => void {
    const timer = { atMs, fire };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** When the earliest timer fires, in ms; undefined if no timer is set. */
  nextTimerMs(): number | undefined {
    return this.#earliest()?.atMs;
  }

  #earliest(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.atMs < first.atMs) first = timer;
    }
    return first;
  }

  /** Advances to a time (never back) and fires each due timer at its own time. */
  advanceTo(ms: number): void {
    for (
      let timer = this.#earliest();
      timer !== undefined && timer.atMs <= ms;
      timer = this.#earliest()
    ) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.atMs);
      timer.fire();
    }
    this.#now = Math.max(this.#now, ms);
  }

  /** Advances by `ms` and fires each due timer at its own time. */
  advanceBy(ms: number): void {
    this.advanceTo(this.#now + ms);
  }
}
