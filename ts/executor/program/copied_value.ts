// Copies values of workflow code as JSON text, for debug sessions. A copy must not affect the code:
// it calls no getter or method of the value and touches no Proxy. Values without a JSON form are
// strings in angle brackets: "<undefined>", "<12n>", "<function charge>", "<getter>", "<circular>",
// "<Promise>". Maps, sets and class instances are objects with a first key of that form.
import { LazyAwait } from "./lazy_await.ts";

export interface CopiedText {
  /** JSON. */
  readonly text: string;
  /** Parts were omitted because of size or depth. */
  readonly cut: boolean;
}

const MAX_DEPTH = 8;
/**
 * Longer lists keep the first and the last elements, so that growing lists do not cost more each
 * time.
 */
const FIRST = 40, LAST = 10;
const MAX_FIELDS = 100;

// Captured before workflow code can replace them.
const { getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
const { isArray } = Array;
const { stringify } = JSON;
const uncurried = <T, A extends unknown[], R>(
  method: (this: T, ...args: A) => R,
): (self: T, ...args: A) => R => Function.prototype.call.bind(method) as (self: T, ...args: A) => R;
const getter = <T>(prototype: object, name: string) =>
  uncurried(getOwnPropertyDescriptor(prototype, name)!.get! as () => T);
const mapSize = getter<number>(Map.prototype, "size");
const mapForEach = uncurried(Map.prototype.forEach);
const setSize = getter<number>(Set.prototype, "size");
const setForEach = uncurried(Set.prototype.forEach);
const timeOf = uncurried(Date.prototype.getTime);
const isoOf = uncurried(Date.prototype.toISOString);
const byteLengthOf = getter<number>(getPrototypeOf(Uint8Array.prototype) as object, "byteLength");
const sourceOf = uncurried(RegExp.prototype.toString);
const slice = uncurried(String.prototype.slice);
const proxies = new WeakSet<object>();
const isProxy = uncurried(WeakSet.prototype.has).bind(undefined, proxies) as (
  value: object,
) => boolean;
const noteProxy = uncurried(WeakSet.prototype.add).bind(undefined, proxies) as (
  value: object,
) => void;

/**
 * Records all proxies from now on; no other check avoids running their code. Called before workflow
 * code is loaded; `Proxy` behaves the same afterwards.
 */
export function watchProxies(): void {
  const Real = globalThis.Proxy;
  const { construct } = Reflect;
  const { revocable } = Real;
  Real.revocable = new Real(revocable, {
    apply(_target, _self, args: [object, ProxyHandler<object>]) {
      const made = revocable(...args);
      noteProxy(made.proxy);
      return made;
    },
  });
  globalThis.Proxy = new Real(Real, {
    construct(target, args, newTarget) {
      const made = construct(target, args, newTarget) as object;
      noteProxy(made);
      return made;
    },
  });
}

/** Returns a value as text of about `limit` characters. Never throws. */
export function copiedText(value: unknown, limit: number): CopiedText {
  if (typeof value === "number" && value - value === 0) return { text: `${value}`, cut: false };
  if (typeof value === "string" && value.length < 64) return { text: stringify(value), cut: false };
  if (typeof value === "boolean" || value === null) return { text: `${value}`, cut: false };
  const copier = new Copier(limit);
  try {
    copier.put(value, 0);
  } catch {
    // An object that throws on inspection (a host object) must not fail a replay.
    return { text: '"<unreadable>"', cut: true };
  }
  return { text: copier.text, cut: copier.cut };
}

const MISTAKES = [TypeError, ReferenceError, RangeError, SyntaxError].map((
  { name, prototype },
) => ({
  name,
  prototype: prototype as object,
}));

/**
 * Returns class and message of an error that JavaScript throws for a mistake in code; undefined for
 * other values. Calls no user code.
 */
export function readMistake(
  value: unknown,
): { readonly name: string; readonly message: string } | undefined {
  if (typeof value !== "object" || value === null || isProxy(value)) return undefined;
  const prototype = getPrototypeOf(value) as unknown;
  const found = MISTAKES.find((one) => one.prototype === prototype);
  const message = getOwnPropertyDescriptor(value, "message")?.value as unknown;
  return found === undefined || typeof message !== "string"
    ? undefined
    : { name: found.name, message };
}

/** Whether the value is a Promise of the language with the original `then`. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== "object" || value === null || isProxy(value)) return false;
  return getPrototypeOf(value) === promisePrototype &&
    getOwnPropertyDescriptor(value, "then") === undefined &&
    getOwnPropertyDescriptor(value, "constructor") === undefined;
}

const promisePrototype = Promise.prototype;

class Copier {
  text = "";
  cut = false;
  #left: number;
  readonly #inside: object[] = [];

  constructor(limit: number) {
    this.#left = limit;
  }

  #write(text: string): void {
    this.text += text;
    this.#left -= text.length;
  }

  put(value: unknown, depth: number): void {
    switch (typeof value) {
      case "string":
        return this.#string(value);
      case "number":
        return this.#write(value - value === 0 ? `${value}` : `"<${value}>"`);
      case "boolean":
        return this.#write(`${value}`);
      case "undefined":
        return this.#write('"<undefined>"');
      case "bigint":
        return this.#write(`"<${value}n>"`);
      case "symbol":
        return this.#write('"<symbol>"');
      case "function":
        return this.#write(
          stringify(`<function ${isProxy(value) ? "" : nameOf(value)}>`.replace(" >", ">")),
        );
    }
    if (value === null) return this.#write("null");
    this.#object(value as object, depth);
  }

  #string(value: string): void {
    const room = this.#left > 16 ? this.#left - 8 : 8;
    if (value.length <= room) return this.#write(stringify(value));
    this.cut = true;
    this.#write(stringify(`${slice(value, 0, room)}…`));
  }

  #object(value: object, depth: number): void {
    if (isProxy(value)) return this.#write('"<Proxy>"');
    if (this.#inside.includes(value)) return this.#write('"<circular>"');
    if (depth >= MAX_DEPTH || this.#left <= 0) {
      this.cut = true;
      return this.#write('"<…>"');
    }
    this.#inside.push(value);
    if (isArray(value)) this.#array(value, depth);
    else this.#other(value, depth);
    this.#inside.pop();
  }

  #array(value: object, depth: number): void {
    const length = dataOf(value, "length") as number;
    this.#write("[");
    for (let i = 0; i < length; i++) {
      if (i > 0) this.#write(",");
      if (i === FIRST && length > FIRST + LAST) {
        this.cut = true;
        i = length - LAST;
        this.#write(`"<${i - FIRST} more>",`);
      }
      if (this.#left <= 16) {
        this.cut = true;
        this.#write(`"<${length - i} more>"`);
        break;
      }
      this.#property(value, `${i}`, depth);
    }
    this.#write("]");
  }

  /** Copies an object that is not an array: by its internal slots, then by its class. */
  #other(value: object, depth: number): void {
    const prototype = getPrototypeOf(value) as object | null;
    const name = prototype === null || prototype === Object.prototype
      ? ""
      : isProxy(prototype)
      ? "Proxy"
      : errorName(value) || className(prototype);
    if (name === "") return this.#fields(value, "", depth);
    if (isPlainPromise(value) || LazyAwait.promiseIn(value) !== undefined) {
      return this.#write('"<Promise>"');
    }
    const time = tried(() => timeOf(value as Date));
    if (time !== undefined) {
      return this.#write(`"<Date ${time - time === 0 ? isoOf(value as Date) : "invalid"}>"`);
    }
    const size = tried(() => mapSize(value as Map<unknown, unknown>));
    if (size !== undefined) {
      return this.#items(
        `<Map ${size}>`,
        size,
        (each) => mapForEach(value as Map<unknown, unknown>, (v, k) => each([k, v])),
        depth,
      );
    }
    const members = tried(() => setSize(value as Set<unknown>));
    if (members !== undefined) {
      return this.#items(
        `<Set ${members}>`,
        members,
        (each) => setForEach(value as Set<unknown>, (v) => each(v)),
        depth,
      );
    }
    const bytes = tried(() => byteLengthOf(value as Uint8Array));
    if (bytes !== undefined) return this.#write(stringify(`<${name} of ${bytes} bytes>`));
    const isRegExp = prototype === RegExp.prototype &&
      getOwnPropertyDescriptor(value, "source") === undefined;
    if (isRegExp) {
      return this.#write(stringify(tried(() => sourceOf(value as RegExp)) ?? "<RegExp>"));
    }
    this.#fields(value, `<${name}>`, depth);
  }

  #items(
    head: string,
    size: number,
    forEach: (each: (item: unknown) => void) => void,
    depth: number,
  ): void {
    this.#write(`{${stringify(head)}:[`);
    let i = 0;
    let full = false;
    forEach((item) => {
      if (full) return;
      if (i > 0) this.#write(",");
      full = this.#left <= 16 || i >= FIRST + LAST;
      if (full) {
        this.cut = true;
        return this.#write(`"<${size - i} more>"`);
      }
      i++;
      this.put(item, depth + 1);
    });
    this.#write("]}");
  }

  #fields(value: object, head: string, depth: number): void {
    this.#write(head === "" ? "{" : `{${stringify(head)}:""`);
    const names = keys(value);
    // An error's message is not enumerable.
    if (head !== "" && getOwnPropertyDescriptor(value, "stack") !== undefined) {
      names.unshift("message");
    }
    let first = head === "";
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      const descriptor = getOwnPropertyDescriptor(value, name);
      if (descriptor === undefined || ("value" in descriptor && descriptor.value === undefined)) {
        continue;
      }
      if (!first) this.#write(",");
      first = false;
      if (this.#left <= 16 || i >= MAX_FIELDS) {
        this.cut = true;
        this.#write(`"<…>":"<${names.length - i} more>"`);
        break;
      }
      this.#write(`${stringify(name.length > 200 ? `${slice(name, 0, 200)}…` : name)}:`);
      if ("value" in descriptor) this.put(descriptor.value, depth + 1);
      else this.#write('"<getter>"');
    }
    this.#write("}");
  }

  #property(value: object, name: string, depth: number): void {
    const descriptor = getOwnPropertyDescriptor(value, name);
    if (descriptor === undefined) this.#write('"<empty>"');
    else if ("value" in descriptor) this.put(descriptor.value, depth + 1);
    else this.#write('"<getter>"');
  }
}

/** The value of an own property that is not a getter. */
function dataOf(value: object, name: string): unknown {
  const descriptor = getOwnPropertyDescriptor(value, name);
  return descriptor !== undefined && "value" in descriptor ? descriptor.value : undefined;
}

const MAX_CLASSES = 10;

function nameOf(value: object): string {
  const name = dataOf(value, "name");
  return typeof name === "string" ? slice(name, 0, 100) : "";
}

/**
 * The name that an error or its classes have set; "" for others. Classes of this package have other
 * names in a minified bundle.
 */
function errorName(value: object): string {
  if (getOwnPropertyDescriptor(value, "stack") === undefined) return "";
  let at: object | null = value;
  for (let depth = 0; at !== null && at !== Error.prototype && depth < MAX_CLASSES; depth++) {
    if (isProxy(at)) return "";
    const name = nameOf(at);
    if (name !== "") return name;
    at = getPrototypeOf(at) as object | null;
  }
  return "";
}

function className(prototype: object): string {
  const constructor = dataOf(prototype, "constructor");
  return typeof constructor === "function" && !isProxy(constructor)
    ? nameOf(constructor) || "object"
    : "object";
}

/** Undefined if the value is not an instance of the method's class. */
function tried<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
