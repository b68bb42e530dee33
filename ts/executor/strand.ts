// Strands and awaiters. A strand is one logical thread of workflow code: the run function, a message handler, an async handler, a branch
// of parallel, a function that is an arm of select, a shield. An awaiter is one promise that a primitive handed out. The run settles exactly one awaiter per turn; the turn
// belongs to the strand that made the awaiter. Each strand knows how many awaiters of its own and of its descendants are pending, so that
// the end of a scope costs nothing when nothing is left over.
import type { ReceiveScope } from "./receive.ts";
import type { NativeRun } from "./run.ts";
import type { Wait, WaitKind } from "./tracing.ts";
import { beginTurn } from "./slot.ts";

export type StrandKind = "run" | "handler" | "async" | "branch" | "arm" | "shield";

/** A unit of the scheduler's queue. Answers whether user code was resumed: then a hop must follow. */
export interface Work {
  perform(): boolean;
}

export class Strand {
  readonly run: NativeRun;
  readonly kind: StrandKind;
  /** For messages: `handler of update "add"`, `branch 2 of parallel`, ... */
  readonly label: string;
  readonly parent: Strand | undefined;
  /** A cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  /** The receive that this strand works for as (part of) an async handler: whose state updateState changes. */
  readonly receive: ReceiveScope | undefined;
  /** What nesting rules see: a shield is what it was entered from. */
  readonly role: Exclude<StrandKind, "shield">;
  /** Pending awaiters of this strand and its descendants. */
  pending = 0;
  ended = false;
  /** The last primitive it called, and where (only when call sites are recorded). */
  lastCall = "";
  lastSite = "";

  constructor(
    run: NativeRun,
    kind: StrandKind,
    label: string,
    parent: Strand | undefined,
    options: { shielded?: boolean; receive?: ReceiveScope } = {},
  ) {
    this.run = run;
    this.kind = kind;
    this.label = label;
    this.parent = parent;
    this.shielded = options.shielded === true || parent?.shielded === true;
    this.receive = options.receive ?? parent?.receive;
    this.role = kind === "shield" ? parent!.role : kind;
    run.strands.add(this);
  }

  isWithin(ancestor: Strand): boolean {
    return this === ancestor || (this.parent?.isWithin(ancestor) ?? false);
  }

  count(change: number): void {
    this.pending += change;
    this.parent?.count(change);
  }
}

const ignore = () => {};

/** A promise that a primitive handed out, and how it ends early. */
export abstract class Awaiter<T> implements Work {
  readonly strand: Strand;
  readonly promise: Promise<T>;
  /** The user's line, when call sites are recorded. */
  readonly #site: string;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #state: "pending" | "fulfilled" | "rejected" | "delivered" = "pending";
  #result: unknown;

  constructor(strand: Strand) {
    this.strand = strand;
    this.#site = strand.lastSite;
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve as (value: unknown) => void;
      this.#reject = reject;
    });
    strand.run.pending.add(this);
    strand.count(1);
  }

  /** Something outside the run can settle it (a timer, an activity, a message). */
  abstract readonly external: boolean;

  /** What it stands for was said to somebody else, and is not taken back when its scope ends. */
  get isMessage(): boolean {
    return false;
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
    const { waitsFor: kind, seq, strand } = this;
    return { kind, label: this.describe(), strand: strand.label, site: this.#site, seq };
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
    this.strand.run.ready.push(this);
  }

  #untrack(): void {
    this.strand.run.pending.delete(this);
    this.strand.count(-1);
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
    beginTurn(this.strand);
    if (fulfilled) this.#resolve(this.#result);
    else {
      this.strand.run.rejectionDelivered(this.#result);
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
