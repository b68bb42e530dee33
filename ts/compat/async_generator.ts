// Async generators as the official SDK's bundler compiles them (it targets ES2017, where they do not exist): a plain generator behind a
// queue of requests. When each request settles is visible in the order of commands, and differs from native ones: return() runs the
// finally blocks at once, a native one only after a tick. Recorded histories have it, so the loader compiles to the same shape
// (rewrite.ts), and these are the pieces that such code calls.
import type { SlotContext } from "./context.ts";

/** What a compiled generator yields in place of an await (`delegated` false) or inside a yield*. */
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
  /** Given: the context is this slot, and each piece of the body goes on in the frame that its await was in. */
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
      // The first one runs in the call itself, in the caller's frame.
      if (this.#requests.push({ key, argument, resolve, reject }) === 1) this.#resume(key, argument);
    });
  }

  #resume(key: Key, argument: unknown): void {
    try {
      const { value, done } = this.#body[key](argument);
      const suspension = value instanceof Suspension ? value : undefined;
      Promise.resolve(suspension === undefined ? value : suspension.value).then(
        this.#inFrame((result: unknown) => {
          if (suspension === undefined) return this.#settle(done === true ? "return" : "next", result);
          // Every await that follows a return() is answered with a return of its own, which is why the rest of a finally is lost there.
          const on = key === "return" ? "return" : "next";
          if (!suspension.delegated || (result as IteratorResult<unknown>).done === true) return this.#resume(on, result);
          // A value of the inner generator: the body's yield* hands it on as it is.
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

/** What a yield* in a compiled body delegates to: the inner iterator, asked through promises that the queue awaits. */
function delegate(inner: AsyncIterator<unknown>): IterableIterator<unknown> {
  let answered = false;
  const pump = (key: Key, value: unknown): IteratorResult<unknown> => {
    answered = true;
    const result = new Promise((resolve) => resolve(Reflect.apply(inner[key]!, inner, [value])));
    return { done: false, value: new Suspension(result, true) };
  };
  // Each request comes twice: first to ask the inner iterator, then, when its promise is settled, to take the result.
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
    iterator.return = (value: unknown) => taken() ? value as IteratorResult<unknown> : pump("return", value);
  }
  return iterator;
}

/** The async iterator of a value; a synchronous one is wrapped, and its values are awaited. */
function asyncIterator(iterable: unknown): AsyncIterator<unknown> {
  const source = iterable as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (source[Symbol.asyncIterator] !== undefined && source[Symbol.asyncIterator] !== null) return source[Symbol.asyncIterator]!();
  if (typeof source[Symbol.iterator] !== "function") throw new TypeError("Object is not async iterable");
  const inner = source[Symbol.iterator]!();
  const settle = (result: IteratorResult<unknown>): Promise<IteratorResult<unknown>> =>
    Promise.resolve(result.value).then((value) => ({ value, done: result.done }) as IteratorResult<unknown>);
  return {
    next: (...args) => settle(inner.next(...args as [])),
    return: (value) => inner.return === undefined ? Promise.resolve({ value, done: true }) : settle(inner.return(value)),
  };
}

/** The functions that compiled code calls. */
export interface AsyncGeneratorHelper {
  /** An async generator: `this` and the arguments of the call, and the body. */
  g(self: unknown, args: ArrayLike<unknown>, body: Body): AsyncIterator<unknown>;
  /** In place of `await value`. */
  aw(value: unknown): unknown;
  /** The target of a yield*. */
  d(iterable: unknown): IterableIterator<unknown>;
  /** What a for await iterates. */
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
