// Finds out whether values were changed in place: what can be seen of them is written down before, and looked at again after. It is needed
// where code of the user gets the objects themselves. Fields with # cannot be seen; who needs to be sure of them does without the objects.

/** What an object looked like. */
interface Look {
  readonly path: string;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  /** Values of properties; of accessors their functions. */
  readonly values: readonly unknown[];
  /** What lies in slots: entries, a time, bytes. */
  readonly inside: readonly unknown[];
}

const sizeOf = (prototype: object) => Object.getOwnPropertyDescriptor(prototype, "size")!.get!;
const mapSize = sizeOf(Map.prototype);
const setSize = sizeOf(Set.prototype);

/** Whether the object has the slots that the function asks for. */
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
  if (object instanceof Set) return asks(() => setSize.call(object)) ? [...Set.prototype.values.call(object)] : [];
  if (object instanceof Date) return asks(() => Date.prototype.getTime.call(object)) ? [Date.prototype.getTime.call(object)] : [];
  if (object instanceof ArrayBuffer) return [...new Uint8Array(object)];
  if (object instanceof URL || object instanceof URLSearchParams) return asks(() => String(object)) ? [String(object)] : [];
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
  return { path, prototype: Reflect.getPrototypeOf(object), keys, values, inside: view ? [object.buffer] : inside(object) };
}

const same = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((each, i) => Object.is(each, b[i]));

/** Looks at everything that can be reached; the function that it answers says where something has changed since, if anywhere. */
export function lookAt(roots: { readonly [name: string]: unknown }): () => string | undefined {
  const looks = new Map<object, Look>();
  const open: (readonly [unknown, string])[] = Object.entries(roots).map(([name, value]) => [value, name] as const);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next;
    if ((typeof value !== "object" && typeof value !== "function") || value === null || looks.has(value)) continue;
    // What functions and classes have of their own is shared by all who have them.
    if (typeof value === "function" && path.endsWith(".constructor")) continue;
    const seen = look(value, path);
    looks.set(value, seen);
    if (typeof value === "function") continue;
    seen.keys.forEach((key, i) =>
      open.push([seen.values[3 * i], `${path}${typeof key === "string" && !/^\d+$/.test(key) ? `.${key}` : `[${String(key)}]`}`])
    );
    if (!(value instanceof ArrayBuffer)) { for (const each of seen.inside) open.push([each, path]); }
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
