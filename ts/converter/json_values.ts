// Keeps what JSON would lose. The JSON of a value is conventional (a Date is ISO text, a Map its
// entries, NaN is null); notes in the metadata have the original kind of a value: a list of [kind,
// ...path], inner values first. Other values (functions, class instances, promises) are rejected
// with their path. Plain data has no notes and costs one pass.
import { LossyValueError, PayloadConverterError } from "./lossy_value.ts";

/** Kind of a value, and the keys and indices of its path in the JSON. */
type Note = [kind: string, ...path: (string | number)[]];
type Path = readonly (string | number)[];

/** Maximum depth of the fast check; deeper values use the full conversion, which detects cycles. */
const LOOK_DEPTH = 1000;

/**
 * Returns whether JSON preserves the value. False for unusual objects; the full conversion then
 * checks again.
 */
export function isPlainData(value: unknown, depth = LOOK_DEPTH): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return value === 0 ? 1 / value > 0 : Number.isFinite(value);
  if (typeof value !== "object" || depth === 0) return false;
  if (Array.isArray(value)) {
    if (hasToJson(value)) return false;
    for (let i = 0; i < value.length; i++) if (!isPlainData(value[i], depth - 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  // A toJSON method is an own key as well.
  for (const key of Object.keys(value)) {
    const item = (value as { [key: string]: unknown })[key];
    if (item !== undefined && !isPlainData(item, depth - 1)) return false;
  }
  return true;
}

/**
 * Returns data that `JSON.stringify` preserves, with notes on the original kinds. Throws a
 * LossyValueError for other values.
 */
export function toJsonData(value: unknown): { data: unknown; notes: readonly Note[] } {
  const writer = new Writer();
  const data = writer.write(value, [], "");
  return { data, notes: writer.notes };
}

class Writer {
  readonly notes: Note[] = [];
  /** Objects around the current one, with their paths. */
  readonly #around = new Map<object, Path>();

  /** `key`: argument of toJSON methods. */
  write(value: unknown, path: Path, key: string): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "undefined":
        return this.#note("undefined", path, null);
      case "number":
        if (Object.is(value, -0)) return this.#note("-0", path, 0);
        return Number.isFinite(value) ? value : this.#note(String(value), path, null);
      case "object":
        return value === null ? null : this.#writeObject(value, path, key);
      case "bigint": {
        const { toJSON } = value as { toJSON?: (key: string) => unknown };
        if (typeof toJSON === "function") return this.write(toJSON.call(value, key), path, key);
        throw new PayloadConverterError(
          `value${shown(path)} is a bigint, which cannot be encoded as JSON; pass it as a string`,
        );
      }
      default:
        throw new LossyValueError(
          shown(path),
          `a ${typeof value}, which cannot be encoded; pass plain data`,
        );
    }
  }

  #writeObject(value: object, path: Path, key: string): unknown {
    const outer = this.#around.get(value);
    if (outer !== undefined) {
      throw new PayloadConverterError(
        `value${shown(path)} is value${
          shown(outer)
        } again; a circular structure cannot be encoded as JSON`,
      );
    }
    this.#around.set(value, path);
    try {
      return this.#writeNew(value, path, key);
    } finally {
      this.#around.delete(value);
    }
  }

  #writeNew(value: object, path: Path, key: string): unknown {
    if (Array.isArray(value) && !hasToJson(value)) {
      return Array.from(value, (item, i) => this.write(item, [...path, i], String(i)));
    }
    switch (tagOf(value)) {
      case "Date": {
        const date = value as Date;
        return Number.isNaN(date.getTime())
          ? this.#note("Invalid Date", path, null)
          : this.#note("Date", path, date.toISOString());
      }
      case "Uint8Array":
        return this.#note("Uint8Array", path, toBase64(value as Uint8Array));
    }
    if (hasToJson(value)) return this.write(value.toJSON(key), path, key);
    switch (tagOf(value)) {
      case "Map":
        return this.#note("Map", path, this.write([...value as Map<unknown, unknown>], path, key));
      case "Set":
        return this.#note("Set", path, this.write([...value as Set<unknown>], path, key));
      case "Number":
      case "String":
      case "Boolean":
        return this.write(value.valueOf(), path, key);
    }
    const problem = problemOf(value);
    if (problem !== undefined) throw new LossyValueError(shown(path), problem);
    // Without a prototype, so that a key "__proto__" is an ordinary key.
    const copy = Object.create(null) as { [key: string]: unknown };
    for (const name of Object.keys(value)) {
      const item = (value as { [key: string]: unknown })[name];
      if (item !== undefined) copy[name] = this.write(item, [...path, name], name);
    }
    return copy;
  }

  #note<T>(kind: string, path: Path, data: T): T {
    this.notes.push([kind, ...path]);
    return data;
  }
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

/** By tag, because the value may be from another realm. */
function tagOf(value: object): string {
  if (value instanceof Date) return "Date";
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Describes why an object is not plain data; undefined for plain data of any realm. */
function problemOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const tag = tagOf(value);
  if (tag === "Promise" || typeof (value as { then?: unknown }).then === "function") {
    return "a promise; await it first";
  }
  if (tag === "Error" || value instanceof Error) {
    return "an Error, which JSON encodes as {}; throw it, or pass its message";
  }
  if (ArrayBuffer.isView(value)) {
    return `${
      article(tag)
    }, which cannot be encoded; pass Array.from(it), or the bytes as a Uint8Array`;
  }
  if (tag === "ArrayBuffer" || tag === "SharedArrayBuffer") {
    return `${article(tag)}, which JSON encodes as {}; pass new Uint8Array(it)`;
  }
  if (tag === "RegExp") return "a RegExp, which JSON encodes as {}; pass its source and flags";
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const { constructor } = value;
  const name = typeof constructor === "function" && constructor.name !== ""
    ? constructor.name
    : "a class";
  return `an instance of ${name}, which would lose its class; pass plain data ({ ...value }), or add a toJSON method to the class`;
}

function article(name: string): string {
  return `${/^[AEIOU](?!int)/.test(name) ? "an" : "a"} ${name}`;
}

/** Formats a path: ".items[3].price". */
function shown(path: Path): string {
  return path.map((key) =>
    typeof key === "number"
      ? `[${key}]`
      : /^[A-Za-z_$][\w$]*$/.test(key)
      ? `.${key}`
      : `[${JSON.stringify(key)}]`
  ).join("");
}

/**
 * Restores the kinds in the notes, in place. Throws a PayloadConverterError for notes that do not
 * fit the data.
 */
export function fromJsonData(data: unknown, notes: unknown): unknown {
  if (!Array.isArray(notes)) throw misfit(notes);
  const root = { value: data };
  for (const note of notes as unknown[]) {
    if (!Array.isArray(note) || typeof note[0] !== "string") throw misfit(note);
    const path: unknown[] = ["value", ...note.slice(1)];
    let holder: unknown = root;
    for (let i = 0; i < path.length - 1; i++) holder = step(holder, path[i], note);
    const last = path[path.length - 1];
    (holder as { [key: string | number]: unknown })[last as string] = restored(
      note[0],
      step(holder, last, note),
      note,
    );
  }
  return root.value;
}

function step(holder: unknown, key: unknown, note: unknown): unknown {
  const fits = typeof holder === "object" && holder !== null &&
    (Array.isArray(holder) ? typeof key === "number" : typeof key === "string") &&
    // Own properties only: inherited ones are never read, and a key "__proto__" is an ordinary key.
    Object.hasOwn(holder, key as string);
  if (!fits) throw misfit(note);
  return (holder as { [key: string]: unknown })[key as string];
}

function restored(kind: string, data: unknown, note: unknown): unknown {
  switch (kind) {
    case "undefined":
      return undefined;
    case "NaN":
    case "Infinity":
    case "-Infinity":
    case "-0":
      return Number(kind);
    case "Invalid Date":
      return new Date(NaN);
    case "Date": {
      const date = typeof data === "string" ? new Date(data) : undefined;
      if (date === undefined || Number.isNaN(date.getTime())) throw misfit(note);
      return date;
    }
    case "Uint8Array": {
      const bytes = typeof data === "string" ? fromBase64(data) : undefined;
      if (bytes === undefined) throw misfit(note);
      return bytes;
    }
    case "Map":
      if (
        !Array.isArray(data) || !data.every((entry) => Array.isArray(entry) && entry.length === 2)
      ) throw misfit(note);
      return new Map(data as [unknown, unknown][]);
    case "Set":
      if (!Array.isArray(data)) throw misfit(note);
      return new Set(data);
    default:
      throw new PayloadConverterError(
        `a payload has a value of kind ${
          JSON.stringify(kind)
        }, which this version does not support; it may be from a newer version`,
      );
  }
}

function misfit(note: unknown): PayloadConverterError {
  return new PayloadConverterError(
    `the value annotations of a payload do not match its JSON: ${
      JSON.stringify(note)?.slice(0, 200)
    }`,
  );
}

/** Bytes per call of String.fromCharCode, which takes them as arguments. */
const CHUNK = 0x2000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
