// Time for the engine. The real clock is the wall clock, because timers must mean the same after a restart, with one repair: it never
// goes back while the process lives. After a jump back it runs at half speed until the wall has caught up, so that timers that began
// before or after the jump are late rather than early, and nothing stands still. After a jump forward (or sleep of the machine) what
// is due fires within CHECK_MS. The virtual clock is for tests: it moves when it is told.

/** Where an engine has its time from. */
export interface Clock {
  /** Milliseconds since the epoch; never goes back. */
  nowMs(): number;
  /** Calls `fire` once, when `nowMs()` has reached `atMs` and not before; answers what takes it back. */
  setTimer(atMs: number, fire: () => void): () => void;
}

/** The longest time until a jump of the wall clock is noticed. */
const CHECK_MS = 5_000;

/** Lets a timer not keep the process alive, where the runtime knows such a thing. */
export function unrefTimer(timer: unknown): void {
  if (typeof timer === "object" && timer !== null) (timer as { unref?(): void }).unref?.();
  else (globalThis as { Deno?: { unrefTimer?(id: unknown): void } }).Deno?.unrefTimer?.(timer);
}

/** The opposite of `unrefTimer`. */
export function refTimer(timer: unknown): void {
  if (typeof timer === "object" && timer !== null) (timer as { ref?(): void }).ref?.();
  else (globalThis as { Deno?: { refTimer?(id: unknown): void } }).Deno?.refTimer?.(timer);
}

/** The wall clock. The sources of time are parameters for tests of clock jumps. */
export class RealClock implements Clock {
  readonly #wall: () => number;
  readonly #steady: () => number;
  readonly #checkMs: number;
  #last = -Infinity;
  #lastSteady = 0;

  constructor(wall: () => number = Date.now, steady: () => number = () => performance.now(), checkMs = CHECK_MS) {
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
      // Rounded up: a timeout that fires in the same millisecond would only be set again.
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

/** A clock that stands until it is moved. Timers fire in the order of their moments while it moves past them. */
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

  /** When the earliest timer fires; undefined when none is set. */
  nextTimerMs(): number | undefined {
    return this.#earliest()?.atMs;
  }

  #earliest(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.atMs < first.atMs) first = timer;
    return first;
  }

  /** Moves to a moment (never back), firing what becomes due on the way, each at its own time. */
  advanceTo(ms: number): void {
    for (let timer = this.#earliest(); timer !== undefined && timer.atMs <= ms; timer = this.#earliest()) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.atMs);
      timer.fire();
    }
    this.#now = Math.max(this.#now, ms);
  }

  /** Moves on by so many milliseconds, firing what becomes due on the way. */
  advanceBy(ms: number): void {
    this.advanceTo(this.#now + ms);
  }
}
