// Fibers and awaiters. A fiber is one logical thread of workflow code: the run function, a message handler, an async handler, a branch
// of parallel, a function that is an arm of select, a shield. An awaiter is one promise that a primitive handed out. The run settles exactly one awaiter per turn; the turn
// belongs to the fiber that made the awaiter. Each fiber knows how many awaiters of its own and of its descendants are pending, so that
// the end of a scope costs nothing when nothing is left over.
import type { Caller } from "../program/local_calls.ts";
import type { OpenReceive } from "./job_targets.ts";
import type { RunState } from "./run_state.ts";
import type { Wait, WaitKind } from "../program/snapshot.ts";
import { beginTurn, current } from "../program/current.ts";

export type FiberKind = "run" | "handler" | "async" | "branch" | "arm" | "shield";

/** A unit of the scheduler's queue. Answers whether user code was resumed: then a hop must follow. */
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
  /** The receive that this fiber works for as (part of) an async handler: whose state updateState changes. */
  readonly receive: OpenReceive | undefined;
  /** What nesting rules see: a shield is what it was entered from. */
  readonly role: Exclude<FiberKind, "shield">;
  /** Whose calls it makes: those of the run, or of the message that it handles or that ended its last receive. */
  caller: Caller;
  /** Pending awaiters of this fiber and its descendants. */
  pending = 0;
  ended = false;
  /** The last primitive it called, and where (only when call sites are recorded). */
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

/** The fiber whose turn it is, undefined outside of turns. */
export function currentFiber(): Fiber | undefined {
  // `beginTurn` alone sets it, and fibers alone are given to it.
  return current.fiber as Fiber | undefined;
}

/**
 * "canceled": it is canceled, and its result is lost. "unconfirmed": it was sent, and nothing waits for the confirmation.
 * "expected": programs leave it behind on purpose, and nothing is lost.
 */
export type Leftover = "canceled" | "unconfirmed" | "expected";

const ignore = () => {};

/** A promise that a primitive handed out, and how it ends early. */
export abstract class Awaiter<T> implements Work {
  readonly fiber: Fiber;
  readonly promise: Promise<T>;
  /** The user's line, when call sites are recorded. */
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

  /** Something outside the run can settle it (a timer, an activity, a message). */
  abstract readonly external: boolean;

  /** What becomes of it when its scope ends before it has settled. */
  get leftover(): Leftover {
    return "canceled";
  }

  /** For debug sessions: whose it is. */
  get owner(): Fiber {
    return this.fiber;
  }

  /** For messages: "sleep", `activity "charge"`. */
  abstract describe(): string;

  /** What it waits for, for debug sessions. */
  abstract readonly waitsFor: WaitKind;

  /** Seq of the command that it stands for; 0: none. */
  get seq(): number {
    return 0;
  }

  inspect(): Wait {
    const { waitsFor: kind, seq, fiber } = this;
    return { kind, label: this.describe(), fiber: fiber.label, site: this.#site, seq };
  }

  /** The workflow was cancelled, or the scope that made it has ended: take back what was asked for and settle, now or later. */
  abstract cancel(reason: unknown): void;

  /** Its scope has ended: as `cancel`, but it must settle now. */
  abandon(reason: unknown): void {
    this.cancel(reason);
    this.fail(reason);
  }

  get isPending(): boolean {
    return this.#state === "pending";
  }

  /** Settles in a turn of its own, after the work that is queued already. The first outcome counts. */
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

  /** Drops it without settling: the run is over. */
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
      // Pre-handled: a primitive's promise that nobody awaits is not an unhandled rejection.
      this.promise.catch(ignore);
      this.#reject(this.#result);
    }
    return true;
  }
}

/** A promise that is rejected from the start and may be left alone. */
export function rejected<T>(error: unknown): Promise<T> {
  const promise = Promise.reject<T>(error);
  promise.catch(ignore);
  return promise;
}
