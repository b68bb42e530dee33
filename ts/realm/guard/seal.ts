// Freezes the global object and the built-in objects after the workflow modules are loaded, so that
// no run can pass state to another by `globalThis.x = ...` or by patching a prototype.
import type { Globals } from "./patch.ts";
import { isOurs, reachable } from "./reachable.ts";

/**
 * Freezes the objects reachable from the global object, its own properties, and other values that
 * runs share.
 */
export function sealRealm(globals: Globals, shared: readonly unknown[]): void {
  for (const [prototype, names] of assignable(globals)) {
    for (const name of names) allowOverride(prototype, name);
  }
  // All copies of this package have read what they share; runs could pass state in it.
  for (const key of Reflect.ownKeys(globals).filter(isOurs)) Reflect.deleteProperty(globals, key);
  const all = reachable(globals, shared);
  for (const object of all) {
    try {
      Object.freeze(object);
    } catch {
      // Typed arrays with elements cannot be frozen; a module that assigns one to a global keeps it
      // unfrozen.
    }
  }
  for (const name of Reflect.ownKeys(globals)) {
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

/**
 * Assigning a property that a frozen prototype has is an error, also in `this.name = "MyError"` or
 * `counts["constructor"] = 1`. On prototypes where this is common, the property becomes an accessor
 * that allows overriding, as if nothing were frozen.
 */
function assignable(globals: Globals): readonly (readonly [object, readonly PropertyKey[]])[] {
  const errors = [
    "Error",
    "AggregateError",
    "EvalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
  ];
  const iterator = (globals["Iterator"] as { prototype?: object } | undefined)?.prototype;
  return [
    // Generators that TypeScript compiles for ES5 (tslib): objects that inherit from it and define
    // a method.
    ...(iterator === undefined ? [] : [[iterator, [Symbol.iterator]] as const]),
    [Object.prototype, Object.getOwnPropertyNames(Object.prototype)],
    // A library may be a function with functions as properties: lodash assigns `bind` to itself.
    [Function.prototype, ["constructor", "toString", "bind", "call", "apply"]],
    ...errors.map((name) =>
      [(globals[name] as ErrorConstructor).prototype, [
        "constructor",
        "name",
        "message",
        "toString",
      ]] as const
    ),
  ];
}

function allowOverride(prototype: object, name: PropertyKey): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (descriptor === undefined || !("value" in descriptor) || !descriptor.configurable) return;
  const { value, enumerable } = descriptor as { value: unknown; enumerable: boolean };
  Object.defineProperty(prototype, name, {
    get: () => value,
    set(this: object, assigned: unknown) {
      if (this === prototype) {
        throw new TypeError(
          `Cannot assign to read only property '${String(name)}' of a built-in object`,
        );
      }
      Object.defineProperty(this, name, {
        value: assigned,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    },
    enumerable,
    configurable: true,
  });
}
