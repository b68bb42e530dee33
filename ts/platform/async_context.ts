// A value that follows a call through its awaits: AsyncLocalStorage in Node and Deno. Browsers have nothing of the kind, and answer
// undefined; there the value is handed to the function as an argument. The built-in module is asked for, not imported, so that bundles for
// browsers do not stumble over its name.

export interface AsyncContext<T> {
  run<R>(value: T, call: () => R): R;
  get(): T | undefined;
}

interface AsyncLocalStorage<T> {
  run<R>(value: T, call: () => R): R;
  getStore(): T | undefined;
}

interface Builtins {
  getBuiltinModule?(name: "node:async_hooks"): { AsyncLocalStorage: new <T>() => AsyncLocalStorage<T> } | undefined;
}

/** The context of that name, shared by all copies of this package in the process; undefined where the runtime has none. */
export function asyncContext<T>(name: string): AsyncContext<T> | undefined {
  const key = Symbol.for(`temporalex.${name}.1`);
  const holder = globalThis as { [key: symbol]: AsyncLocalStorage<T> | undefined };
  const { AsyncLocalStorage } = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.("node:async_hooks") ?? {};
  if (AsyncLocalStorage === undefined) return undefined;
  const storage = holder[key] ??= new AsyncLocalStorage<T>();
  return { run: (value, call) => storage.run(value, call), get: () => storage.getStore() };
}
