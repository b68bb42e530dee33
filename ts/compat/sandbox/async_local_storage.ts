// AsyncLocalStorage for workflow code of the official SDK. Values are part of the code's scope
// (context.ts), so they work in every runtime and are separate for each run.
import type { ScopeFrame } from "../context.ts";
import { currentCompatRun, maybeCurrentRun } from "../current.ts";
import { CancellationScope } from "../workflow/scope.ts";

/** A value that follows async functions. */
export class AsyncLocalStorage<T> {
  /** Name for debugging. */
  readonly name: string;
  /** Frames keep earlier values; this object invalidates them. */
  #disabled: object = {};

  constructor(name = "anonymous") {
    this.name = name;
  }

  /** Returns the value for the running code. */
  getStore(): T | undefined {
    const entry = maybeCurrentRun()?.context.current()?.stores?.get(this);
    return entry !== undefined && entry.epoch === this.#disabled ? entry.value as T : undefined;
  }

  /** Calls a function with the value, including everything that it calls and awaits. */
  run<R, A extends unknown[]>(store: T, fn: (...args: A) => R, ...args: A): R {
    return currentCompatRun().context.run(this.#frame(store), () => fn(...args));
  }

  /** Calls a function without a value. */
  exit<R, A extends unknown[]>(fn: (...args: A) => R, ...args: A): R {
    return currentCompatRun().context.run(this.#frame(undefined), () => fn(...args));
  }

  /** Sets the value for the rest of the running function. */
  enterWith(store: T): void {
    currentCompatRun().context.enter(this.#frame(store));
  }

  /** Invalidates the values. */
  disable(): void {
    this.#disabled = {};
  }

  #frame(value: T | undefined): ScopeFrame {
    const { context } = currentCompatRun();
    const before = context.current();
    const stores = new Map(before?.stores);
    stores.set(this, { value, epoch: this.#disabled });
    return { ...before, scope: CancellationScope.current(), stores };
  }

  /** Returns a function that runs in the current context wherever it is called. */
  static bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
    const { context } = currentCompatRun();
    const frame = context.current();
    return (...args) => context.run(frame, () => fn(...args));
  }

  /** Returns a function that calls others in the current context. */
  static snapshot(): <R, A extends unknown[]>(fn: (...args: A) => R, ...args: A) => R {
    const { context } = currentCompatRun();
    const frame = context.current();
    return (fn, ...args) => context.run(frame, () => fn(...args));
  }
}
