// A value that follows a call through its awaits: AsyncLocalStorage in Node and Deno. Browsers have nothing of the kind; there the value is
// handed to the function as an argument, or code is rewritten so that it puts the value back. The built-in module is asked for, not imported,
// so that bundles for browsers do not stumble over its name.
import { builtin } from "./builtin.ts";
import { hasFiles } from "./source_files.ts";

export interface AsyncContext<T> {
  run<R>(value: T, call: () => R): R;
  get(): T | undefined;
}

/** What is used of AsyncLocalStorage. */
export interface AsyncStorage<T> {
  getStore(): T | undefined;
  run<R>(store: T, fn: () => R): R;
  enterWith(store: T): void;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new <T>() => AsyncStorage<T>;
}

/** Whether `asyncStorage` makes one here; loads nothing. */
export const hasAsyncStorage = (): boolean => hasFiles();

/** A new AsyncLocalStorage; undefined where the runtime has none. */
export function asyncStorage<T>(): AsyncStorage<T> | undefined {
  const hooks = builtin<AsyncHooks>("node:async_hooks");
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<T>();
}

/** The context of that name, shared by all copies of this package in the process; undefined where the runtime has none. */
export function asyncContext<T>(name: string): AsyncContext<T> | undefined {
  const key = Symbol.for(`temporalex.${name}.1`);
  const holder = globalThis as { [key: symbol]: AsyncStorage<T> | undefined };
  const storage = holder[key] ??= asyncStorage<T>();
  return storage === undefined ? undefined : { run: (value, call) => storage.run(value, call), get: () => storage.getStore() };
}
