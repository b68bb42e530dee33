// Collects the objects that runs of a realm share because the language or the runtime made them:
// those reachable from the global object and its prototypes, and unnamed ones that syntax or
// functions create.
import { isBlocked } from "./blocked.ts";

/** Prefix of names under which copies of this package share values. */
const OURS = "temporalex.";

export const isOurs = (key: PropertyKey): boolean =>
  typeof key === "symbol" && Symbol.keyFor(key)?.startsWith(OURS) === true;

/**
 * Keys of the global object that lead to objects of its users. Under unregistered symbols a runtime
 * keeps internal state (Deno: the listeners of the global object).
 */
function keysOf(globals: object): PropertyKey[] {
  return Reflect.ownKeys(globals).filter((key) => {
    if (typeof key === "string") return true;
    return Symbol.keyFor(key) !== undefined && !isOurs(key);
  });
}

/** Returns the result of a function; undefined if it is missing or throws. */
function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Objects whose prototypes (and the functions among their properties) have no name. */
function nameless(): unknown[] {
  type Iterating = { map?(each: (x: unknown) => unknown): unknown };
  const { Iterator, Intl } = globalThis as unknown as {
    Iterator?: { from?(iterable: object): unknown; concat?(): unknown };
    Intl: { Segmenter?: new () => { segment(text: string): Iterable<unknown> } };
  };
  const segments = attempt(() => new Intl.Segmenter!().segment("a")) as
    | Iterable<unknown>
    | undefined;
  const searching = attempt(() => new URLSearchParams("a=b"));
  return [
    function* () {},
    async function* () {},
    async () => {},
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    "".matchAll(/x/g),
    attempt(() => ([].values() as Iterating).map!((x) => x)),
    attempt(() => Iterator!.from!({ next: () => ({ done: true, value: 0 }) })),
    attempt(() => Iterator!.concat!()),
    segments,
    attempt(() => segments![Symbol.iterator]()),
    attempt(() => (searching as URLSearchParams)[Symbol.iterator]()),
    // In browsers each interface has a separate accessor for isTrusted.
    attempt(() => new Event("x")),
    attempt(() => new CustomEvent("x")),
    attempt(() => new EventTarget()),
    attempt(() => new AbortController().signal),
    // Newer engines have accessors for the stack of an error.
    new Error(),
    attempt(() => new DOMException()),
    (function () {
      "use strict";
      return arguments;
    })(),
  ];
}

/** Returns all of them, without the global object itself. `more`: other values that runs share. */
export function reachable(globals: object, more: readonly unknown[] = []): Set<object> {
  const seen = new Set<object>();
  const open: unknown[] = [...more, Object.getPrototypeOf(globals)];
  const properties = (object: object, keys: readonly PropertyKey[], values: boolean) => {
    for (const key of keys) {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
      if (values) open.push(value);
      open.push(get, set);
    }
  };
  properties(globals, keysOf(globals), true);
  for (const sample of nameless()) {
    if (typeof sample === "function") open.push(sample);
    else if (typeof sample === "object" && sample !== null) {
      // The sample itself is not shared; its prototypes and the functions of its accessors are.
      open.push(Object.getPrototypeOf(sample));
      properties(sample, Reflect.ownKeys(sample), false);
      for (const key of Reflect.ownKeys(sample)) {
        const value: unknown = Reflect.getOwnPropertyDescriptor(sample, key)?.value;
        if (typeof value === "object" && value !== null) open.push(Object.getPrototypeOf(value));
      }
    }
  }
  while (open.length > 0) {
    const next = open.pop();
    if ((typeof next !== "object" && typeof next !== "function") || next === null) continue;
    if (next === globals || seen.has(next) || isBlocked(next)) continue;
    seen.add(next);
    properties(next, Reflect.ownKeys(next), true);
    open.push(Object.getPrototypeOf(next));
  }
  return seen;
}
