// What was thrown, read without trust. JavaScript throws anything: proxies whose traps throw, revoked ones, errors with hostile getters,
// causes in a circle, messages of megabytes. Nothing here throws, whatever it is given, and what it answers has a bounded size.

import { somePrototype } from "./brand.ts";

/** Causes of causes that travel. A server, and the core, refuse messages that are nested about a hundred deep. */
export const MAX_CAUSES = 32;
/** Characters of one message. */
export const MAX_MESSAGE = 64 * 1024;
/** Characters of one stack. */
export const MAX_STACK = 32 * 1024;
/** Characters of names: types of failures, names of errors. */
export const MAX_NAME = 1024;

/** `value[name]`; undefined where that cannot be read. */
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

/** `value instanceof type`, with a bound; false where that cannot be asked. */
export function isA<T>(value: unknown, type: Class<T>): value is T {
  try {
    if (type[Symbol.hasInstance] !== ordinary) return value instanceof type;
    return somePrototype(value, (proto) => proto === type.prototype);
  } catch {
    return false;
  }
}

/** Text that UTF-8 can carry: lone surrogates are replaced, and what is longer than `max` characters is cut, and says so. */
export function safeText(text: string, max: number = MAX_MESSAGE): string {
  const cut = text.length > max ? `${text.slice(0, max)}... (${text.length - max} more characters)` : text;
  return cut.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Its name, as text; "Error" where there is none. */
export function nameOf(error: unknown): string {
  const name = read(error, "name");
  return typeof name === "string" && name !== "" ? safeText(name, MAX_NAME) : "Error";
}

/** What an error says, or in words what else was thrown. */
export function messageOf(error: unknown): string {
  if (!isA(error, Error)) return safeText(typeof error === "string" ? error : describeValue(error));
  const message = read(error, "message");
  if (typeof message === "string") return safeText(message);
  return message === undefined ? "(the error's message cannot be read)" : safeText(describeValue(message));
}

/** Its stack, as the engine wrote it; empty where there is none. */
export function stackOf(error: unknown): string {
  const stack = read(error, "stack");
  return typeof stack === "string" ? stack : "";
}

/** "Name: message" of an error, and in words what else was thrown. */
export function errorText(error: unknown): string {
  return isA(error, Error) ? `${nameOf(error)}: ${messageOf(error)}` : messageOf(error);
}

/** A value in words: JSON where it has some, otherwise what it calls itself. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const json = JSON.stringify(value);
    if (typeof json === "string") return json;
  } catch {
    // What it calls itself is asked for below.
  }
  try {
    return String(value);
  } catch {
    return typeof value === "object" ? "an object that cannot be read" : `a ${typeof value} that cannot be read`;
  }
}

/** Calls `visit` with an error, its cause, and so on: each once, and not more than `MAX_CAUSES`. Answers the first that `visit` takes. */
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

/** The error itself where others can read it (loggers, listeners); otherwise one that says what could be read. */
export function readable(error: unknown): unknown {
  if (!isA(error, Error)) return typeof error === "object" || typeof error === "function" ? messageOf(error) : error;
  const said = ["name", "message", "stack"].every((field) => ["string", "undefined"].includes(typeof read(error, field)));
  if (said && read(error, "message") !== undefined && !throws(() => error.cause)) return error;
  const plain = new Error(messageOf(error));
  plain.name = nameOf(error);
  plain.stack = stackOf(error);
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
