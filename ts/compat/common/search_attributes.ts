// Search attributes of `@temporalio/common`: keys with types, values read by key, and the older form in which every value is a list. On the
// wire they are JSON whatever the program's own converter does, with the type's name beside a typed value.
import { jsonPayloadConverter, type Payload } from "../../converter/payload.ts";
import { typeOfWire, wireTypeOf } from "../../converter/search_attributes.ts";
import { ValueError } from "./errors.ts";

/** The types of search attributes. */
export const SearchAttributeType = {
  TEXT: "TEXT",
  KEYWORD: "KEYWORD",
  INT: "INT",
  DOUBLE: "DOUBLE",
  BOOL: "BOOL",
  DATETIME: "DATETIME",
  KEYWORD_LIST: "KEYWORD_LIST",
} as const;
/** The types of search attributes. */
export type SearchAttributeType = keyof typeof SearchAttributeType;

interface ValueTypes {
  TEXT: string;
  KEYWORD: string;
  INT: number;
  DOUBLE: number;
  BOOL: boolean;
  DATETIME: Date;
  KEYWORD_LIST: string[];
}

/** Values of a search attribute of the older form; also a single one comes as a list. */
export type SearchAttributeValue = string[] | number[] | boolean[] | Date[];
/** The same, also where it may not be changed. */
export type SearchAttributeValueOrReadonly = SearchAttributeValue | Readonly<SearchAttributeValue> | undefined;
/** Search attributes of the older form, by name; undefined: left out. */
export type SearchAttributes = Record<string, SearchAttributeValueOrReadonly>;

/** A search attribute by name and type. */
export interface SearchAttributeKey<T extends SearchAttributeType> {
  /** The name under which it is registered. */
  name: string;
  /** The type under which it is registered. */
  type: T;
}
/** A key with a value of its type. */
export type SearchAttributePair = {
  [T in SearchAttributeType]: { key: SearchAttributeKey<T>; value: ValueTypes[T] };
}[SearchAttributeType];
/** null removes the attribute. */
export type SearchAttributeUpdatePair = {
  [T in SearchAttributeType]: { key: SearchAttributeKey<T>; value: ValueTypes[T] | null };
}[SearchAttributeType];

/** Declares a search attribute. */
export function defineSearchAttributeKey<T extends SearchAttributeType>(name: string, type: T): SearchAttributeKey<T> {
  return { name, type };
}

function fits(type: SearchAttributeType, value: unknown): boolean {
  switch (type) {
    case "TEXT":
    case "KEYWORD":
      return typeof value === "string";
    case "INT":
      return Number.isInteger(value);
    case "DOUBLE":
      return typeof value === "number";
    case "BOOL":
      return typeof value === "boolean";
    case "DATETIME":
      return value instanceof Date;
    case "KEYWORD_LIST":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
  }
}

/** Search attributes by key. Never changed: `updateCopy` makes another one. */
export class TypedSearchAttributes {
  readonly #entries = new Map<string, SearchAttributePair>();

  constructor(pairs: readonly SearchAttributePair[] = []) {
    for (const pair of pairs) {
      if (this.#entries.has(pair.key.name)) throw new Error(`Duplicate search attribute key: ${pair.key.name}`);
      this.#entries.set(pair.key.name, pair);
    }
  }

  /** Undefined where there is none, and where the value is not of the key's type. */
  get<T extends SearchAttributeType>(key: SearchAttributeKey<T>): ValueTypes[T] | undefined {
    const value = this.#entries.get(key.name)?.value;
    return value !== undefined && fits(key.type, value) ? value as ValueTypes[T] : undefined;
  }

  /** All pairs, as copies. */
  getAll(): SearchAttributePair[] {
    return [...this.#entries.values()].filter(({ key, value }) => fits(key.type, value)).map(copyOf);
  }

  /** Another object with the same pairs. */
  copy(): TypedSearchAttributes {
    return this.updateCopy([]);
  }

  /** A copy with changes: null removes an attribute of that name and type. */
  updateCopy(changes: readonly SearchAttributeUpdatePair[]): TypedSearchAttributes {
    const pairs = new Map([...this.#entries].map(([name, pair]) => [name, copyOf(pair)]));
    for (const change of changes) {
      const { name, type } = change.key;
      if (change.value !== null) pairs.set(name, change as SearchAttributePair);
      else if (pairs.get(name)?.key.type === type) pairs.delete(name);
    }
    return new TypedSearchAttributes([...pairs.values()]);
  }

  /** The pairs. */
  toJSON(): SearchAttributePair[] {
    return this.getAll();
  }

  /** The key that values of the older form go by; undefined for values that have no type. */
  static getKeyFromUntyped(
    key: string,
    value: SearchAttributeValueOrReadonly,
  ): SearchAttributeKey<SearchAttributeType> | undefined {
    return value === undefined ? undefined : keyOfUntyped(key, value as SearchAttributeValue);
  }

  /** How a type is named beside a value. */
  static toMetadataType(type: SearchAttributeType): string {
    return text.decode(wireTypeOf(type));
  }

  /** The type of a name beside a value; undefined for another name. */
  static toSearchAttributeType(type: string): SearchAttributeType | undefined {
    return typeOfWire(new TextEncoder().encode(type));
  }
}

function copyOf({ key, value }: SearchAttributePair): SearchAttributePair {
  const copied = value instanceof Date ? new Date(value) : Array.isArray(value) ? [...value] : value;
  return { key: { ...key }, value: copied } as SearchAttributePair;
}

// ----------------------------------------------------------------------------------------------------------------- on the wire

const text = new TextDecoder();

export type Payloads = { [name: string]: Payload };

/** Payloads of both forms; where a name is in both, the typed one counts. */
export function searchAttributePayloads(
  untyped: SearchAttributes | undefined,
  typed: TypedSearchAttributes | readonly SearchAttributeUpdatePair[] | undefined,
): Payloads {
  const payloads: Payloads = {};
  for (const [name, values] of Object.entries(untyped ?? {})) {
    if (values === undefined) throw new ValueError("SearchAttribute value must be an array");
    payloads[name] = untypedPayload(values);
  }
  const pairs = typed === undefined ? [] : Array.isArray(typed) ? typed : (typed as TypedSearchAttributes).getAll();
  for (const { key, value } of pairs as readonly SearchAttributeUpdatePair[]) payloads[key.name] = typedPayload(key.type, value);
  return payloads;
}

function untypedPayload(values: unknown): Payload {
  if (!Array.isArray(values)) throw new ValueError("SearchAttribute value must be an array");
  const kind = (value: unknown) => value instanceof Date ? "Date" : typeof value;
  const first = kind(values[0]);
  if (values.length > 0 && !["string", "number", "boolean", "Date"].includes(first)) {
    throw new ValueError("SearchAttribute array values must be: string | number | boolean | Date");
  }
  if (values.some((value) => kind(value) !== first)) {
    throw new ValueError("All SearchAttribute array values must be of the same type");
  }
  return jsonPayloadConverter.toPayload(values);
}

function typedPayload(type: SearchAttributeType, value: unknown): Payload {
  // With a type beside it, a server would take null for a value.
  if (value === null) return jsonPayloadConverter.toPayload(null);
  if (!fits(type, value)) throw new ValueError(`Invalid search attribute value ${value} for given type ${type}`);
  const payload = jsonPayloadConverter.toPayload(value);
  return { ...payload, metadata: { ...payload.metadata, type: wireTypeOf(type) } };
}

/** Those of a start event that name their type. */
export function readTyped(fields: Payloads): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [];
  for (const [name, { metadata, data }] of Object.entries(fields)) {
    const type = typeOfWire(metadata["type"]);
    if (type === undefined || data.length === 0) continue;
    let value = JSON.parse(text.decode(data)) as unknown;
    if (type !== "KEYWORD_LIST" && Array.isArray(value)) value = value.length === 1 ? value[0] : undefined;
    if (type === "DATETIME" && typeof value === "string") value = new Date(value);
    if (fits(type, value)) pairs.push({ key: { name, type }, value } as SearchAttributePair);
  }
  return new TypedSearchAttributes(pairs);
}

/** Those of a start event, each as a list; Datetime ones as dates. */
export function readUntyped(fields: Payloads): SearchAttributes {
  const lists: SearchAttributes = {};
  for (const [name, { metadata, data }] of Object.entries(fields)) {
    const value = data.length === 0 ? [] : JSON.parse(text.decode(data)) as unknown;
    const list = Array.isArray(value) ? value : [value];
    // As the official SDK: the short form of the name alone.
    const dates = metadata["type"] !== undefined && text.decode(metadata["type"]) === "Datetime";
    lists[name] = (dates ? list.map((item) => new Date(item as string)) : list) as SearchAttributeValue;
  }
  return lists;
}

/** The key that an untyped value goes by; undefined for one that has no type. */
export function keyOfUntyped(name: string, values: SearchAttributeValue): SearchAttributeKey<SearchAttributeType> | undefined {
  const value: unknown = values.length === 1 ? values[0] : values;
  const key = (type: SearchAttributeType) => ({ name, type });
  if (typeof value === "string") return key(Number.isNaN(Date.parse(value)) ? "TEXT" : "DATETIME");
  if (typeof value === "number") return key(Number.isInteger(value) ? "INT" : "DOUBLE");
  if (typeof value === "boolean") return key("BOOL");
  if (value instanceof Date) return key("DATETIME");
  return fits("KEYWORD_LIST", value) ? key("KEYWORD_LIST") : undefined;
}
