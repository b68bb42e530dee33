// Protects the built-in objects on which the realm's code (executor, converter, core glue) and all
// runs depend. Changes by a module are detected after its evaluation and undone: additions stay
// (polyfills, `BigInt.prototype.toJSON`), replacements do not. Code in this file must not use
// anything that a module can replace.
import { isBlocked } from "./blocked.ts";
import type { Globals } from "./patch.ts";
import { reachable } from "./reachable.ts";
import { KEPT_GLOBALS } from "../../modules/guarded_names.ts";

const {
  getOwnPropertyDescriptor,
  defineProperty,
  deleteProperty,
  getPrototypeOf,
  setPrototypeOf,
  ownKeys,
} = Reflect;
const { is } = Object;

/** The saved state of one object. */
interface Kept {
  readonly object: object;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  /** In the order of the keys. Updated when the guard itself replaces a property. */
  readonly properties: PropertyDescriptor[];
  readonly needed: boolean;
}

/** A change of a built-in object by a module. */
export interface Replacement {
  /** "JSON.stringify" */
  readonly name: string;
  /** It cannot be undone: the module has made the property non-configurable. */
  readonly final: boolean;
}

export interface Keeper {
  /** Undoes changes of built-in objects. Returns the first one, if any. */
  restore(which?: "what loading needs"): Replacement | undefined;
  /** Makes assignments to added properties no-ops. */
  keepAdditions(): void;
}

/**
 * Objects that the loader and definitions of workflows use. They are few, so checking them often is
 * cheap.
 */
function needed(): Set<object> {
  const classes = [
    Object,
    Function,
    Array,
    Map,
    Set,
    WeakMap,
    String,
    RegExp,
    Promise,
    Error,
    Symbol,
  ];
  const iterators = [[].values(), new Map().values(), new Set().values(), (function* () {})()];
  const all = new Set<object>([
    ...classes,
    ...classes.map((each) => each.prototype as object),
    Reflect,
    JSON,
  ]);
  for (const iterator of iterators) {
    for (let at = getPrototypeOf(iterator); at !== null; at = getPrototypeOf(at)) all.add(at);
  }
  return all;
}

/** Globals that a runtime may call. */
const HOST = ["dispatchEvent", "reportError"];

export function keepBuiltIns(globals: Globals): Keeper {
  const core = needed();
  // Object.prototype first: property descriptors inherit from it.
  const all: Kept[] = [keptOf(Object.prototype, true)];
  for (const object of reachable(globals)) {
    if (object !== Object.prototype) all.push(keptOf(object, core.has(object)));
  }
  const own = [...KEPT_GLOBALS, ...HOST].filter((name) => Object.hasOwn(globals, name));
  all.push({
    object: globals,
    prototype: getPrototypeOf(globals),
    keys: own,
    properties: own.map((name) => getOwnPropertyDescriptor(globals, name)!),
    needed: true,
  });
  const count = all.length;
  const symbols = Reflect.ownKeys(Symbol).map((key) =>
    (Symbol as unknown as { [key: PropertyKey]: unknown })[key]
  )
    .filter((value) => typeof value === "symbol");
  const objectPrototype = Object.prototype;
  const promisePrototype = Promise.prototype;

  /** Whether an added property is dangerous because the language reads it from any object. */
  const isFatal = (object: object, key: PropertyKey): boolean => {
    if (object === objectPrototype) return true;
    for (let i = 0; i < symbols.length; i++) if (symbols[i] === key) return true;
    return key === "then" && object !== promisePrototype;
  };

  type Found =
    | { readonly object: object; readonly key: PropertyKey; readonly final: boolean }
    | undefined;

  const undo = (onlyNeeded: boolean, before: Found): Found => {
    let first = before;
    const found = (object: object, key: PropertyKey, undone: boolean) => {
      if (first === undefined || (!undone && !first.final)) first = { object, key, final: !undone };
    };
    for (let i = 0; i < count; i++) {
      const kept = all[i]!;
      if (onlyNeeded && !kept.needed) continue;
      const { object, keys, properties } = kept;
      // Additions first: a `get` on Object.prototype would be part of every descriptor.
      const keysNow = object === globals ? keys : ownKeys(object);
      for (let k = 0; keysNow.length !== keys.length && k < keysNow.length; k++) {
        const key = keysNow[k]!;
        if (isFatal(object, key) && !has(keys, key)) {
          found(object, key, deleteProperty(object, key));
        }
      }
      for (let k = 0; k < keys.length; k++) {
        const before = properties[k]!;
        const now = getOwnPropertyDescriptor(object, keys[k]!);
        if (
          now !== undefined && is(now.value, before.value) && now.get === before.get &&
          now.set === before.set
        ) continue;
        found(object, keys[k]!, defineProperty(object, keys[k]!, before));
      }
      if (getPrototypeOf(object) !== kept.prototype) {
        found(object, "__proto__", setPrototypeOf(object, kept.prototype));
      }
    }
    return first;
  };

  return {
    restore(which) {
      let first = undo(which !== undefined, undefined);
      if (first === undefined) return undefined;
      // By now the built-ins that build the names are restored.
      if (which !== undefined) first = undo(false, first)!;
      return { name: nameOf(globals, first.object, first.key), final: first.final };
    },
    keepAdditions() {
      const added: Addition[] = [];
      for (const { object, keys } of all) {
        if (object === globals) continue;
        for (const key of ownKeys(object)) {
          if (has(keys, key) || isLimit(object, key)) continue;
          settle(object, key);
          added[added.length] = { object, key };
        }
      }
      if (added.length > 0) {
        ignoreDefinitions(added, (object, key, value) => {
          const kept = all.find((each) => each.object === object)!;
          const at = kept.keys.indexOf(key);
          const descriptor = { ...kept.properties[at]!, value };
          defineProperty(object, key, descriptor);
          kept.properties[at] = descriptor;
        });
      }
    },
  };
}

interface Addition {
  readonly object: object;
  readonly key: PropertyKey;
}

/**
 * Makes Object.defineProperty and related functions ignore definitions of added properties instead
 * of throwing on the frozen object. `replace` replaces the built-in function.
 */
function ignoreDefinitions(
  added: readonly Addition[],
  replace: (object: object, key: PropertyKey, value: unknown) => void,
): void {
  const isAdded = (object: unknown, key: PropertyKey): boolean => {
    const name = typeof key === "symbol" ? key : `${String(key)}`;
    for (let i = 0; i < added.length; i++) {
      if (added[i]!.object === object && added[i]!.key === name) return true;
    }
    return false;
  };
  const { defineProperty: define, defineProperties: defineAll } = Object;
  const { __defineGetter__: defineGetter, __defineSetter__: defineSetter } = Object
    .prototype as unknown as {
      readonly [name: string]: (key: PropertyKey, fn: () => unknown) => void;
    };
  const { apply } = Reflect;
  replace(
    Object,
    "defineProperty",
    function defineProperty(object: object, key: PropertyKey, descriptor: PropertyDescriptor) {
      return isAdded(object, key) ? object : define(object, key, descriptor);
    },
  );
  replace(
    Reflect,
    "defineProperty",
    function defineProperty_(object: object, key: PropertyKey, descriptor: PropertyDescriptor) {
      return isAdded(object, key) || defineProperty(object, key, descriptor);
    },
  );
  replace(
    Object,
    "defineProperties",
    function defineProperties(object: object, descriptors: PropertyDescriptorMap) {
      const others: PropertyDescriptorMap = {};
      for (const key of ownKeys(descriptors)) {
        if (
          isAdded(object, key) || getOwnPropertyDescriptor(descriptors, key)?.enumerable !== true
        ) continue;
        defineProperty(others, key, { value: descriptors[key as string], enumerable: true });
      }
      return defineAll(object, others);
    },
  );
  for (
    const [name, original] of [["__defineGetter__", defineGetter], [
      "__defineSetter__",
      defineSetter,
    ]] as const
  ) {
    replace(Object.prototype, name, function (this: object, key: PropertyKey, fn: () => unknown) {
      if (!isAdded(this, key)) apply(original!, this, [key, fn]);
    });
  }
}

/**
 * A module that is evaluated for each run adds the same property again: the assignment is ignored,
 * without an error.
 */
function settle(object: object, key: PropertyKey): void {
  const descriptor = getOwnPropertyDescriptor(object, key)!;
  if (descriptor.configurable !== true || !("value" in descriptor)) return;
  const { value, enumerable = false } = descriptor;
  defineProperty(object, key, {
    get: () => value as unknown,
    set(this: object, assigned: unknown) {
      if (this !== object) {
        defineProperty(this, key, {
          value: assigned,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
    },
    enumerable,
    configurable: true,
  });
}

function has(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let i = 0; i < keys.length; i++) if (keys[i] === key) return true;
  return false;
}

function keptOf(object: object, needed: boolean): Kept {
  const keys = ownKeys(object).filter((key) => !isLimit(object, key));
  const properties = keys.map((key) => getOwnPropertyDescriptor(object, key)!);
  return { object, prototype: getPrototypeOf(object), keys, properties, needed };
}

/** Some engines have a settable limit for the depth of stacks. */
const isLimit = (object: object, key: PropertyKey): boolean =>
  object === Error && key === "stackTraceLimit";

/** Returns the shortest name of a property: "JSON.stringify", "Map.prototype.get". */
function nameOf(globals: Globals, wanted: object, key: PropertyKey): string {
  const last = typeof key === "symbol" ? "[symbol]" : `.${String(key)}`;
  if (wanted === globals) return String(key);
  const seen = new Set<object>();
  let level: [unknown, string][] = [...KEPT_GLOBALS].filter((name) =>
    name !== "globalThis" && name !== "self"
  )
    .map((name) => [getOwnPropertyDescriptor(globals, name)?.value, name]);
  level.push([getPrototypeOf(Uint8Array), "TypedArray"]);
  for (let depth = 0; depth < 4; depth++) {
    const next: [unknown, string][] = [];
    for (const [value, name] of level) {
      if (
        (typeof value !== "object" && typeof value !== "function") || value === null ||
        seen.has(value)
      ) continue;
      if (value === wanted) return `${name}${last}`;
      seen.add(value);
      if (isBlocked(value)) continue;
      for (const key of ownKeys(value)) {
        if (typeof key === "string") {
          next.push([getOwnPropertyDescriptor(value, key)?.value, `${name}.${key}`]);
        }
      }
    }
    level = next;
  }
  return `a built-in object${last}`;
}
