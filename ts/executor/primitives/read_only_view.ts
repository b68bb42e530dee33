// Read-only views for validators and queries. A write throws; the original is never frozen, because
// validators do not run on replay, and handlers must behave the same. Views are deep, created on
// access, one per object. Methods of user classes run with the view as `this`; those of the
// platform (Map, Date, URL) need the object, and mutating ones are rejected by name. Calls of
// functions in a state are reported.
import { MisuseError } from "../program/errors.ts";
import {
  changesReceiver,
  isFresh,
  propertyOwner,
  unchangedReceiver,
} from "./read_only_platform.ts";

const views = new WeakMap<object, object>();
const originals = new WeakMap<object, object>();

/** The object behind a view's shadow, and the path where it was found first. */
interface Source {
  readonly object: object;
  readonly path: string;
}
const sources = new WeakMap<object, Source>();

function refuse(what: string): never {
  throw new MisuseError(
    `${what}: validators and queries must not change the state; they get a read-only view. Return a new state from a handler`,
  );
}

/** `report` is called before each call of a function from a view. One reader at a time. */
export const calls: { report: (() => void) | undefined } = { report: undefined };

const within = (path: string, key: PropertyKey): string =>
  typeof key === "symbol"
    ? `${path}[${String(key)}]`
    : /^\d+$/.test(String(key))
    ? `${path}[${String(key)}]`
    : `${path}.${String(key)}`;

/** Wraps a platform method, with the object itself as `this`. */
function platformMethod(
  object: object,
  path: string,
  key: PropertyKey,
  method: (...args: unknown[]) => unknown,
) {
  if (changesReceiver(object, key)) return () => refuse(`${within(path, key)}() was called`);
  const self = unchangedReceiver(object);
  const inside = `${path}.${String(key)}()`;
  return (...args: unknown[]) => {
    const result: unknown = Reflect.apply(method, self, args.map((arg) => given(arg, inside)));
    if (isFresh(object, key)) {
      return result instanceof Set
        ? new Set(Array.from(result, (each) => view(each, inside)))
        : result;
    }
    return isIterator(result)
      ? viewIterator(result, inside)
      : view(result === self ? object : result, inside);
  };
}

/** An argument for the platform: callbacks get views. */
function given(arg: unknown, path: string): unknown {
  if (typeof arg !== "function" || originals.has(arg)) return original(arg);
  return function (this: unknown, ...args: unknown[]): unknown {
    return original(Reflect.apply(arg, this, args.map((each) => view(each, path))));
  };
}

function isIterator(value: unknown): value is Iterator<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { next?: unknown }).next === "function";
}

function* viewIterator(iterator: Iterator<unknown>, path: string): IterableIterator<unknown> {
  for (let step = iterator.next(); step.done !== true; step = iterator.next()) {
    yield view(step.value, path);
  }
}

// Proxy targets are empty shadows, because a proxy must return frozen properties of its target
// unchanged.
const handler: ProxyHandler<object> = {
  get(shadow, key, receiver) {
    const { object, path } = sources.get(shadow)!;
    if (propertyOwner(object, key) !== "platform") {
      return view(Reflect.get(object, key, receiver), within(path, key), object, key);
    }
    const value: unknown = Reflect.get(object, key, object);
    return typeof value === "function"
      ? platformMethod(object, path, key, value as (...args: unknown[]) => unknown)
      : view(value, within(path, key));
  },
  has: (shadow, key) => Reflect.has(sources.get(shadow)!.object, key),
  ownKeys: (shadow) => Reflect.ownKeys(sources.get(shadow)!.object),
  getPrototypeOf: (shadow) => Reflect.getPrototypeOf(sources.get(shadow)!.object),
  getOwnPropertyDescriptor(shadow, key) {
    const { object, path } = sources.get(shadow)!;
    const found = Reflect.getOwnPropertyDescriptor(object, key);
    if (found === undefined) return undefined;
    if ("value" in found) found.value = view(found.value, within(path, key), object, key);
    // An array's length is the only property that the shadow has as well.
    if (!(Array.isArray(shadow) && key === "length")) found.configurable = true;
    else found.writable = true;
    return found;
  },
  set: (shadow, key) => refuse(`${within(sources.get(shadow)!.path, key)} was written`),
  defineProperty: (shadow, key) => refuse(`${within(sources.get(shadow)!.path, key)} was defined`),
  deleteProperty: (shadow, key) => refuse(`${within(sources.get(shadow)!.path, key)} was deleted`),
  setPrototypeOf: (shadow) => refuse(`the prototype of ${sources.get(shadow)!.path} was changed`),
  preventExtensions: (shadow) => refuse(`${sources.get(shadow)!.path} was frozen or sealed`),
};

/**
 * A view of a function in a state: it can be called, but changes of its closure are not detected.
 */
function viewFunction(fn: object, path: string): object {
  return new Proxy(fn, {
    apply(target, self, args) {
      calls.report?.();
      return Reflect.apply(target as () => unknown, self, args);
    },
    construct(target, args, newTarget) {
      calls.report?.();
      return Reflect.construct(target as () => unknown, args, newTarget) as object;
    },
    set: (_target, key) => refuse(`${within(path, key)} was written`),
    defineProperty: (_target, key) => refuse(`${within(path, key)} was defined`),
    deleteProperty: (_target, key) => refuse(`${within(path, key)} was deleted`),
    setPrototypeOf: () => refuse(`the prototype of ${path} was changed`),
    preventExtensions: () => refuse(`${path} was frozen or sealed`),
  });
}

/**
 * Returns a read-only view of a value. Primitives and inherited functions are returned unchanged.
 * `path` names the value in messages.
 */
export function view<T>(value: T, path?: string): T;
export function view<T>(value: T, path: string, holder: object, key: PropertyKey): T;
export function view<T>(value: T, path = "state", holder?: object, key: PropertyKey = ""): T {
  const isFunction = typeof value === "function";
  if (
    (!isFunction && typeof value !== "object") || value === null || originals.has(value as object)
  ) return value;
  if (
    isFunction && (holder === undefined || key === "constructor" || !Object.hasOwn(holder, key))
  ) return value;
  let made = views.get(value as object);
  if (made === undefined) {
    if (isFunction) made = viewFunction(value as object, path);
    else {
      const shadow = Array.isArray(value) ? [] : {};
      sources.set(shadow, { object: value as object, path });
      made = new Proxy(shadow, handler);
    }
    views.set(value as object, made);
    originals.set(made, value as object);
  }
  return made as T;
}

/** Returns the object behind a view; other values unchanged. */
export function original<T>(value: T): T {
  // Views exist only of objects; a WeakMap returns undefined for other keys.
  return (originals.get(value as object) as T | undefined) ?? value;
}
