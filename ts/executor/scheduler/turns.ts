// Enters user code: starts a fiber, and handles the end of its function. The function settles
// during some turn, so this only queues the fiber's end, which is processed between turns.
import { cancelLeftovers } from "./leftovers.ts";
import { beginTurn, current } from "../program/current.ts";
import type { Fiber, Work } from "./fiber.ts";

export type Outcome<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly error: unknown;
};

class FiberEnd<T> implements Work {
  readonly fiber: Fiber;
  readonly outcome: Outcome<T>;
  readonly done: (outcome: Outcome<T>) => void;

  constructor(fiber: Fiber, outcome: Outcome<T>, done: (outcome: Outcome<T>) => void) {
    this.fiber = fiber;
    this.outcome = outcome;
    this.done = done;
  }

  perform(): boolean {
    if (!this.fiber.ended) {
      this.fiber.ended = true;
      this.fiber.run.fibers.delete(this.fiber);
      this.fiber.run.context.watch?.ended(this.fiber);
      cancelLeftovers(this.fiber);
    }
    this.done(this.outcome);
    return false;
  }
}

class FiberStart<T> implements Work {
  readonly fiber: Fiber;
  readonly body: () => T | PromiseLike<T>;
  readonly done: (outcome: Outcome<T>) => void;

  constructor(fiber: Fiber, body: () => T | PromiseLike<T>, done: (outcome: Outcome<T>) => void) {
    this.fiber = fiber;
    this.body = body;
    this.done = done;
  }

  perform(): boolean {
    const { fiber } = this;
    if (fiber.ended) return false;
    beginTurn(fiber);
    fiber.run.context.watch?.turned(fiber);
    try {
      const result = this.body();
      // A thenable's `then` getter may throw: the function has ended with that error.
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
    const { fiber } = this;
    if (current.fiber?.run !== fiber.run) {
      fiber.run.wokenOutside(fiber, outcome.ok ? undefined : outcome.error);
    }
    fiber.run.ready.push(new FiberEnd(fiber, outcome, this.done));
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}

/**
 * Queues the start of a fiber as a separate turn. `done` is called between turns, after leftovers
 * are canceled.
 */
export function startFiber<T>(
  fiber: Fiber,
  body: () => T | PromiseLike<T>,
  done: (outcome: Outcome<T>) => void,
): void {
  fiber.run.ready.push(new FiberStart(fiber, body, done));
}
