// A value that follows a call through its awaits: AsyncLocalStorage in Node and Deno. Browsers have
// no equivalent; there the value is an argument, or code is rewritten to restore it. The built-in
// module is not imported, so that bundles for browsers do not contain its name.
import { builtin } from "./builtin.ts";
import { hasFiles } from "./source_files.ts";

export interface AsyncContext<T> {
  run<R>(value: T, call: () => R): R;
  get(): T | undefined;
}

/** The part of AsyncLocalStorage that is used here. */
export interface AsyncStorage<T> {
  getStore(): T | undefined;
  run<R>(store: T, fn: () => R): R;
  enterWith(store: T): void;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new <T>() => AsyncStorage<T>;
}

/** Returns whether `asyncStorage` works here, without loading a module. */
export const hasAsyncStorage = (): boolean => hasFiles();

/**
 * Returns whether an AsyncLocalStorage slows down every promise: in Node before 24, where it uses
 * hooks.
 */
export function asyncStorageIsSlow(): boolean {
  const { Deno, process } = globalThis as {
    Deno?: unknown;
    process?: { versions?: { node?: string } };
  };
  const version = process?.versions?.node;
  return Deno === undefined && version !== undefined && Number.parseInt(version) < 24;
}

/** Returns a new AsyncLocalStorage; undefined if the runtime has none. */
export function asyncStorage<T>(): AsyncStorage<T> | undefined {
  const hooks = builtin<AsyncHooks>("node:async_hooks");
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<T>();
}

/**
 * Returns the context of that name, shared by all copies of this package in the process; undefined
 * if the runtime has none.
 */
export function asyncContext<T>(name: string): AsyncContext<T> | undefined {
  const key = Symbol.for(`temporalex.${name}.1`);
  const holder = globalThis as { [key: symbol]: AsyncStorage<T> | undefined };
  const storage = holder[key] ??= asyncStorage<T>();
  return storage === undefined
    ? undefined
    : { run: (value, call) => storage.run(value, call), get: () => storage.getStore() };
}
