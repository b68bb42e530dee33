// AsyncLocalStorage where the runtime has one: Node and Deno. Browsers have none.
import { needBuiltin } from "./builtin.ts";
import { hasFiles } from "./source_files.ts";

/** What is used of it. */
export interface AsyncStore<T> {
  getStore(): T | undefined;
  run<R>(store: T, fn: () => R): R;
  enterWith(store: T): void;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new () => AsyncStore<never>;
}

/** Whether `asyncStorage` works here; loads nothing. */
export const hasAsyncStorage = (): boolean => hasFiles();

/** A new one. Throws where `hasAsyncStorage` says false. */
export function asyncStorage<T>(): AsyncStore<T> {
  const { AsyncLocalStorage } = needBuiltin<AsyncHooks>("node:async_hooks");
  return new AsyncLocalStorage() as AsyncStore<unknown> as AsyncStore<T>;
}
