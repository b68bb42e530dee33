// Deep equality as in Node's assert: strict (types, prototypes and -0 count) or loose.

/** Pairs in comparison: cyclic values are equal if both have the same cycle. */
type Open = Map<object, object>;

export function deepEqual(
  a: unknown,
  b: unknown,
  strict: boolean,
  open: Open = new Map(),
): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    // deno-lint-ignore eqeqeq
    return !strict && (typeof a !== "object" || a === null) &&
      (typeof b !== "object" || b === null) && a == b;
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (readTag(a) !== readTag(b)) return false;
  if (open.get(a) === b) return true;
  open.set(a, b);
  try {
    return sameContent(a, b, strict, open);
  } finally {
    open.delete(a);
  }
}

const readTag = (value: object): string => Object.prototype.toString.call(value);

function sameContent(a: object, b: object, strict: boolean, open: Open): boolean {
  if (a instanceof Date && b instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
  if (a instanceof RegExp && b instanceof RegExp && String(a) !== String(b)) return false;
  if (a instanceof Error && b instanceof Error && (a.message !== b.message || a.name !== b.name)) {
    return false;
  }
  if (isBoxed(a) && isBoxed(b) && !Object.is(a.valueOf(), b.valueOf())) return false;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  if (a instanceof Map && b instanceof Map && !sameMap(a, b, strict, open)) return false;
  if (a instanceof Set && b instanceof Set && !sameSet(a, b, strict, open)) return false;
  const keys = listKeys(a, strict);
  if (keys.length !== listKeys(b, strict).length) return false;
  return keys.every((key) =>
    Object.prototype.propertyIsEnumerable.call(b, key) &&
    deepEqual(Reflect.get(a, key), Reflect.get(b, key), strict, open)
  );
}

const isBoxed = (value: object): boolean =>
  value instanceof Number || value instanceof String || value instanceof Boolean ||
  value instanceof BigInt ||
  value instanceof Symbol;

function listKeys(value: object, strict: boolean): PropertyKey[] {
  const symbols = strict
    ? Object.getOwnPropertySymbols(value).filter((key) =>
      Object.prototype.propertyIsEnumerable.call(value, key)
    )
    : [];
  return [...Object.keys(value), ...symbols];
}

function sameMap(
  a: Map<unknown, unknown>,
  b: Map<unknown, unknown>,
  strict: boolean,
  open: Open,
): boolean {
  if (a.size !== b.size) return false;
  const rest = [...b];
  return [...a].every(([key, value]) =>
    take(
      rest,
      ([otherKey, other]) =>
        deepEqual(key, otherKey, strict, open) && deepEqual(value, other, strict, open),
    )
  );
}

function sameSet(a: Set<unknown>, b: Set<unknown>, strict: boolean, open: Open): boolean {
  if (a.size !== b.size) return false;
  const rest = [...b];
  return [...a].every((value) => take(rest, (other) => deepEqual(value, other, strict, open)));
}

/** Takes the first matching item out of a list. */
function take<T>(list: T[], fits: (item: T) => boolean): boolean {
  const at = list.findIndex(fits);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
