// Trigger: a promise that code resolves from outside, for example a signal handler. It rejects when the scope that made it is cancelled.
import { CancellationScope } from "./scope.ts";

/** A promise that other code resolves. It rejects when the scope that made it is cancelled. */
export class Trigger<T> implements PromiseLike<T> {
  readonly resolve!: (value: T | PromiseLike<T>) => void;
  readonly reject!: (reason?: unknown) => void;
  protected readonly promise: Promise<T>;

  constructor() {
    const parts = {} as { resolve: (value: T | PromiseLike<T>) => void; reject: (reason?: unknown) => void };
    this.promise = new Promise<T>((resolve, reject) => {
      const scope = CancellationScope.current();
      if (scope.cancellable) scope.cancelRequested.catch(reject);
      parts.resolve = resolve;
      parts.reject = reject;
    });
    this.resolve = parts.resolve;
    this.reject = parts.reject;
    // A trigger that nobody waits for is not an unhandled rejection.
    this.promise.catch(() => {});
  }

  then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return this.promise.then(onfulfilled, onrejected);
  }
}
