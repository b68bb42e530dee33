// select: waits for the first of several arms. Arms that are ready at the call win in written
// order; later the earliest event in history wins, because arms are checked after each event (P9),
// between turns. The winner is decided in one place. As soon as any arm is ready, no arm takes
// signals, because a taken signal could still lose.
import { isCancellation } from "../../converter/failures.ts";
import type { ArmShape } from "../program/definition.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { type Arm, CallArm, PromiseArm, SignalArm, TimerArm } from "./select_arms.ts";
import { current } from "../program/current.ts";
import { Awaiter, type Fiber, type Work } from "../scheduler/fiber.ts";
import type { Outcome } from "../scheduler/turns.ts";

export class SelectScope implements Work {
  readonly fiber: Fiber;
  readonly run: RunState;
  readonly awaiter: SelectAwaiter;
  readonly #arms: readonly Arm[];
  /** The user's line, for what starts after the turn of the call. */
  readonly #site: string;
  #state: "entered" | "waiting" | "cancelling" | "over" = "entered";
  #queued = false;
  #cancelReason: unknown;

  constructor(fiber: Fiber, shapes: readonly ArmShape[]) {
    this.fiber = fiber;
    this.run = fiber.run;
    this.#site = fiber.lastSite;
    this.#arms = shapes.map((shape, index) => this.#make(shape, index));
    this.awaiter = new SelectAwaiter(fiber, this);
    this.touch();
  }

  #make(shape: ArmShape, index: number): Arm {
    switch (shape.source) {
      case "signal":
        return new SignalArm(this, shape);
      case "timer":
        return new TimerArm(this, shape);
      case "promise":
        return new PromiseArm(this, shape);
      case "call":
        return new CallArm(this, shape, index);
    }
  }

  /** No arm was ready at the call. */
  get isWaiting(): boolean {
    return this.#state !== "entered";
  }

  /** A signal can decide it. */
  get takesSignals(): boolean {
    return this.#state !== "cancelling" && this.#arms.some((arm) => arm instanceof SignalArm);
  }

  describe(): string {
    return `select (${this.#arms.map((arm) => arm.describe()).join(", ")})`;
  }

  /** Queues a check of the arms, after work that is queued already. */
  touch(): void {
    if (this.#state === "waiting") this.#deafen();
    if (this.#queued || this.#state === "over") return;
    this.#queued = true;
    this.run.ready.push(this);
  }

  perform(): boolean {
    this.#queued = false;
    if (this.#state === "over") return false;
    if (this.#state === "cancelling") {
      this.#finishCancelled();
      return false;
    }
    for (const arm of this.#arms) {
      const outcome = arm.ready();
      if (outcome === undefined) continue;
      this.#decide(arm, outcome);
      return false;
    }
    if (this.#state === "entered") this.#start();
    return false;
  }

  #start(): void {
    const { fiber } = this;
    const { lastSite } = fiber;
    this.#state = "waiting";
    // Work that the arms start belongs to this fiber, at the line of the select.
    current.fiber = fiber;
    fiber.lastSite = this.#site;
    try {
      for (const arm of this.#arms) arm.start();
    } finally {
      fiber.lastSite = lastSite;
      current.fiber = undefined;
    }
  }

  /** Losers end first, before the body of the winner runs. */
  #decide(winner: Arm, outcome: Outcome<unknown>): void {
    this.#giveUp(`${winner.describe()} came first in select`, winner);
    if (outcome.ok) this.awaiter.fulfil(() => winner.body(outcome.value));
    else this.awaiter.fail(outcome.error);
  }

  #giveUp(why: string, but?: Arm): void {
    this.#state = "over";
    this.#deafen();
    for (const arm of this.#arms) if (arm !== but) arm.giveUp(why);
  }

  #deafen(): void {
    for (const arm of this.#arms) arm.deafen();
  }

  /**
   * Cancels the select. It rejects after the arms' functions, which are canceled too, have ended.
   */
  cancel(reason: unknown): void {
    if (this.#state === "over" || this.#state === "cancelling") return;
    this.#state = "cancelling";
    this.#cancelReason = reason;
    this.#deafen();
    for (const arm of this.#arms) if (!(arm instanceof CallArm)) arm.giveUp("");
    this.#finishCancelled();
  }

  #finishCancelled(): void {
    const calls = this.#arms.filter((arm) => arm instanceof CallArm);
    if (calls.some((arm) => arm.isRunning)) return;
    this.#state = "over";
    // An error during clean-up takes precedence over the cancellation.
    const error = calls.map((arm) => arm.error).find((error) =>
      error !== undefined && !isCancellation(error)
    );
    this.awaiter.fail(error ?? this.#cancelReason);
  }

  /** Its scope has ended, with all that its arms started. */
  abandon(): void {
    if (this.#state !== "over") this.#giveUp(`${this.fiber.label} has ended`);
  }
}

/** Settles with the body of the winning arm. */
export class SelectAwaiter extends Awaiter<() => unknown> {
  readonly waitsFor = "select";
  readonly #scope: SelectScope;

  constructor(fiber: Fiber, scope: SelectScope) {
    super(fiber);
    this.#scope = scope;
  }

  /** Timers, functions and promises have separate awaiters. */
  get external(): boolean {
    return this.#scope.takesSignals;
  }

  describe(): string {
    return this.#scope.describe();
  }

  cancel(reason: unknown): void {
    this.#scope.cancel(reason);
  }

  override abandon(reason: unknown): void {
    this.#scope.abandon();
    this.fail(reason);
  }
}
