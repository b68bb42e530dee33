// After the workflow modules are loaded nothing global changes any more: the global object takes no properties, and the built-in objects
// are frozen. So one run cannot leave something behind for another by `globalThis.x = ...` or by patching a prototype.
import { isBlocked } from "./blocked.ts";
import type { Globals } from "./patch.ts";

/** Freezes what is reachable from the global object, and the global object's own properties. */
export function sealRealm(globals: Globals): void {
  const all = reachable(globals);
  for (const [prototype, names] of assignable(globals)) for (const name of names) allowOverride(prototype, name);
  for (const object of all) {
    try {
      Object.freeze(object);
    } catch {
      // Typed arrays with elements cannot be frozen; a module that hangs one on a global keeps it as it is.
    }
  }
  for (const name of Object.getOwnPropertyNames(globals)) {
    const descriptor = Object.getOwnPropertyDescriptor(globals, name)!;
    if (!descriptor.configurable) continue;
    Object.defineProperty(
      globals,
      name,
      "value" in descriptor ? { writable: false, configurable: false } : { configurable: false },
    );
  }
  Object.preventExtensions(globals);
}

function reachable(globals: object): Set<object> {
  const seen = new Set<object>();
  const open: unknown[] = [];
  const properties = (object: object, keys: readonly PropertyKey[]) => {
    for (const key of keys) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, key) ?? {};
      open.push(value, get, set);
    }
  };
  // Properties under symbols are not walked: what this package shares between its copies lies there.
  properties(globals, Object.getOwnPropertyNames(globals));
  const iterators = [
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    "".matchAll(/x/g),
  ];
  open.push(function* () {}, async function* () {}, async () => {}, ...iterators.map((i) => Object.getPrototypeOf(i) as unknown));
  while (open.length > 0) {
    const next = open.pop();
    if ((typeof next !== "object" && typeof next !== "function") || next === null) continue;
    if (next === globals || seen.has(next) || isBlocked(next)) continue;
    seen.add(next);
    properties(next, Reflect.ownKeys(next));
    open.push(Object.getPrototypeOf(next));
  }
  return seen;
}

/**
 * Assigning a property that a frozen prototype has is an error, in `this.name = "MyError"` or `counts["constructor"] = 1` too. For the
 * prototypes on which that is common, the property becomes one that assignment overrides, as if nothing were frozen.
 */
function assignable(globals: Globals): readonly (readonly [object, readonly string[]])[] {
  const errors = ["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
  return [
    [Object.prototype, Object.getOwnPropertyNames(Object.prototype)],
    [Function.prototype, ["constructor", "toString"]],
    ...errors.map((name) =>
      [(globals[name] as ErrorConstructor).prototype, ["constructor", "name", "message", "toString"]] as const
    ),
  ];
}

function allowOverride(prototype: object, name: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (descriptor === undefined || !("value" in descriptor) || !descriptor.configurable) return;
  const { value, enumerable } = descriptor as { value: unknown; enumerable: boolean };
  Object.defineProperty(prototype, name, {
    get: () => value,
    set(this: object, assigned: unknown) {
      if (this === prototype) throw new TypeError(`Cannot assign to read only property '${name}' of a built-in object`);
      Object.defineProperty(this, name, { value: assigned, writable: true, enumerable: true, configurable: true });
    },
    enumerable,
    configurable: true,
  });
}
