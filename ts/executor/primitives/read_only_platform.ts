// The platform classes that read-only views support. Their state is in internal slots, which a
// proxy does not have, so methods and getters need the object itself; mutating ones are rejected by
// name.

const NAMES =
  "Map Set WeakMap WeakSet Date RegExp Promise ArrayBuffer SharedArrayBuffer DataView Uint8Array Number String Boolean Symbol BigInt " +
  "URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal Event EventTarget CustomEvent DOMException Blob File FormData " +
  "Headers Request Response WeakRef DisposableStack AsyncDisposableStack URLPattern";

const MUTATORS: ReadonlySet<PropertyKey> = new Set<PropertyKey>([
  ...["set", "add", "delete", "clear", "append", "getOrInsert", "getOrInsertComputed"],
  ...[
    "fill",
    "copyWithin",
    "sort",
    "reverse",
    "setFromBase64",
    "setFromHex",
    "resize",
    "grow",
    "transfer",
    "transferToFixedLength",
  ],
  ...["abort", "addEventListener", "removeEventListener", "dispatchEvent"],
  ...[
    "preventDefault",
    "stopPropagation",
    "stopImmediatePropagation",
    "initEvent",
    "initCustomEvent",
  ],
  ...["use", "adopt", "defer", "dispose", "disposeAsync", "move", "compile"],
  // Advancing an iterator changes it, and a validator cannot await a promise.
  ...["next", "return", "throw", "then", "catch", "finally"],
]);
/** setTime, setUint8, ... */
const SETTER = /^set[A-Z]/;
/** Methods whose result shares nothing with the object, so it may be written. */
const FRESH: ReadonlySet<PropertyKey> = new Set<PropertyKey>([
  ...["slice", "map", "filter", "toSorted", "toReversed", "with"],
  ...["union", "intersection", "difference", "symmetricDifference"],
]);

/** Prototypes of platform classes; true: instances are immutable. */
let known: Map<object, boolean> | undefined;

function prototypes(): Map<object, boolean> {
  if (known !== undefined) return known;
  known = new Map();
  const scope = globalThis as unknown as { [name: string]: { prototype?: object } | undefined };
  const addClass = (made: unknown, constant: boolean) => {
    const prototype = (made as { prototype?: unknown } | undefined)?.prototype;
    if (typeof prototype !== "object" || prototype === null || prototype === Object.prototype) {
      return;
    }
    known!.set(prototype, constant);
  };
  for (const name of NAMES.split(" ")) {
    // Accessors are skipped: reading one may load code or be blocked by the guard.
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
    addClass(
      value ?? (name === "URL" || name === "URLSearchParams" ? scope[name] : undefined),
      false,
    );
  }
  addClass(Object.getPrototypeOf(Uint8Array), false);
  for (const name of ["Intl", "Temporal"]) {
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
    if (typeof value !== "object" || value === null) continue;
    for (const key of Object.getOwnPropertyNames(value)) {
      addClass((value as { [key: string]: unknown })[key], true);
    }
  }
  const iterators = [
    [].values(),
    ""[Symbol.iterator](),
    new Map().values(),
    new Set().values(),
    "".matchAll(/x/g),
  ];
  for (const iterator of iterators) known.set(Object.getPrototypeOf(iterator) as object, false);
  for (const generator of [function* () {}, async function* () {}]) {
    known.set(Object.getPrototypeOf(generator.prototype) as object, false);
  }
  return known;
}

/**
 * "platform" if the nearest object in the prototype chain with the property is a platform
 * prototype.
 */
export function propertyOwner(object: object, key: PropertyKey): "platform" | "other" {
  if (key === "constructor") return "other";
  const table = prototypes();
  for (let at: object | null = object; at !== null; at = Reflect.getPrototypeOf(at)) {
    if (!Object.hasOwn(at, key)) continue;
    if (table.has(at)) return "platform";
    // Engines differ in where errors have `stack`; its getter needs the error.
    return key === "stack" && object instanceof Error ? "platform" : "other";
  }
  return "other";
}

/** Whether a method of the platform changes the object. */
export function changesReceiver(object: object, key: PropertyKey): boolean {
  const { dispose, asyncDispose } = Symbol as {
    readonly dispose?: symbol;
    readonly asyncDispose?: symbol;
  };
  const disposes = typeof key === "symbol" && (key === dispose || key === asyncDispose);
  if (!MUTATORS.has(key) && !disposes && !(typeof key === "string" && SETTER.test(key))) {
    return false;
  }
  const table = prototypes();
  for (let at: object | null = object; at !== null; at = Reflect.getPrototypeOf(at)) {
    if (table.get(at) === true) return false;
  }
  return true;
}

/** Returns the receiver for a method: a copy of a RegExp, which would change its lastIndex. */
export function unchangedReceiver(object: object): object {
  if (!(object instanceof RegExp)) return object;
  const copy = new RegExp(object.source, object.flags);
  copy.lastIndex = object.lastIndex;
  return copy;
}

export function isFresh(object: object, key: PropertyKey): boolean {
  return FRESH.has(key) &&
    (object instanceof Set || ArrayBuffer.isView(object) || object instanceof ArrayBuffer);
}
