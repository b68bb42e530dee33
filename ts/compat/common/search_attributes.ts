// Search attributes of `@temporalio/common`: typed keys and values, and the older form in which
// every value is a list. On the wire they are JSON, with the type in the metadata, whatever the
// program's converter.
import { jsonPayloadConverter, type Payload } from "../../converter/payload.ts";
import { typeOfWire, wireTypeOf } from "../../converter/search_attributes.ts";
import { ValueError } from "./errors.ts";

/** Types of search attributes. */
export const SearchAttributeType = {
  TEXT: "TEXT",
  KEYWORD: "KEYWORD",
  INT: "INT",
  DOUBLE: "DOUBLE",
  BOOL: "BOOL",
  DATETIME: "DATETIME",
  KEYWORD_LIST: "KEYWORD_LIST",
} as const;
/** Types of search attributes. */
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

/** Values without a type, always as a list. */
export type SearchAttributeValue = string[] | number[] | boolean[] | Date[];
/** Same, including read-only lists. */
export type SearchAttributeValueOrReadonly =
  | SearchAttributeValue
  | Readonly<SearchAttributeValue>
  | undefined;
/** Search attributes without types, by name; undefined values are left out. */
export type SearchAttributes = Record<string, SearchAttributeValueOrReadonly>;

/** A search attribute by name and type. */
export interface SearchAttributeKey<T extends SearchAttributeType> {
  /** Registered name. */
  name: string;
  /** Registered type. */
  type: T;
}
/** A key with a value of its type. */
export type SearchAttributePair = {
  [T in SearchAttributeType]: { key: SearchAttributeKey<T>; value: ValueTypes[T] };
}[SearchAttributeType];
/** A change of an attribute; null removes it. */
export type SearchAttributeUpdatePair = {
  [T in SearchAttributeType]: { key: SearchAttributeKey<T>; value: ValueTypes[T] | null };
}[SearchAttributeType];

/** Declares a search attribute. */
export function defineSearchAttributeKey<T extends SearchAttributeType>(
  name: string,
  type: T,
): SearchAttributeKey<T> {
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

/** Search attributes by key. Immutable: `updateCopy` returns a changed copy. */
export class TypedSearchAttributes {
  readonly #entries = new Map<string, SearchAttributePair>();

  constructor(pairs: readonly SearchAttributePair[] = []) {
    for (const pair of pairs) {
      if (this.#entries.has(pair.key.name)) {
        throw new Error(`Duplicate search attribute key: ${pair.key.name}`);
      }
      this.#entries.set(pair.key.name, pair);
    }
  }

  /** Returns the value of a key; undefined without one, and for a value of another type. */
  get<T extends SearchAttributeType>(key: SearchAttributeKey<T>): ValueTypes[T] | undefined {
    const value = this.#entries.get(key.name)?.value;
    return value !== undefined && fits(key.type, value) ? value as ValueTypes[T] : undefined;
  }

  /** Returns copies of all pairs. */
  getAll(): SearchAttributePair[] {
    return [...this.#entries.values()].filter(({ key, value }) => fits(key.type, value)).map(
      copyPair,
    );
  }

  /** Returns a copy. */
  copy(): TypedSearchAttributes {
    return this.updateCopy([]);
  }

  /** Returns a changed copy: null removes an attribute of that name and type. */
  updateCopy(changes: readonly SearchAttributeUpdatePair[]): TypedSearchAttributes {
    const pairs = new Map([...this.#entries].map(([name, pair]) => [name, copyPair(pair)]));
    for (const change of changes) {
      const { name, type } = change.key;
      if (change.value !== null) pairs.set(name, change as SearchAttributePair);
      else if (pairs.get(name)?.key.type === type) pairs.delete(name);
    }
    return new TypedSearchAttributes([...pairs.values()]);
  }

  /** Returns the pairs. */
  toJSON(): SearchAttributePair[] {
    return this.getAll();
  }

  /** Returns the key of values without a type; undefined for invalid values. */
  static getKeyFromUntyped(
    key: string,
    value: SearchAttributeValueOrReadonly,
  ): SearchAttributeKey<SearchAttributeType> | undefined {
    return value === undefined ? undefined : keyOfUntyped(key, value as SearchAttributeValue);
  }

  /** Returns the name of a type in the metadata. */
  static toMetadataType(type: SearchAttributeType): string {
    return text.decode(wireTypeOf(type));
  }

  /** Returns the type of a name in the metadata; undefined for an unknown name. */
  static toSearchAttributeType(type: string): SearchAttributeType | undefined {
    return typeOfWire(new TextEncoder().encode(type));
  }
}

function copyPair({ key, value }: SearchAttributePair): SearchAttributePair {
  const copied = value instanceof Date
    ? new Date(value)
    : Array.isArray(value)
    ? [...value]
    : value;
  return { key: { ...key }, value: copied } as SearchAttributePair;
}

// ---- on the wire

const text = new TextDecoder();

export type Payloads = { [name: string]: Payload };

/** Encodes both forms; the typed one overrides the untyped one of the same name. */
export function searchAttributePayloads(
  untyped: SearchAttributes | undefined,
  typed: TypedSearchAttributes | readonly SearchAttributeUpdatePair[] | undefined,
): Payloads {
  const payloads: Payloads = {};
  for (const [name, values] of Object.entries(untyped ?? {})) {
    if (values === undefined) throw new ValueError("SearchAttribute value must be an array");
    payloads[name] = untypedPayload(values);
  }
  const pairs = typed === undefined
    ? []
    : Array.isArray(typed)
    ? typed
    : (typed as TypedSearchAttributes).getAll();
  for (const { key, value } of pairs as readonly SearchAttributeUpdatePair[]) {
    payloads[key.name] = typedPayload(key.type, value);
  }
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
  // With a type in the metadata, a server would treat null as a value.
  if (value === null) return jsonPayloadConverter.toPayload(null);
  if (!fits(type, value)) {
    throw new ValueError(`Invalid search attribute value ${value} for given type ${type}`);
  }
  const payload = jsonPayloadConverter.toPayload(value);
  return { ...payload, metadata: { ...payload.metadata, type: wireTypeOf(type) } };
}

/** Returns the typed attributes of a start event. */
export function readTyped(fields: Payloads): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [];
  for (const [name, { metadata, data }] of Object.entries(fields)) {
    const type = typeOfWire(metadata["type"]);
    if (type === undefined || data.length === 0) continue;
    let value = JSON.parse(text.decode(data)) as unknown;
    if (type !== "KEYWORD_LIST" && Array.isArray(value)) {
      value = value.length === 1 ? value[0] : undefined;
    }
    if (type === "DATETIME" && typeof value === "string") value = new Date(value);
    if (fits(type, value)) pairs.push({ key: { name, type }, value } as SearchAttributePair);
  }
  return new TypedSearchAttributes(pairs);
}

/** Returns the attributes of a start event as lists; Datetime values as dates. */
export function readUntyped(fields: Payloads): SearchAttributes {
  const lists: SearchAttributes = {};
  for (const [name, { metadata, data }] of Object.entries(fields)) {
    const value = data.length === 0 ? [] : JSON.parse(text.decode(data)) as unknown;
    const list = Array.isArray(value) ? value : [value];
    // Like the official SDK: only the short form of the name.
    const dates = metadata["type"] !== undefined && text.decode(metadata["type"]) === "Datetime";
    lists[name] = (dates
      ? list.map((item) => new Date(item as string))
      : list) as SearchAttributeValue;
  }
  return lists;
}

/** Returns the key of an untyped value; undefined for an invalid one. */
export function keyOfUntyped(
  name: string,
  values: SearchAttributeValue,
): SearchAttributeKey<SearchAttributeType> | undefined {
  const value: unknown = values.length === 1 ? values[0] : values;
  const key = (type: SearchAttributeType) => ({ name, type });
  if (typeof value === "string") return key(Number.isNaN(Date.parse(value)) ? "TEXT" : "DATETIME");
  if (typeof value === "number") return key(Number.isInteger(value) ? "INT" : "DOUBLE");
  if (typeof value === "boolean") return key("BOOL");
  if (value instanceof Date) return key("DATETIME");
  return fits("KEYWORD_LIST", value) ? key("KEYWORD_LIST") : undefined;
}
