// The arms of a select. Each reports when it is ready, cancels what it started when another one
// wins, and leaves given promises untouched.
import { endLoser } from "../scheduler/leftovers.ts";
import type { ArmShape } from "../program/definition.ts";
import { isTaskError } from "../program/errors.ts";
import type { SignalItem } from "../scheduler/inbox.ts";
import { refuseControlValue } from "./parallel.ts";
import type { SelectScope } from "./select.ts";
import {
  deliverToEarlierWaiters,
  registerWaiter,
  signalArgs,
  unregisterWaiter,
} from "./signals.ts";
import type { SignalWaiter } from "../scheduler/job_targets.ts";
import { current } from "../program/current.ts";
import { Fiber } from "../scheduler/fiber.ts";
import { InnerTimer } from "./timers.ts";
import { type Outcome, startFiber } from "../scheduler/turns.ts";

export abstract class Arm {
  readonly scope: SelectScope;
  protected outcome: Outcome<unknown> | undefined;

  constructor(scope: SelectScope) {
    this.scope = scope;
  }

  /** For messages: `signal "go"`. */
  abstract describe(): string;

  /** Returns its outcome if it is ready. Called between turns. */
  ready(): Outcome<unknown> | undefined {
    return this.outcome;
  }

  /** Starts the wait; no arm was ready. */
  abstract start(): void;

  /** Runs the body of the arm. */
  abstract body(value: unknown): unknown;

  /** Stops taking signals: the select is decided. */
  deafen(): void {}

  /** Cancels what it started. `why` completes "the timer was canceled: ...". */
  giveUp(_why: string): void {}

  protected has(outcome: Outcome<unknown>): void {
    this.outcome = outcome;
    this.scope.touch();
  }
}

type ShapeOf<K extends ArmShape["source"]> = Extract<ArmShape, { source: K }>;

export class SignalArm extends Arm implements SignalWaiter {
  readonly #shape: ShapeOf<"signal">;

  constructor(scope: SelectScope, shape: ShapeOf<"signal">) {
    super(scope);
    this.#shape = shape;
    registerWaiter(scope.run, this);
  }

  get message() {
    return this.#shape.message;
  }

  describe(): string {
    return `signal "${this.message.name}"`;
  }

  /** Takes a buffered signal. */
  override ready(): Outcome<unknown> | undefined {
    if (this.outcome !== undefined || this.scope.isWaiting) return this.outcome;
    const { run } = this.scope;
    const { name } = this.message;
    deliverToEarlierWaiters(run, this);
    for (
      let signal = run.inbox.takeSignal(name);
      signal !== undefined;
      signal = run.inbox.takeSignal(name)
    ) {
      const args = signalArgs(run, this.message, signal);
      if (args !== undefined) return { ok: true, value: args };
    }
    return undefined;
  }

  start(): void {}

  deliver(signal: SignalItem): void {
    const args = signalArgs(this.scope.run, this.message, signal);
    if (args !== undefined) this.has({ ok: true, value: args });
  }

  override deafen(): void {
    unregisterWaiter(this.scope.run, this);
  }

  body(args: unknown): unknown {
    return this.#shape.handle(args as unknown[], undefined);
  }
}

const NOTHING: Outcome<unknown> = { ok: true, value: undefined };

export class TimerArm extends Arm {
  readonly #shape: ShapeOf<"timer">;
  #timer: InnerTimer | undefined;

  constructor(scope: SelectScope, shape: ShapeOf<"timer">) {
    super(scope);
    this.#shape = shape;
  }

  describe(): string {
    return this.#shape.name === undefined ? "timer" : `timer "${this.#shape.name}"`;
  }

  /** A timer with duration 0 is ready at once. */
  override ready(): Outcome<unknown> | undefined {
    return this.#shape.durationMs === 0 ? NOTHING : this.outcome;
  }

  start(): void {
    const { durationMs, name } = this.#shape;
    this.#timer = new InnerTimer(this.scope.fiber, durationMs, name, {
      waitsFor: "selectTimer",
      describe: () => `${this.describe()} of select`,
      fired: () => this.has(NOTHING),
    });
  }

  override giveUp(): void {
    this.#timer?.cancel();
  }

  body(): unknown {
    return this.#shape.body();
  }
}

/**
 * The outcome of a promise, with one reaction for all arms: a loop of selects would add one per
 * turn.
 */
class PromiseOutcome {
  static readonly #known = new WeakMap<object, PromiseOutcome>();
  readonly listeners: Set<PromiseArm> = new Set();
  outcome: Outcome<unknown> | undefined;

  static of(promise: PromiseLike<unknown>): PromiseOutcome {
    let known = PromiseOutcome.#known.get(promise);
    if (known === undefined) {
      PromiseOutcome.#known.set(promise, known = new PromiseOutcome(promise));
    }
    return known;
  }

  private constructor(promise: PromiseLike<unknown>) {
    Promise.resolve(promise).then(
      (value) => this.#settled({ ok: true, value }),
      (error) => this.#settled({ ok: false, error }),
    );
  }

  #settled(outcome: Outcome<unknown>): void {
    this.outcome = outcome;
    const told = [...this.listeners];
    this.listeners.clear();
    for (const arm of told) arm.settled(outcome);
  }
}

export class PromiseArm extends Arm {
  readonly #shape: ShapeOf<"promise">;
  readonly #promise: PromiseOutcome;

  constructor(scope: SelectScope, shape: ShapeOf<"promise">) {
    super(scope);
    this.#shape = shape;
    this.#promise = PromiseOutcome.of(shape.promise);
    this.outcome = this.#promise.outcome;
    if (this.outcome === undefined) this.#promise.listeners.add(this);
  }

  describe(): string {
    return "promise";
  }

  start(): void {}

  settled(outcome: Outcome<unknown>): void {
    const { fiber, run } = this.scope;
    if (current.fiber?.run !== run) run.wokenOutside(fiber, outcome.ok ? undefined : outcome.error);
    this.has(outcome);
  }

  override giveUp(): void {
    this.#promise.listeners.delete(this);
  }

  body(value: unknown): unknown {
    return this.#shape.body(value);
  }
}

export class CallArm extends Arm {
  readonly #shape: ShapeOf<"call">;
  readonly #label: string;
  #fiber: Fiber | undefined;

  constructor(scope: SelectScope, shape: ShapeOf<"call">, index: number) {
    super(scope);
    this.#shape = shape;
    this.#label = `arm ${index + 1} of select in ${scope.fiber.label}`;
  }

  describe(): string {
    return "function";
  }

  /** The function has started and not ended. */
  get isRunning(): boolean {
    return this.#fiber !== undefined && this.outcome === undefined;
  }

  get error(): unknown {
    return this.outcome?.ok === false ? this.outcome.error : undefined;
  }

  start(): void {
    const { run, fiber } = this.scope;
    const child = this.#fiber = new Fiber(run, "arm", this.#label, fiber);
    startFiber(child, this.#shape.call, (outcome) => {
      if (run.end !== undefined) return;
      if (outcome.ok) refuseControlValue(child, outcome.value);
      else if (isTaskError(outcome.error)) run.fail(outcome.error);
      this.has(outcome);
    });
  }

  override giveUp(why: string): void {
    if (this.isRunning) endLoser(this.#fiber!, why);
  }

  body(value: unknown): unknown {
    return this.#shape.body(value);
  }
}
