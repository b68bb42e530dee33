// Trigger: a promise that other code resolves, such as a signal handler. Rejects when its scope is
// canceled.
import { CancellationScope } from "./scope.ts";

/** A promise that other code resolves. Rejects when its scope is canceled. */
export class Trigger<T> implements PromiseLike<T> {
  readonly resolve!: (value: T | PromiseLike<T>) => void;
  readonly reject!: (reason?: unknown) => void;
  protected readonly promise: Promise<T>;

  constructor() {
    const parts = {} as {
      resolve: (value: T | PromiseLike<T>) => void;
      reject: (reason?: unknown) => void;
    };
    this.promise = new Promise<T>((resolve, reject) => {
      const scope = CancellationScope.current();
      if (scope.cancellable) scope.cancelRequested.catch(reject);
      parts.resolve = resolve;
      parts.reject = reject;
    });
    this.resolve = parts.resolve;
    this.reject = parts.reject;
    // Prevents an unhandled rejection.
    this.promise.catch(() => {});
  }

  then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return this.promise.then(onfulfilled, onrejected);
  }
}
