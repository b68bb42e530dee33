// Copies values for another thread. Log lines and arguments of sinks can hold any value and must
// not cause a failure: what structured clone cannot copy becomes text in brackets.
import { isA, messageOf, nameOf, stackOf } from "./thrown.ts";

/** Maximum nesting and parts of a value that is copied part by part. */
const MAX_DEPTH = 32, MAX_PARTS = 10_000;

// Captured before a realm's guard removes it from workflow code.
const { structuredClone } = globalThis;
const { toString } = Object.prototype;

/**
 * Returns a copy for `postMessage`. Never throws. Parts that cannot be copied become `[function]`,
 * `[circular]`, `[Promise]`, or the reason why they cannot be read.
 *
 * @example sendable({ id: 7, done: () => {} }) // { id: 7, done: "[function]" }
 */
export function sendable(value: unknown): unknown {
  if (isScalar(value)) return value;
  try {
    // Written and read here: V8 writes an error into its own causes, and then cannot read it.
    return structuredClone(value);
  } catch {
    return new Copier().copy(value, 0);
  }
}

/** Copies the fields of a log line; returns them unchanged if all are strings and numbers. */
export function sendableFields(
  fields: { readonly [name: string]: unknown },
): { readonly [name: string]: unknown } {
  try {
    if (Object.values(fields).every(isScalar)) return fields;
  } catch {
    // A getter threw.
  }
  const copy = sendable(fields);
  return typeof copy === "object" ? copy as { readonly [name: string]: unknown } : { fields: copy };
}

function isScalar(value: unknown): boolean {
  return typeof value === "object"
    ? value === null
    : typeof value !== "function" && typeof value !== "symbol";
}

/** Copies a value part by part. */
class Copier {
  readonly #above = new Set<object>();
  #parts = 0;

  copy(value: unknown, depth: number): unknown {
    if (typeof value === "function") return "[function]";
    if (typeof value === "symbol") return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (this.#above.has(value)) return "[circular]";
    if (depth > MAX_DEPTH || ++this.#parts > MAX_PARTS) return "[omitted: the value is too large]";
    this.#above.add(value);
    try {
      return this.#object(value, depth + 1);
    } catch (error) {
      return `[unreadable: ${messageOf(error)}]`;
    } finally {
      this.#above.delete(value);
    }
  }

  #object(value: object, depth: number): unknown {
    if (Array.isArray(value)) {
      return Array.from({ length: value.length }, (_, index) => this.#part(value, index, depth));
    }
    if (isA(value, Error)) return this.#error(value, depth);
    if (isA(value, Map)) {
      return new Map(
        [...Map.prototype.entries.call(value)].map((
          [key, item],
        ) => [this.copy(key, depth), this.copy(item, depth)]),
      );
    }
    if (isA(value, Set)) {
      return new Set([...Set.prototype.values.call(value)].map((item) => this.copy(item, depth)));
    }
    const kind = toString.call(value).slice("[object ".length, -1);
    try {
      // Dates, bytes and similar objects keep their data in internal slots.
      if (kind !== "Object") return structuredClone(value);
    } catch {
      if (/^(?:Promise|WeakMap|WeakSet|WeakRef|(?:Async)?Generator)$/.test(kind)) {
        return `[${kind}]`;
      }
    }
    return Object.fromEntries(
      Object.keys(value).map((name) => [name, this.#part(value, name, depth)]),
    );
  }

  #part(value: object, name: PropertyKey, depth: number): unknown {
    let part: unknown;
    try {
      part = (value as { readonly [name: PropertyKey]: unknown })[name];
    } catch (error) {
      return `[unreadable: ${messageOf(error)}]`;
    }
    return this.copy(part, depth);
  }

  #error(error: Error, depth: number): Error {
    const copy = new Error(messageOf(error));
    const define = (name: string, value: unknown) =>
      Object.defineProperty(copy, name, {
        value,
        configurable: true,
        writable: true,
        enumerable: false,
      });
    define("name", nameOf(error));
    define("stack", stackOf(error));
    const cause = this.#part(error, "cause", depth);
    if (cause !== undefined) define("cause", cause);
    return copy;
  }
}
