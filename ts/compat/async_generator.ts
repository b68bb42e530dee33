// Async generators in the form that the official SDK's bundler produces for ES2017: a generator
// behind a queue of requests. The order in which requests settle affects the order of commands and
// differs from native ones: return() runs finally blocks at once, a native one after a tick.
// Recorded histories depend on it, so the loader compiles to the same form (rewrite.ts); compiled
// code calls these functions.
import type { SlotContext } from "./context.ts";

/** Yielded by a compiled generator in place of an await (`delegated` false) or inside a yield*. */
class Suspension {
  readonly value: unknown;
  readonly delegated: boolean;

  constructor(value: unknown, delegated: boolean) {
    this.value = value;
    this.delegated = delegated;
  }
}

type Key = "next" | "throw" | "return";
interface Request {
  key: Key;
  argument: unknown;
  resolve(result: IteratorResult<unknown>): void;
  reject(error: unknown): void;
}
type Body = (this: unknown, ...args: unknown[]) => Generator<unknown, unknown, unknown>;

class CompiledAsyncGenerator implements AsyncIterator<unknown> {
  #body: Generator<unknown, unknown, unknown>;
  #requests: Request[] = [];
  /**
   * If set, the context is this slot, and each part of the body continues in the frame of its
   * await.
   */
  #slot: SlotContext | undefined;

  constructor(body: Generator<unknown, unknown, unknown>, slot: SlotContext | undefined) {
    this.#body = body;
    this.#slot = slot;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(argument?: unknown): Promise<IteratorResult<unknown>> {
    return this.#ask("next", argument);
  }

  throw(argument?: unknown): Promise<IteratorResult<unknown>> {
    return this.#ask("throw", argument);
  }

  return(argument?: unknown): Promise<IteratorResult<unknown>> {
    return this.#ask("return", argument);
  }

  #ask(key: Key, argument: unknown): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      // The first request runs in the call itself, in the caller's frame.
      if (this.#requests.push({ key, argument, resolve, reject }) === 1) {
        this.#resume(key, argument);
      }
    });
  }

  #resume(key: Key, argument: unknown): void {
    try {
      const { value, done } = this.#body[key](argument);
      const suspension = value instanceof Suspension ? value : undefined;
      Promise.resolve(suspension === undefined ? value : suspension.value).then(
        this.#inFrame((result: unknown) => {
          if (suspension === undefined) {
            return this.#settle(done === true ? "return" : "next", result);
          }
          // Each await after a return() gets a return as well, which is why the rest of a finally
          // block is lost, as in the official form.
          const on = key === "return" ? "return" : "next";
          if (!suspension.delegated || (result as IteratorResult<unknown>).done === true) {
            return this.#resume(on, result);
          }
          // A value of the inner generator: the body's yield* passes it on unchanged.
          this.#settle("next", this.#body[on](result).value);
        }),
        this.#inFrame((error: unknown) => this.#resume("throw", error)),
      );
    } catch (error) {
      this.#settle("throw", error);
    }
  }

  #inFrame(callback: (value: unknown) => void): (value: unknown) => void {
    const slot = this.#slot;
    if (slot === undefined) return callback;
    const frame = slot.current();
    return (value) => slot.run(frame, () => callback(value));
  }

  #settle(how: Key, value: unknown): void {
    const { resolve, reject } = this.#requests[0]!;
    if (how === "throw") reject(value);
    else resolve({ value, done: how === "return" });
    this.#requests.shift();
    const next = this.#requests[0];
    if (next !== undefined) this.#resume(next.key, next.argument);
  }
}

/**
 * Target of a yield* in a compiled body: the inner iterator, called through promises that the queue
 * awaits.
 */
function delegate(inner: AsyncIterator<unknown>): IterableIterator<unknown> {
  let answered = false;
  const pump = (key: Key, value: unknown): IteratorResult<unknown> => {
    answered = true;
    const result = new Promise((resolve) => resolve(Reflect.apply(inner[key]!, inner, [value])));
    return { done: false, value: new Suspension(result, true) };
  };
  // Each request comes twice: to call the inner iterator, and, after its promise, to take the
  // result.
  const taken = () => {
    const was = answered;
    answered = false;
    return was;
  };
  const iterator: IterableIterator<unknown> = {
    [Symbol.iterator]: () => iterator,
    next: (value?: unknown) => taken() ? value as IteratorResult<unknown> : pump("next", value),
  };
  if (typeof inner.throw === "function") {
    iterator.throw = (value: unknown) => {
      if (taken()) throw value;
      return pump("throw", value);
    };
  }
  if (typeof inner.return === "function") {
    iterator.return = (value: unknown) =>
      taken() ? value as IteratorResult<unknown> : pump("return", value);
  }
  return iterator;
}

/** Returns the async iterator of a value; wraps a synchronous one and awaits its values. */
function asyncIterator(iterable: unknown): AsyncIterator<unknown> {
  const source = iterable as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (source[Symbol.asyncIterator] !== undefined && source[Symbol.asyncIterator] !== null) {
    return source[Symbol.asyncIterator]!();
  }
  if (typeof source[Symbol.iterator] !== "function") {
    throw new TypeError("Object is not async iterable");
  }
  const inner = source[Symbol.iterator]!();
  const settle = (result: IteratorResult<unknown>): Promise<IteratorResult<unknown>> =>
    Promise.resolve(result.value).then((value) =>
      ({ value, done: result.done }) as IteratorResult<unknown>
    );
  return {
    next: (...args) => settle(inner.next(...args as [])),
    return: (value) =>
      inner.return === undefined
        ? Promise.resolve({ value, done: true })
        : settle(inner.return(value)),
  };
}

/** Functions called by compiled code. */
export interface AsyncGeneratorHelper {
  /** Creates an async generator from `this`, the arguments of the call, and the body. */
  g(self: unknown, args: ArrayLike<unknown>, body: Body): AsyncIterator<unknown>;
  /** Replaces `await value`. */
  aw(value: unknown): unknown;
  /** Target of a yield*. */
  d(iterable: unknown): IterableIterator<unknown>;
  /** Iterable of a for await. */
  i(iterable: unknown): AsyncIterator<unknown>;
}

export function asyncGeneratorHelper(slot: SlotContext | undefined): AsyncGeneratorHelper {
  return {
    g: (self, args, body) => new CompiledAsyncGenerator(Reflect.apply(body, self, args), slot),
    aw: (value) => new Suspension(value, false),
    d: (iterable) => delegate(asyncIterator(iterable)),
    i: asyncIterator,
  };
}
