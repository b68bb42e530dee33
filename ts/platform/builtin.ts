// Node's own modules, in Node and Deno. They are asked for, not imported: whatever form an import has, some bundler follows it (they fold
// constants), and then warns, or puts a stand-in into a program for browsers.

/** The module of that name (`node:...`); undefined where the runtime has none (browsers). */
export function builtin<T>(name: `node:${string}`): T | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name) as T | undefined;
}

/** The same for code that has made sure that there is one. */
export function needBuiltin<T>(name: `node:${string}`): T {
  const found = builtin<T>(name);
  if (found === undefined) throw new Error(`this runtime has no ${name}: Node >= 20.19 or Deno >= 2.4 is needed here`);
  return found;
}
