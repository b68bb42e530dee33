// Virtual time. It advances to the next due time in two cases: by `advance`, or while a test waits
// for a result and nothing else is in progress. In progress are calls of the test, tasks that are
// queued or running, and activities that run or are completed from outside, except those that wait
// in their `sleep`. So results do not depend on the speed of the machine.
import type { VirtualClock } from "../engine/mod.ts";
import { hop } from "../platform/hop.ts";
import type { Timers } from "../base/timers.ts";
import { type EndlessWaitParts, EndlessWaitWatch } from "./endless_wait.ts";
import type { Awaited } from "./observed_service.ts";

/** Number of consecutive checks without activity that are needed. */
const QUIET_LOOKS = 3;
/**
 * Real time that `advance` gives to activities between two due times; slower ones continue during
 * the rest of the advance.
 */
const ACTIVITY_PATIENCE_MS = 100;
/** Minimum number of checks in that time: a suspended process also suspends its activities. */
const ACTIVITY_PATIENCE_LOOKS = 25;

/**
 * Checks of a task that waits for a worker, one per turn of the event loop; after these, one per
 * millisecond.
 */
const MAX_STUCK_HOPS = 1000;

/** Limits of virtual time while one workflow is awaited. */
export interface SkipLimits {
  readonly timeMs: number;
  readonly moments: number;
}

/** How far time has advanced on its own, and since when. */
export interface Skipped {
  readonly sinceMs: number;
  moments: number;
  /** The next due time. */
  nextMs: number;
}

/** What a worker has in progress. */
export interface WorkInHand {
  readonly busyTasks: number;
  readonly busyWorkflowTasks: number;
}

export interface TimeParts {
  engine: {
    readonly busy: boolean;
    stats(): {
      readonly commits: number;
      readonly queuedTasks: number;
      readonly nextWakeMs: number;
    };
  };
  clock: { nowMs(): number; advanceTo(ms: number): void };
  /** The earliest due time outside of the engine; Infinity without one. */
  timers: { next(): number };
  /** What the test waits for, and its calls in progress. */
  service: {
    readonly waiting: number;
    readonly busy: number;
    readonly acts: number;
    awaited(): Iterable<Awaited>;
  };
  workers: ReadonlySet<WorkInHand>;
  /** Asks the engine whether an activity is to be completed from outside. */
  outside(): Promise<boolean>;
  /** Limits per result. */
  limits: SkipLimits;
  /** Called when time has reached a limit for a result; ends the wait. */
  tooFar(awaited: Awaited, skipped: Skipped): Promise<void>;
  /** Reports waits that nothing can end. */
  endless: EndlessWaitParts;
  /**
   * The clock also advances by itself: a due timer is progress even while a task waits for a
   * worker.
   */
  goesByItself?: boolean;
}

export class VirtualTime {
  readonly #parts: TimeParts;
  readonly #watch: EndlessWaitWatch;
  #skipping = false;
  #closed = false;
  /**
   * By ID of the awaited workflow: a chain of runs is one wait. Reset when the test makes another
   * call.
   */
  readonly #skipped = new Map<string, Skipped>();
  #acts = 0;

  constructor(parts: TimeParts) {
    this.#parts = parts;
    const { engine, service, endless } = parts;
    this.#watch = new EndlessWaitWatch(endless, {
      isStuck: () => this.#isStuck(),
      hasQueuedTasks: () => engine.stats().queuedTasks > 0,
      acts: () => service.acts,
      commits: () => engine.stats().commits,
      awaited: () => service.awaited(),
    });
  }

  close(): void {
    this.#closed = true;
    this.#watch.close();
  }

  /** Called when a call begins to wait for a result. */
  wanted(): void {
    if (this.#skipping || this.#closed) return;
    this.#skipping = true;
    void this.#skip().finally(() => (this.#skipping = false));
  }

  async #skip(): Promise<void> {
    const { clock, service } = this.#parts;
    let looks = 0;
    let stuckLooks = 0;
    while (service.waiting > 0 && !this.#closed) {
      this.#watch.look();
      if (!this.#quiet()) looks = 0;
      else if (++looks >= QUIET_LOOKS) {
        looks = 0;
        const next = this.#next();
        // Nothing is due: the test waits for something outside of this environment.
        if (next === undefined || await this.#parts.outside()) await pause(5);
        else if (this.#quiet() && service.waiting > 0 && !(await this.#isTooFar(next))) {
          clock.advanceTo(next);
        }
        continue;
      }
      // Most steps take one or two turns of the event loop; real activities may take any time.
      stuckLooks = this.#isStuck() ? stuckLooks + 1 : 0;
      await (this.#working() || stuckLooks > MAX_STUCK_HOPS ? pause(1) : hop());
    }
    this.#watch.ended();
  }

  /**
   * Returns whether the next due time exceeds a limit of an awaited workflow, and ends that wait.
   */
  async #isTooFar(next: number): Promise<boolean> {
    const { clock, service, limits } = this.#parts;
    if (service.acts !== this.#acts) this.#skipped.clear();
    this.#acts = service.acts;
    for (const awaited of service.awaited()) {
      let skipped = this.#skipped.get(awaited.workflowId);
      if (skipped === undefined) {
        this.#skipped.set(
          awaited.workflowId,
          skipped = { sinceMs: clock.nowMs(), moments: 0, nextMs: next },
        );
      }
      skipped.nextMs = next;
      if (next - skipped.sinceMs <= limits.timeMs && skipped.moments < limits.moments) {
        skipped.moments++;
      } else {
        this.#skipped.delete(awaited.workflowId);
        await this.#parts.tooFar(awaited, skipped);
        return true;
      }
    }
    return false;
  }

  /** Advances time step by step: the effects of each due time are complete before the next. */
  async advance(ms: number): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.nowMs() + ms;
    await this.#settle();
    for (let next = this.#next(); next !== undefined && next <= until; next = this.#next()) {
      clock.advanceTo(next);
      await this.#settle();
    }
    clock.advanceTo(until);
    await this.#settle();
  }

  /**
   * Waits until nothing is in progress. Tasks without a poller stay queued, and activities get a
   * short time. Workflow tasks are awaited for any time, because they end by themselves or by the
   * watchdog: the result must not depend on the machine.
   */
  async #settle(): Promise<void> {
    const { engine, workers } = this.#parts;
    const since = performance.now();
    let looks = 0;
    let activityLooks = 0;
    let commits = -1;
    while (looks < QUIET_LOOKS && !this.#closed) {
      await hop();
      const before = commits;
      commits = engine.stats().commits;
      if (engine.busy || commits !== before) looks = 0;
      else if (!this.#working()) looks++;
      else {
        looks = 0;
        const deciding = [...workers].some((worker) => worker.busyWorkflowTasks > 0);
        const patient = performance.now() - since <= ACTIVITY_PATIENCE_MS ||
          activityLooks < ACTIVITY_PATIENCE_LOOKS;
        if (!deciding && !patient) return;
        if (!deciding) activityLooks++;
        await pause(1);
      }
    }
  }

  /**
   * Returns the next due time. Asks the engine, whose own timer may be set for something that was
   * resolved meanwhile.
   */
  #next(): number | undefined {
    const { engine, timers } = this.#parts;
    const wake = engine.stats().nextWakeMs;
    const next = Math.min(wake === 0 ? Infinity : wake, timers.next());
    return next === Infinity ? undefined : next;
  }

  #working(): boolean {
    for (const worker of this.#parts.workers) if (worker.busyTasks > 0) return true;
    return false;
  }

  #quiet(): boolean {
    return this.#isIdle() && this.#parts.engine.stats().queuedTasks === 0;
  }

  #isIdle(): boolean {
    const { engine, service } = this.#parts;
    return !engine.busy && service.busy === 0 && !this.#working();
  }

  /**
   * Whether nothing runs and time does not advance: nothing is due, or a task waits for a worker.
   */
  #isStuck(): boolean {
    if (!this.#isIdle()) return false;
    if (this.#next() === undefined) return true;
    return this.#parts.goesByItself !== true && this.#parts.engine.stats().queuedTasks > 0;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Timers on the virtual clock, for activities. */
export class VirtualTimers implements Timers {
  readonly #clock: VirtualClock;
  readonly #pending = new Set<number[]>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.nowMs();
  }

  date(): number {
    return this.#clock.nowMs();
  }

  after(ms: number, fire: () => void): () => void {
    const at = this.#clock.nowMs() + ms;
    const entry = [at];
    this.#pending.add(entry);
    const cancel = this.#clock.setTimer(at, () => {
      this.#pending.delete(entry);
      fire();
    });
    return () => {
      this.#pending.delete(entry);
      cancel();
    };
  }

  /** Returns the earliest due time; Infinity without one. */
  next(): number {
    let next = Infinity;
    for (const [at] of this.#pending) next = Math.min(next, at!);
    return next;
  }
}
