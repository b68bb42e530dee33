// Typed search attributes: a key has the name and the registered type, so that written values fit
// and read values have that type. On the wire a value is JSON with its type in the metadata, with
// every converter, because the service indexes it. Pure: runs inside workflow realms.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { jsonPayloadConverter, type Payload } from "./payload.ts";

/** Types of search attributes and of their values. */
export interface SearchAttributeTypes {
  /** Text, searchable by words. */
  TEXT: string;
  /** Text, compared as a whole. */
  KEYWORD: string;
  /** Integer, up to 2^53 - 1. */
  INT: number;
  /** Floating-point number. */
  DOUBLE: number;
  /** true or false. */
  BOOL: boolean;
  /** Time, in milliseconds. */
  DATETIME: Date;
  KEYWORD_LIST: readonly string[];
}
/** Name of a type of search attributes. */
export type SearchAttributeType = keyof SearchAttributeTypes;

/** A search attribute by name and type; created by {@link defineSearchAttributeKey}. */
export interface SearchAttributeKey<T extends SearchAttributeType = SearchAttributeType> {
  /** Registered name. */
  readonly name: string;
  /** Registered type. */
  readonly type: T;
}

/** A key with a value of its type. */
export type SearchAttributePair = {
  [T in SearchAttributeType]: {
    readonly key: SearchAttributeKey<T>;
    readonly value: SearchAttributeTypes[T];
  };
}[SearchAttributeType];

/**
 * Value of an untyped search attribute: an integer is an Int, another number a Double, a string a
 * Keyword.
 */
export type SearchAttributeValue = string | number | boolean | Date | readonly string[];

/**
 * Search attributes of starts and schedules: keys with values, attributes read elsewhere, or names
 * with untyped values.
 */
export type SearchAttributes =
  | readonly SearchAttributePair[]
  | TypedSearchAttributes
  | { readonly [name: string]: SearchAttributeValue };

/** A key with a value of its type; null removes the value. */
export type SearchAttributeChange = {
  [T in SearchAttributeType]: {
    readonly key: SearchAttributeKey<T>;
    readonly value: SearchAttributeTypes[T] | null;
  };
}[SearchAttributeType];

/**
 * Argument of an upsert: keys with values, attributes read elsewhere, or names with untyped values;
 * null removes a value.
 */
export type SearchAttributeChanges =
  | readonly SearchAttributeChange[]
  | TypedSearchAttributes
  | { readonly [name: string]: SearchAttributeValue | null };

const PAIR: OptionNames<SearchAttributePair> = { key: 1, value: 1 };

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Names of types in the metadata. */
const NAMES: { readonly [T in SearchAttributeType]: string } = {
  TEXT: "Text",
  KEYWORD: "Keyword",
  INT: "Int",
  DOUBLE: "Double",
  BOOL: "Bool",
  DATETIME: "Datetime",
  KEYWORD_LIST: "KeywordList",
};
const TYPES = Object.keys(NAMES) as SearchAttributeType[];

/** @internal Returns the bytes for a type in the metadata. */
export const wireTypeOf = (type: SearchAttributeType): Uint8Array => utf8.encode(NAMES[type]);

/**
 * @internal Returns the type for bytes in the metadata, in the short form or that of the
 * enumeration; undefined for others.
 */
export function typeOfWire(bytes: Uint8Array | undefined): SearchAttributeType | undefined {
  if (bytes === undefined) return undefined;
  const name = text.decode(bytes);
  return TYPES.find((type) => NAMES[type] === name || `INDEXED_VALUE_TYPE_${type}` === name);
}

/**
 * Declares a search attribute once, for workflows, clients and schedules. A cluster needs it
 * registered with the same name and type (`temporal operator search-attribute create --name
 * Customer --type Keyword`).
 *
 * @example
 * export const customer = defineSearchAttributeKey("Customer", "KEYWORD");
 * await client.start(order, { id: "order-1", args: [items], searchAttributes: [{ key: customer, value: "ada" }] });
 * const { typedSearchAttributes } = await client.getHandle(order, "order-1").describe();
 * typedSearchAttributes.get(customer); // string | undefined
 */
export function defineSearchAttributeKey<T extends SearchAttributeType>(
  name: string,
  type: T,
): SearchAttributeKey<T> {
  if (typeof name !== "string" || name === "") {
    throw new TypeError("a search attribute needs the name under which it is registered");
  }
  if (!TYPES.includes(type)) {
    throw new TypeError(
      `search attribute "${name}" has the type ${JSON.stringify(type)}; the types are ${
        TYPES.join(", ")
      }`,
    );
  }
  return Object.freeze({ name, type });
}

/** Describes what is wrong with a value of this type; undefined for a valid value. */
function problemOf(type: SearchAttributeType, value: unknown): string | undefined {
  switch (type) {
    case "TEXT":
    case "KEYWORD":
      return typeof value === "string" ? undefined : "is not a string";
    case "INT":
      if (typeof value !== "number") return "is not a number";
      return Number.isSafeInteger(value) ? undefined : "is not a safe integer";
    case "DOUBLE":
      return typeof value === "number" && Number.isFinite(value)
        ? undefined
        : "is not a finite number";
    case "BOOL":
      return typeof value === "boolean" ? undefined : "is not a boolean";
    case "DATETIME":
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? undefined
        : "is not a valid Date";
    case "KEYWORD_LIST":
      return Array.isArray(value) && value.every((each) => typeof each === "string")
        ? undefined
        : "is not an array of strings";
  }
}

/** Returns the type of an untyped value. */
function typeOf(value: unknown): SearchAttributeType | undefined {
  const guesses: SearchAttributeType[] = [
    "KEYWORD",
    "INT",
    "DOUBLE",
    "BOOL",
    "DATETIME",
    "KEYWORD_LIST",
  ];
  return guesses.find((type) => problemOf(type, value) === undefined);
}

function toPayload(name: string, type: SearchAttributeType, value: unknown): Payload {
  const problem = problemOf(type, value);
  if (problem !== undefined) {
    throw new TypeError(`search attribute "${name}" is of type ${type}, and its value ${problem}`);
  }
  const payload = jsonPayloadConverter.toPayload(
    value instanceof Date ? value.toISOString() : value,
  );
  return { ...payload, metadata: { ...payload.metadata, type: wireTypeOf(type) } };
}

/** Returns payloads by name. Throws a TypeError for an invalid value and for a duplicate key. */
export function toSearchAttributePayloads(
  attributes: SearchAttributes,
): { [name: string]: Payload } {
  const payloads: { [name: string]: Payload } = {};
  // Not by class: the attributes may be from another copy of this package.
  if (typeof (attributes as TypedSearchAttributes).toPayloads === "function") {
    return (attributes as TypedSearchAttributes).toPayloads();
  }
  if (Array.isArray(attributes)) {
    for (const pair of attributes as readonly SearchAttributePair[]) {
      rejectUnknownOptions("a search attribute", pair, PAIR);
      const { key, value } = pair;
      if (Object.hasOwn(payloads, key.name)) {
        throw new TypeError(`search attribute "${key.name}" is set twice`);
      }
      payloads[key.name] = toPayload(key.name, key.type, value);
    }
    return payloads;
  }
  for (const [name, value] of Object.entries(attributes)) {
    const type = typeOf(value);
    if (type === undefined) {
      throw new TypeError(
        `search attribute "${name}" is not a string, number, boolean, valid Date or array of strings; omit the attribute to leave it unset`,
      );
    }
    payloads[name] = toPayload(name, type, value);
  }
  return payloads;
}

/** Same as {@link toSearchAttributePayloads}; null becomes the payload that removes a value. */
export function toSearchAttributeChanges(
  changes: SearchAttributeChanges,
): { [name: string]: Payload } {
  if (typeof changes !== "object" || changes === null) {
    throw new TypeError(
      "search attributes must be an array of { key, value } or an object that maps names to values",
    );
  }
  if (typeof (changes as TypedSearchAttributes).toPayloads === "function") {
    return (changes as TypedSearchAttributes).toPayloads();
  }
  const payloads: { [name: string]: Payload } = {};
  const isList = Array.isArray(changes);
  const entries = isList
    ? (changes as readonly SearchAttributeChange[]).map((change) =>
      [change.key.name, change.value, change] as const
    )
    : Object.entries(changes as { readonly [name: string]: SearchAttributeValue | null })
      .map(([name, value]) => [name, value, { [name]: value }] as const);
  for (const [name, value, change] of entries) {
    if (Object.hasOwn(payloads, name)) {
      throw new TypeError(`search attribute "${name}" is set twice`);
    }
    // With a type in the metadata, a service would treat it as a value.
    if (value === null) payloads[name] = jsonPayloadConverter.toPayload(null);
    else {Object.assign(
        payloads,
        toSearchAttributePayloads((isList ? [change] : change) as SearchAttributes),
      );}
  }
  return payloads;
}

interface Entry {
  readonly type: SearchAttributeType | undefined;
  readonly value: unknown;
}

/** Search attributes that were read, accessible by key. */
export class TypedSearchAttributes {
  readonly #entries = new Map<string, Entry>();

  /** Created by descriptions, lists and `workflowInfo()`, or from keys with values. */
  constructor(attributes: Iterable<SearchAttributePair> = []) {
    for (const pair of attributes) {
      rejectUnknownOptions("a search attribute", pair, PAIR);
      const { key, value } = pair;
      this.#entries.set(key.name, { type: key.type, value });
    }
  }

  /** Decodes the attributes of a service. Skips values that cannot be read. */
  static fromPayloads(payloads: { readonly [name: string]: Payload }): TypedSearchAttributes {
    const read = new TypedSearchAttributes();
    for (const [name, payload] of Object.entries(payloads)) {
      const type = typeOfWire(payload.metadata["type"]);
      try {
        const value = jsonPayloadConverter.fromPayload(payload);
        if (value !== undefined && value !== null) read.#entries.set(name, { type, value });
      } catch {
        // Another encoding: unknown type.
      }
    }
    return read;
  }

  /**
   * Returns the value of a key; undefined without one. Throws a TypeError if the service has it
   * with another type.
   */
  get<T extends SearchAttributeType>(
    key: SearchAttributeKey<T>,
  ): SearchAttributeTypes[T] | undefined {
    const entry = this.#entries.get(key.name);
    if (entry === undefined) return undefined;
    const value = read(key.type, entry.value);
    if (problemOf(key.type, value) !== undefined) {
      const known = entry.type === undefined
        ? "has a value of another type"
        : `is of type ${entry.type}`;
      throw new TypeError(
        `search attribute "${key.name}" ${known}, but was read as ${key.type}; correct the type of the key`,
      );
    }
    return value as SearchAttributeTypes[T];
  }

  /** Returns whether the key has a value. */
  has(key: SearchAttributeKey): boolean {
    return this.#entries.has(key.name);
  }

  /** Returns all attributes of known types. */
  getAll(): SearchAttributePair[] {
    return [...this.#entries].flatMap(([name, { type, value }]) =>
      type === undefined
        ? []
        : [{ key: { name, type }, value: read(type, value) } as SearchAttributePair]
    );
  }

  /** Returns payloads by name, for requests. */
  toPayloads(): { [name: string]: Payload } {
    return toSearchAttributePayloads(this.getAll());
  }

  /** Returns values by name, for logs and JSON. */
  toJSON(): { [name: string]: unknown } {
    return Object.fromEntries([...this.#entries].map(([name, { value }]) => [name, value]));
  }
}

/**
 * Converts a value to its type: a service stores times as text and may return a single keyword of a
 * list alone.
 */
function read(type: SearchAttributeType, value: unknown): unknown {
  if (type === "DATETIME" && typeof value === "string") return new Date(value);
  if (type === "KEYWORD_LIST" && typeof value === "string") return [value];
  return value;
}
