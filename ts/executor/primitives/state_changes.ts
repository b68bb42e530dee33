// Detects changes in place: records the visible parts of values, and compares them later. Used
// where user code gets the objects themselves. Private fields (#) are not visible.

/** The recorded parts of an object. */
interface Look {
  readonly path: string;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  /** Values of properties; for accessors their functions. */
  readonly values: readonly unknown[];
  /** Contents of internal slots: entries, a time, bytes. */
  readonly inside: readonly unknown[];
}

const sizeOf = (prototype: object) => Object.getOwnPropertyDescriptor(prototype, "size")!.get!;
const mapSize = sizeOf(Map.prototype);
const setSize = sizeOf(Set.prototype);

/** Whether the object has the internal slots that the call needs. */
function asks(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

function inside(object: object): unknown[] {
  if (object instanceof Map) {
    return asks(() => mapSize.call(object)) ? [...Map.prototype.entries.call(object)].flat() : [];
  }
  if (object instanceof Set) {
    return asks(() => setSize.call(object)) ? [...Set.prototype.values.call(object)] : [];
  }
  if (object instanceof Date) {
    return asks(() => Date.prototype.getTime.call(object))
      ? [Date.prototype.getTime.call(object)]
      : [];
  }
  if (object instanceof ArrayBuffer) return [...new Uint8Array(object)];
  if (object instanceof URL || object instanceof URLSearchParams) {
    return asks(() => String(object)) ? [String(object)] : [];
  }
  return [];
}

function look(object: object, path: string): Look {
  // The elements of typed arrays are in their buffers.
  const view = ArrayBuffer.isView(object);
  const keys = view ? [] : Reflect.ownKeys(object);
  const values = keys.flatMap((key) => {
    const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    return [value, get, set];
  });
  return {
    path,
    prototype: Reflect.getPrototypeOf(object),
    keys,
    values,
    inside: view ? [object.buffer] : inside(object),
  };
}

const same = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((each, i) => Object.is(each, b[i]));

/**
 * Records everything reachable. Returns a function that returns the path of a change, or undefined.
 */
export function lookAt(roots: { readonly [name: string]: unknown }): () => string | undefined {
  const looks = new Map<object, Look>();
  const open: (readonly [unknown, string])[] = Object.entries(roots).map(([name, value]) =>
    [value, name] as const
  );
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next;
    if (
      (typeof value !== "object" && typeof value !== "function") || value === null ||
      looks.has(value)
    ) continue;
    // Static members of classes are shared and not part of the value.
    if (typeof value === "function" && path.endsWith(".constructor")) continue;
    const seen = look(value, path);
    looks.set(value, seen);
    if (typeof value === "function") continue;
    seen.keys.forEach((key, i) =>
      open.push([
        seen.values[3 * i],
        `${path}${typeof key === "string" && !/^\d+$/.test(key) ? `.${key}` : `[${String(key)}]`}`,
      ])
    );
    if (!(value instanceof ArrayBuffer)) {
      for (const each of seen.inside) open.push([each, path]);
    }
  }
  return () => {
    for (const [object, before] of looks) {
      const now = look(object, before.path);
      if (now.prototype !== before.prototype || !same(now.keys, before.keys)) return before.path;
      if (!same(now.values, before.values) || !same(now.inside, before.inside)) return before.path;
    }
    return undefined;
  };
}
