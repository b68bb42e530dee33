// `instanceof` across two copies of this package in one realm (a bundled realm and an unbundled
// workflow module, or two versions of a dependency): an ApplicationFailure of one copy is one in
// the other.

const KEY = Symbol.for("temporalex.class.1");
const MAX_PROTOTYPES = 1000;

// deno-lint-ignore no-explicit-any
type Class = abstract new (...args: any[]) => object;

/** False for a proxy that throws. */
function hasInstance(this: Class, value: unknown): boolean {
  try {
    return isInstance.call(this, value);
  } catch {
    return false;
  }
}

function isInstance(this: Class, value: unknown): boolean {
  // A user's subclass has no brand: only its own instances match.
  const name = Object.hasOwn(this.prototype, KEY) ? this.prototype[KEY] : undefined;
  const named = (proto: object) =>
    Object.hasOwn(proto, KEY) && (proto as { readonly [KEY]: unknown })[KEY] === name;
  return somePrototype(
    value,
    (proto) => proto === this.prototype || (name !== undefined && named(proto)),
  );
}

/**
 * Returns whether a prototype of the value satisfies `is`. The chain is bounded: a proxy can return
 * prototypes without end, and some engines (SpiderMonkey) follow it with their own `instanceof`.
 * Throws what a trap throws.
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

/** Makes `instanceof` accept instances of the class of that name from any copy of the package. */
export function brand(name: string, target: Class): void {
  Object.defineProperty(target.prototype, KEY, { value: name });
  Object.defineProperty(target, Symbol.hasInstance, { value: hasInstance, configurable: true });
}
