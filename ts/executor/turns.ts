// Entering user code: the start of a strand, and what happens when its function has settled. The settling callback runs in the middle of
// somebody's turn, so it only queues the end of the strand; the end is processed between turns, where no user code runs.
import { cancelLeftovers } from "./cancellation.ts";
import { beginTurn, slot } from "./slot.ts";
import type { Strand, Work } from "./strand.ts";

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

class StrandEnd<T> implements Work {
  readonly strand: Strand;
  readonly outcome: Outcome<T>;
  readonly done: (outcome: Outcome<T>) => void;

  constructor(strand: Strand, outcome: Outcome<T>, done: (outcome: Outcome<T>) => void) {
    this.strand = strand;
    this.outcome = outcome;
    this.done = done;
  }

  perform(): boolean {
    if (!this.strand.ended) {
      this.strand.ended = true;
      this.strand.run.strands.delete(this.strand);
      cancelLeftovers(this.strand);
    }
    this.done(this.outcome);
    return false;
  }
}

class StrandStart<T> implements Work {
  readonly strand: Strand;
  readonly body: () => T | PromiseLike<T>;
  readonly done: (outcome: Outcome<T>) => void;

  constructor(strand: Strand, body: () => T | PromiseLike<T>, done: (outcome: Outcome<T>) => void) {
    this.strand = strand;
    this.body = body;
    this.done = done;
  }

  perform(): boolean {
    const { strand } = this;
    if (strand.ended) return false;
    beginTurn(strand);
    try {
      const result = this.body();
      // What looks like a promise may throw when it is looked at: then that is how the function ended.
      if (isThenable(result)) {
        Promise.resolve(result).then(
          (value) => this.#settle({ ok: true, value: value as T }),
          (error) => this.#settle({ ok: false, error }),
        );
      } else this.#settle({ ok: true, value: result });
    } catch (error) {
      this.#settle({ ok: false, error });
    }
    return true;
  }

  #settle(outcome: Outcome<T>): void {
    const { strand } = this;
    if (slot.strand?.run !== strand.run) strand.run.wokenOutside(strand, outcome.ok ? undefined : outcome.error);
    strand.run.ready.push(new StrandEnd(strand, outcome, this.done));
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Queues the start of a strand: a turn of its own. `done` is called between turns, after the strand's leftovers were cancelled. */
export function startStrand<T>(strand: Strand, body: () => T | PromiseLike<T>, done: (outcome: Outcome<T>) => void): void {
  strand.run.ready.push(new StrandStart(strand, body, done));
}
