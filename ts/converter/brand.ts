// `instanceof` that two copies of this package in one realm agree on: an application may carry the package twice (a bundled realm and an
// unbundled workflow module, two versions of a dependency), and an ApplicationFailure of one copy must be one for the other as well.

const KEY = Symbol.for("temporalex.class.1");
const MAX_PROTOTYPES = 1000;

// deno-lint-ignore no-explicit-any
type Class = abstract new (...args: any[]) => object;

/** A proxy that cannot be asked is an instance of nothing. */
function hasInstance(this: Class, value: unknown): boolean {
  try {
    return isInstance.call(this, value);
  } catch {
    return false;
  }
}

function isInstance(this: Class, value: unknown): boolean {
  // Classes of users that extend ours are themselves and nothing else.
  const name = Object.hasOwn(this.prototype, KEY) ? this.prototype[KEY] : undefined;
  const named = (proto: object) => Object.hasOwn(proto, KEY) && (proto as { readonly [KEY]: unknown })[KEY] === name;
  return somePrototype(value, (proto) => proto === this.prototype || (name !== undefined && named(proto)));
}

/**
 * Whether one of the prototypes of a value is such. A proxy may return one more prototype without end, and some engines (SpiderMonkey)
 * follow it with their own `instanceof`; here there is a bound. Throws what a trap throws.
 */
export function somePrototype(value: unknown, is: (proto: object) => boolean): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  let proto: object | null = Object.getPrototypeOf(value);
  for (let depth = 0; proto !== null && depth < MAX_PROTOTYPES; depth++) {
    if (is(proto)) return true;
    proto = Object.getPrototypeOf(proto);
  }
  return false;
}

/** Makes instances of the class of that name in any copy of the package instances of this one. */
export function brand(name: string, target: Class): void {
  Object.defineProperty(target.prototype, KEY, { value: name });
  Object.defineProperty(target, Symbol.hasInstance, { value: hasInstance, configurable: true });
}
