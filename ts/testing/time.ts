// Virtual time. It stands still, and jumps to the next moment at which something is due, in two cases: `advance` says so, or a test waits
// for a result and nothing else is going on: no call of the test is on its way, no task is queued or in work, no activity runs (one that
// waits in its `sleep` does not count) or is to be completed from outside. So what happens does not depend on how fast the machine is.
import type { VirtualClock } from "../engine/mod.ts";
import { hop } from "../platform/hop.ts";
import type { Timers } from "../base/timers.ts";
import { type EndlessWaitParts, EndlessWaitWatch } from "./endless_wait.ts";
import type { Awaited } from "./observed_service.ts";

/** Looks in a row that must find nothing going on. */
const QUIET_LOOKS = 3;
/** Real time that `advance` gives activities between two moments; one that takes longer lives through the rest of the advance. */
const ACTIVITY_PATIENCE_MS = 100;
/** Looks that it gives them besides: while the process stood still, they did too. */
const ACTIVITY_PATIENCE_LOOKS = 25;

/** Looks at a task that waits for a worker, one after each hop of the event loop; after these, one each millisecond. */
const MAX_STUCK_HOPS = 1000;

/** How far virtual time moves by itself while one workflow is waited for. */
export interface SkipLimits {
  readonly timeMs: number;
  readonly moments: number;
}

/** How far time has moved by itself, from when. */
export interface Skipped {
  readonly sinceMs: number;
  moments: number;
  /** When something is due next. */
  nextMs: number;
}

/** What a worker has in work. */
export interface WorkInHand {
  readonly busyTasks: number;
  readonly busyWorkflowTasks: number;
}

export interface TimeParts {
  engine: {
    readonly busy: boolean;
    stats(): { readonly commits: number; readonly queuedTasks: number; readonly nextWakeMs: number };
  };
  clock: { nowMs(): number; advanceTo(ms: number): void };
  /** The earliest moment at which something besides the engine is due; Infinity without one. */
  timers: { next(): number };
  /** What the test waits for, and what it has under way. */
  service: { readonly waiting: number; readonly busy: number; readonly acts: number; awaited(): Iterable<Awaited> };
  workers: ReadonlySet<WorkInHand>;
  /** Is an activity to be completed from outside? Asks the engine. */
  outside(): Promise<boolean>;
  /** How far time moves for one result. */
  limits: SkipLimits;
  /** Called once time has moved so far for a result: ends the wait. */
  tooFar(awaited: Awaited, skipped: Skipped): Promise<void>;
  /** Reports waits that nothing can end. */
  endless: EndlessWaitParts;
  /** The clock moves by itself as well: a timer that is due is progress, also while a task waits for a worker. */
  goesByItself?: boolean;
}

export class VirtualTime {
  readonly #parts: TimeParts;
  readonly #watch: EndlessWaitWatch;
  #skipping = false;
  #closed = false;
  /** By the id of the workflow that is waited for: a chain of runs is one wait. Begun again when the test does something else. */
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

  /** Called when somebody begins to wait for a result. */
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
        // Nothing is due: something outside of this environment is waited for.
        if (next === undefined || await this.#parts.outside()) await pause(5);
        else if (this.#quiet() && service.waiting > 0 && !(await this.#isTooFar(next))) clock.advanceTo(next);
        continue;
      }
      // Most steps take a hop or two; a real activity may take as long as it likes.
      stuckLooks = this.#isStuck() ? stuckLooks + 1 : 0;
      await (this.#working() || stuckLooks > MAX_STUCK_HOPS ? pause(1) : hop());
    }
    this.#watch.ended();
  }

  /** Would the next moment be beyond a limit of what is waited for? Then that wait is ended. */
  async #isTooFar(next: number): Promise<boolean> {
    const { clock, service, limits } = this.#parts;
    if (service.acts !== this.#acts) this.#skipped.clear();
    this.#acts = service.acts;
    for (const awaited of service.awaited()) {
      let skipped = this.#skipped.get(awaited.workflowId);
      if (skipped === undefined) {
        this.#skipped.set(awaited.workflowId, skipped = { sinceMs: clock.nowMs(), moments: 0, nextMs: next });
      }
      skipped.nextMs = next;
      if (next - skipped.sinceMs <= limits.timeMs && skipped.moments < limits.moments) skipped.moments++;
      else {
        this.#skipped.delete(awaited.workflowId);
        await this.#parts.tooFar(awaited, skipped);
        return true;
      }
    }
    return false;
  }

  /** Moves on by so much, moment by moment: what each one sets off is done before the next. */
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
   * Until nothing moves: tasks that nobody polls for stay where they are, and activities are given a little time. Workflow tasks end by
   * themselves or by the watchdog, so they are waited for however long they take: what has happened at a moment must not hang on the machine.
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
        const patient = performance.now() - since <= ACTIVITY_PATIENCE_MS || activityLooks < ACTIVITY_PATIENCE_LOOKS;
        if (!deciding && !patient) return;
        if (!deciding) activityLooks++;
        await pause(1);
      }
    }
  }

  /** When something is due: the engine's own timer may be set for something that was settled meanwhile, so it is asked. */
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

  /** Whether nothing runs, and time does not move: nothing is due, or a task waits for a worker. */
  #isStuck(): boolean {
    if (!this.#isIdle()) return false;
    if (this.#next() === undefined) return true;
    return this.#parts.goesByItself !== true && this.#parts.engine.stats().queuedTasks > 0;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Timers on a virtual clock, for what activities do. */
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

  /** The earliest of those that wait; Infinity without one. */
  next(): number {
    let next = Infinity;
    for (const [at] of this.#pending) next = Math.min(next, at!);
    return next;
  }
}
