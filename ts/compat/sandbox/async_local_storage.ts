// AsyncLocalStorage as workflow code of the official SDK has it: values that follow async functions. They travel with the scope of the code
// (context.ts), so they are there in every runtime, and no run sees another's.
import type { ScopeFrame } from "../context.ts";
import { currentCompatRun, maybeCurrentRun } from "../current.ts";
import { CancellationScope } from "../workflow/scope.ts";

/** A value that follows async functions. */
export class AsyncLocalStorage<T> {
  /** For people. */
  readonly name: string;
  /** Frames keep what was stored before; this says that it does not count any more. */
  #disabled: object = {};

  constructor(name = "anonymous") {
    this.name = name;
  }

  /** What was stored for the code that runs. */
  getStore(): T | undefined {
    const entry = maybeCurrentRun()?.context.current()?.stores?.get(this);
    return entry !== undefined && entry.epoch === this.#disabled ? entry.value as T : undefined;
  }

  /** Calls a function for which the value is stored, and all that it calls and awaits. */
  run<R, A extends unknown[]>(store: T, fn: (...args: A) => R, ...args: A): R {
    return currentCompatRun().context.run(this.#frame(store), () => fn(...args));
  }

  /** Calls a function for which nothing is stored. */
  exit<R, A extends unknown[]>(fn: (...args: A) => R, ...args: A): R {
    return currentCompatRun().context.run(this.#frame(undefined), () => fn(...args));
  }

  /** Stores a value for the rest of the running function. */
  enterWith(store: T): void {
    currentCompatRun().context.enter(this.#frame(store));
  }

  /** Forgets what was stored. */
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

  /** The function, called as now wherever it is called. */
  static bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
    const { context } = currentCompatRun();
    const frame = context.current();
    return (...args) => context.run(frame, () => fn(...args));
  }

  /** A function that calls others as now. */
  static snapshot(): <R, A extends unknown[]>(fn: (...args: A) => R, ...args: A) => R {
    const { context } = currentCompatRun();
    const frame = context.current();
    return (fn, ...args) => context.run(frame, () => fn(...args));
  }
}
