// Fibers and awaiters. A fiber is one logical thread of workflow code: the run function, a handler,
// an async handler, a branch of parallel, an arm of select, a shield. An awaiter is one promise of
// a primitive. The run settles one awaiter per turn; the turn belongs to its fiber. Fibers count
// pending awaiters of their subtree, so that the end of a scope without leftovers is cheap.
import type { Caller } from "../program/local_calls.ts";
import type { OpenReceive } from "./job_targets.ts";
import type { RunState } from "./run_state.ts";
import type { Wait, WaitKind } from "../program/snapshot.ts";
import { beginTurn, current } from "../program/current.ts";

export type FiberKind = "run" | "handler" | "async" | "branch" | "arm" | "shield";

/**
 * A unit of the scheduler's queue. Returns whether user code was resumed; a hop must follow then.
 */
export interface Work {
  perform(): boolean;
}

export class Fiber {
  readonly run: RunState;
  readonly kind: FiberKind;
  /** For messages: `handler of update "add"`, `branch 2 of parallel`, ... */
  readonly label: string;
  readonly parent: Fiber | undefined;
  /** A cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  /** The receive of this fiber's async handler; updateState changes its state. */
  readonly receive: OpenReceive | undefined;
  /** The role for nesting rules; a shield has the role of its parent. */
  readonly role: Exclude<FiberKind, "shield">;
  /**
   * Attributed caller of its calls: the run, or the message that it handles or that ended its last
   * receive.
   */
  caller: Caller;
  /** Pending awaiters of this fiber and its descendants. */
  pending = 0;
  ended = false;
  /** The last called primitive, and its call site if recorded. */
  lastCall = "";
  lastSite = "";

  constructor(
    run: RunState,
    kind: FiberKind,
    label: string,
    parent: Fiber | undefined,
    options: { shielded?: boolean; receive?: OpenReceive; caller?: Caller } = {},
  ) {
    this.run = run;
    this.kind = kind;
    this.label = label;
    this.parent = parent;
    this.shielded = options.shielded === true || parent?.shielded === true;
    this.receive = options.receive ?? parent?.receive;
    this.role = kind === "shield" ? parent!.role : kind;
    this.caller = options.caller ?? parent?.caller ?? run.caller;
    run.fibers.add(this);
    run.context.watch?.began(this);
  }

  isWithin(ancestor: Fiber): boolean {
    return this === ancestor || (this.parent?.isWithin(ancestor) ?? false);
  }

  count(change: number): void {
    this.pending += change;
    this.parent?.count(change);
  }
}

/** The fiber of the current turn; undefined outside turns. */
export function currentFiber(): Fiber | undefined {
  // Only `beginTurn` sets it, and only to fibers.
  return current.fiber as Fiber | undefined;
}

/**
 * "canceled": canceled at the end of its scope, without a result. "unconfirmed": sent, without
 * awaited confirmation. "expected": left on purpose, nothing is lost.
 */
export type Leftover = "canceled" | "unconfirmed" | "expected";

const ignore = () => {};

/** A promise of a primitive, and how it ends early. */
export abstract class Awaiter<T> implements Work {
  readonly fiber: Fiber;
  readonly promise: Promise<T>;
  /** The user's line, if call sites are recorded. */
  readonly #site: string;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #state: "pending" | "fulfilled" | "rejected" | "delivered" = "pending";
  #result: unknown;

  constructor(fiber: Fiber) {
    this.fiber = fiber;
    this.#site = fiber.lastSite;
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve as (value: unknown) => void;
      this.#reject = reject;
    });
    fiber.run.pending.add(this);
    fiber.count(1);
  }

  /** Whether something outside the run can settle it (a timer, an activity, a message). */
  abstract readonly external: boolean;

  /** What happens if its scope ends before it settles. */
  get leftover(): Leftover {
    return "canceled";
  }

  /** Its fiber, for debug sessions. */
  get owner(): Fiber {
    return this.fiber;
  }

  /** For messages: "sleep", `activity "charge"`. */
  abstract describe(): string;

  /** What it waits for, for debug sessions. */
  abstract readonly waitsFor: WaitKind;

  /** Seq of its command; 0 without a command. */
  get seq(): number {
    return 0;
  }

  inspect(): Wait {
    const { waitsFor: kind, seq, fiber } = this;
    return { kind, label: this.describe(), fiber: fiber.label, site: this.#site, seq };
  }

  /**
   * Cancels the requested work and settles, now or later. Called for cancellation of the workflow
   * or scope.
   */
  abstract cancel(reason: unknown): void;

  /** Like `cancel` at the end of its scope, but settles now. */
  abandon(reason: unknown): void {
    this.cancel(reason);
    this.fail(reason);
  }

  get isPending(): boolean {
    return this.#state === "pending";
  }

  /** Settles in a separate turn, after queued work. The first outcome counts. */
  fulfil(value: T): void {
    this.#queue("fulfilled", value);
  }

  fail(error: unknown): void {
    this.#queue("rejected", error);
  }

  #queue(state: "fulfilled" | "rejected", result: unknown): void {
    if (this.#state !== "pending") return;
    this.#state = state;
    this.#result = result;
    this.#untrack();
    this.fiber.run.ready.push(this);
  }

  #untrack(): void {
    this.fiber.run.pending.delete(this);
    this.fiber.count(-1);
  }

  /** Drops it without settling, at the end of the run. */
  drop(): void {
    if (this.#state !== "pending") return;
    this.#state = "delivered";
    this.#untrack();
  }

  perform(): boolean {
    const fulfilled = this.#state === "fulfilled";
    this.#state = "delivered";
    this.fiber.run.passed++;
    beginTurn(this.fiber);
    this.fiber.run.context.watch?.turned(this.fiber);
    if (fulfilled) this.#resolve(this.#result);
    else {
      this.fiber.run.rejectionDelivered(this.#result);
      // Pre-handled: a primitive's promise that is not awaited is not an unhandled rejection.
      this.promise.catch(ignore);
      this.#reject(this.#result);
    }
    return true;
  }
}

/** A rejected promise that needs no handler. */
export function rejected<T>(error: unknown): Promise<T> {
  const promise = Promise.reject<T>(error);
  promise.catch(ignore);
  return promise;
}
