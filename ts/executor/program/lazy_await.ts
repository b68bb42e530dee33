// An awaitable that reports when code awaits it, for commands whose result is usually ignored. Not
// a Promise, so that calling is not awaiting. A debug session reads the promise inside without
// awaiting.

/** Calls `awaited` once for each await. */
export class LazyAwait<T> implements PromiseLike<T> {
  readonly #promise: Promise<T>;
  readonly #awaited: () => void;

  constructor(promise: Promise<T>, awaited: () => void) {
    this.#promise = promise;
    this.#awaited = awaited;
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#awaited();
    return this.#promise.then(onFulfilled, onRejected);
  }

  /** @internal The promise inside; undefined for other values. Runs no code of the value. */
  static promiseIn(value: object): Promise<unknown> | undefined {
    return #promise in value ? value.#promise : undefined;
  }
}
