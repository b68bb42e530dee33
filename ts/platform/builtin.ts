// Built-in modules of Node and Deno. They are looked up, not imported: bundlers follow every form
// of import (they fold constants) and then warn, or put a stub into a program for browsers.

/** Returns the module of that name (`node:...`); undefined in browsers. */
export function builtin<T>(name: `node:${string}`): T | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name) as T | undefined;
}

/** Same as `builtin`, for code that has checked that the module exists. */
export function needBuiltin<T>(name: `node:${string}`): T {
  const found = builtin<T>(name);
  if (found === undefined) {
    throw new Error(`this runtime has no ${name}: Node >= 20.19 or Deno >= 2.4 is needed here`);
  }
  return found;
}
