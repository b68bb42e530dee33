// Reads thrown values without trust. JavaScript can throw anything: proxies with throwing traps,
// revoked proxies, errors with hostile getters, cyclic causes, messages of megabytes. Nothing here
// throws, and results have a bounded size.

import { somePrototype } from "./brand.ts";
import { replaceLoneSurrogates } from "./well_formed.ts";

/** Maximum causes that are encoded. Servers and the core reject messages nested about 100 deep. */
export const MAX_CAUSES = 32;
/** Maximum characters of a message. */
export const MAX_MESSAGE = 64 * 1024;
/** Maximum characters of a stack. */
export const MAX_STACK = 32 * 1024;
/** Maximum characters of failure types and error names. */
export const MAX_NAME = 1024;

/** Returns `value[name]`; undefined if it cannot be read. */
export function read(value: unknown, name: string): unknown {
  try {
    return (value as { [name: string]: unknown } | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

// deno-lint-ignore no-explicit-any
type Class<T> = abstract new (...args: any[]) => T;

const ordinary = Function.prototype[Symbol.hasInstance];

/** Returns `value instanceof type` with a bounded prototype chain; false if a trap throws. */
export function isA<T>(value: unknown, type: Class<T>): value is T {
  try {
    if (type[Symbol.hasInstance] !== ordinary) return value instanceof type;
    return somePrototype(value, (proto) => proto === type.prototype);
  } catch {
    return false;
  }
}

/** Returns text for UTF-8: replaces lone surrogates and cuts to `max` characters, with a note. */
export function safeText(text: string, max: number = MAX_MESSAGE): string {
  const cut = text.length > max
    ? `${text.slice(0, max)}... (${text.length - max} more characters)`
    : text;
  return replaceLoneSurrogates(cut);
}

const { defineProperty } = Object;

/**
 * Sets the stack of an error. An assignment makes it enumerable in Firefox, so that code would see
 * another key there than elsewhere.
 */
export function setStack(error: Error, stack: string | undefined): void {
  defineProperty(error, "stack", {
    value: stack,
    enumerable: false,
    configurable: true,
    writable: true,
  });
}

/** Returns the name of an error; "Error" if it is missing. */
export function nameOf(error: unknown): string {
  const name = read(error, "name");
  return typeof name === "string" && name !== "" ? safeText(name, MAX_NAME) : "Error";
}

/** Returns the message of an error, or a description of another thrown value. */
export function messageOf(error: unknown): string {
  if (!isA(error, Error)) return safeText(typeof error === "string" ? error : describeValue(error));
  const message = read(error, "message");
  if (typeof message === "string") return safeText(message);
  return message === undefined
    ? "(the error's message cannot be read)"
    : safeText(describeValue(message));
}

/** Returns the stack as the engine wrote it; empty if it is missing. */
export function stackOf(error: unknown): string {
  const stack = read(error, "stack");
  return typeof stack === "string" ? stack : "";
}

/** Returns "Name: message" of an error, or a description of another thrown value. */
export function errorText(error: unknown): string {
  return isA(error, Error) ? `${nameOf(error)}: ${messageOf(error)}` : messageOf(error);
}

/** Describes a value: as JSON if possible, otherwise by its own conversion to text. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const json = JSON.stringify(value);
    if (typeof json === "string") return json;
  } catch {
    // Its own conversion follows below.
  }
  try {
    return String(value);
  } catch {
    return typeof value === "object"
      ? "an object that cannot be read"
      : `a ${typeof value} that cannot be read`;
  }
}

/**
 * Calls `visit` with an error, its cause, and so on, each once, at most `MAX_CAUSES`. Returns the
 * first for which `visit` returns true.
 */
export function findCause(error: unknown, visit: (part: unknown) => boolean): unknown {
  const seen = new Set<unknown>();
  let part = error;
  for (let depth = 0; depth <= MAX_CAUSES && !seen.has(part); depth++) {
    if (visit(part)) return part;
    if (!isA(part, Error)) return undefined;
    seen.add(part);
    part = read(part, "cause");
  }
  return undefined;
}

/**
 * Returns the error itself if it is safe for loggers and listeners; otherwise an error with what
 * could be read.
 */
export function readable(error: unknown): unknown {
  if (!isA(error, Error)) {
    return typeof error === "object" || typeof error === "function" ? messageOf(error) : error;
  }
  const said = ["name", "message", "stack"].every((field) =>
    ["string", "undefined"].includes(typeof read(error, field))
  );
  if (said && read(error, "message") !== undefined && !throws(() => error.cause)) return error;
  const plain = new Error(messageOf(error));
  plain.name = nameOf(error);
  setStack(plain, stackOf(error));
  return plain;
}

function throws(call: () => unknown): boolean {
  try {
    call();
    return false;
  } catch {
    return true;
  }
}
