// A promise that says when code begins to wait for it: what a command that is mostly done and forgotten returns. No Promise, so that calling
// for it is no wait; a debug session, which reads what is awaited, finds the promise inside without waiting itself.

/** Told once for each wait. */
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

  /** @internal What a wait for it waits for; undefined for other values. Runs no code of theirs. */
  static promiseIn(value: object): Promise<unknown> | undefined {
    return #promise in value ? value.#promise : undefined;
  }
}
