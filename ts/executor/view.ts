// Read-only views. Validators and queries see state through one: writing throws, and the original is never frozen (on replay validators
// do not run, so freezing would make handlers behave differently live). Views are deep, made on access, and one object has one view.
import { MisuseError } from "./errors.ts";

const views = new WeakMap<object, object>();
const originals = new WeakMap<object, object>();

/** Methods that change the built-in objects whose state is not in properties. */
const MUTATORS: ReadonlySet<string | symbol> = new Set([
  ...["set", "add", "delete", "clear"],
  ...["fill", "copyWithin", "sort", "reverse", "setFromBase64", "setFromHex"],
  ...["setInt8", "setUint8", "setInt16", "setUint16", "setInt32", "setUint32", "setFloat16", "setFloat32", "setFloat64"],
  ...["setBigInt64", "setBigUint64", "resize", "transfer", "transferToFixedLength"],
]);

function refuse(what: string): never {
  throw new MisuseError(
    `${what}: validators and queries get a read-only view of the state; return a new value from a handler to change it`,
  );
}

/** Objects whose state lies in internal slots: their methods need the original as `this`. */
function hasSlots(value: object): boolean {
  return value instanceof Map || value instanceof Set || value instanceof Date || ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer || value instanceof RegExp || value instanceof Promise;
}

function slotMethod(target: object, key: string | symbol, method: (...args: unknown[]) => unknown) {
  const changes = target instanceof Date ? typeof key === "string" && key.startsWith("set") : MUTATORS.has(key);
  if (changes) return () => refuse(`${String(key)}() was called on a ${target.constructor?.name ?? "object"}`);
  if (key === "forEach") {
    return (callback: (...args: unknown[]) => unknown, self?: unknown) =>
      method.call(target, (value: unknown, index: unknown) => callback.call(self, view(value), view(index), view(target)));
  }
  return (...args: unknown[]) => {
    const result = method.apply(target, args.map(original));
    return isIterator(result) ? viewIterator(result) : view(result);
  };
}

function isIterator(value: unknown): value is Iterator<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { next?: unknown }).next === "function";
}

function* viewIterator(iterator: Iterator<unknown>): IterableIterator<unknown> {
  for (let step = iterator.next(); step.done !== true; step = iterator.next()) yield view(step.value);
}

/** The object that a proxy's shadow stands for. */
const sources = new WeakMap<object, object>();
const sourceOf = (shadow: object): object => sources.get(shadow)!;

// The proxies lie over empty shadows: over the objects themselves a proxy would have to answer frozen properties with the very value.
const handler: ProxyHandler<object> = {
  get(shadow, key, receiver) {
    const source = sourceOf(shadow);
    if (!hasSlots(source)) return view(Reflect.get(source, key, receiver));
    const value = Reflect.get(source, key, source);
    return typeof value === "function" && key !== "constructor" ? slotMethod(source, key, value) : view(value);
  },
  has: (shadow, key) => Reflect.has(sourceOf(shadow), key),
  ownKeys: (shadow) => Reflect.ownKeys(sourceOf(shadow)),
  getPrototypeOf: (shadow) => Reflect.getPrototypeOf(sourceOf(shadow)),
  getOwnPropertyDescriptor(shadow, key) {
    const found = Reflect.getOwnPropertyDescriptor(sourceOf(shadow), key);
    if (found === undefined) return undefined;
    if ("value" in found) found.value = view(found.value);
    // An array's length is the one property that the shadow has as well.
    if (!(Array.isArray(shadow) && key === "length")) found.configurable = true;
    else found.writable = true;
    return found;
  },
  set: (_shadow, key) => refuse(`the property "${String(key)}" was written`),
  defineProperty: (_shadow, key) => refuse(`the property "${String(key)}" was defined`),
  deleteProperty: (_shadow, key) => refuse(`the property "${String(key)}" was deleted`),
  setPrototypeOf: () => refuse("the prototype was changed"),
  preventExtensions: () => refuse("the object was frozen or sealed"),
};

/** A view of a value through which nothing can be written. Primitives and functions are themselves. */
export function view<T>(value: T): T {
  if (typeof value !== "object" || value === null || originals.has(value)) return value;
  let made = views.get(value);
  if (made === undefined) {
    const shadow = Array.isArray(value) ? [] : {};
    sources.set(shadow, value);
    made = new Proxy(shadow, handler);
    views.set(value, made);
    originals.set(made, value);
  }
  return made as T;
}

/** The object behind a view; everything else is itself. */
export function original<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  return (originals.get(value) as T | undefined) ?? value;
}
