// The converters of search attributes in the official form; the conversions are search_attributes.ts's.
import { type EnumCodec, enumCodec } from "./enum_codecs.ts";
import { ValueError } from "./errors.ts";
import { JsonPayloadConverter, type Payload, type PayloadConverter } from "./payload_converters.ts";
import {
  readTyped,
  readUntyped,
  type SearchAttributePair,
  searchAttributePayloads,
  type SearchAttributes,
  type SearchAttributeType,
  type SearchAttributeUpdatePair,
  type TypedSearchAttributes,
} from "./search_attributes.ts";
import type { Payload as FullPayload } from "../../converter/payload.ts";

const NAME = "value";
const types: EnumCodec<"INDEXED_VALUE_TYPE_", SearchAttributeType> = enumCodec("INDEXED_VALUE_TYPE_", [
  ...["TEXT", "KEYWORD", "INT", "DOUBLE", "BOOL", "DATETIME", "KEYWORD_LIST"] as const,
]);

/** The number by which a server registers a search attribute of this type. Throws a ValueError for another name. */
export const encodeSearchAttributeIndexedValueType: typeof types[0] = types[0];

function full(payload: Payload): FullPayload {
  if (payload.metadata === undefined || payload.metadata === null) throw new ValueError("Missing payload metadata");
  return { metadata: payload.metadata, data: payload.data ?? new Uint8Array(0) };
}

/** Search attributes of the older form. */
export class SearchAttributePayloadConverter implements PayloadConverter {
  /** What writes the values. */
  readonly jsonConverter: JsonPayloadConverter = new JsonPayloadConverter();
  /** What values may be beside dates. */
  readonly validNonDateTypes: string[] = ["string", "number", "boolean"];

  /** The payload of values. Throws a ValueError for what is not a list of values of one type. */
  toPayload(values: unknown): Payload {
    return searchAttributePayloads({ [NAME]: values as string[] }, undefined)[NAME]!;
  }

  /** The values, as a list. */
  fromPayload<T>(payload: Payload): T {
    return readUntyped({ [NAME]: full(payload) })[NAME] as T;
  }
}
/** Search attributes of the older form. */
export const searchAttributePayloadConverter: SearchAttributePayloadConverter = new SearchAttributePayloadConverter();

/** A value with its type. */
export class TypedSearchAttributeValue<T extends SearchAttributeType> {
  /** Its type. */
  readonly type: T;
  /** The value. */
  readonly value: unknown;

  constructor(type: T, value: unknown) {
    this.type = type;
    this.value = value;
  }
}
/** A value with its type; null: it is to have none. */
export class TypedSearchAttributeUpdateValue<T extends SearchAttributeType> extends TypedSearchAttributeValue<T> {}

/** Search attributes with types. */
export class TypedSearchAttributePayloadConverter implements PayloadConverter {
  /** What writes the values. */
  readonly jsonConverter: JsonPayloadConverter = new JsonPayloadConverter();

  /** The payload of a value with its type. */
  toPayload<T>(attribute: T): Payload {
    if (!(attribute instanceof TypedSearchAttributeValue)) {
      throw new ValueError(
        "Expect input to be instance of TypedSearchAttributeValue or TypedSearchAttributeUpdateValue, got: " +
          JSON.stringify(attribute),
      );
    }
    const pair = { key: { name: NAME, type: attribute.type }, value: attribute.value } as SearchAttributeUpdatePair;
    return searchAttributePayloads(undefined, [pair])[NAME]!;
  }

  /** The value with its type; undefined where the payload names none. */
  fromPayload<T>(payload: Payload): T {
    const [pair] = readTyped({ [NAME]: full(payload) }).getAll();
    return (pair === undefined ? undefined : new TypedSearchAttributeValue(pair.key.type, pair.value)) as T;
  }
}
/** Search attributes with types. */
export const typedSearchAttributePayloadConverter: TypedSearchAttributePayloadConverter =
  new TypedSearchAttributePayloadConverter();

type Fields = Record<string, Payload> | undefined | null;
const allFull = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields ?? {}).map(([name, payload]) => [name, full(payload)]));

/** Payloads of both forms; where a name is in both, the typed one counts. */
export function encodeUnifiedSearchAttributes(
  searchAttributes?: SearchAttributes,
  typedSearchAttributes?: TypedSearchAttributes | SearchAttributePair[] | SearchAttributeUpdatePair[],
): Record<string, Payload> {
  return searchAttributePayloads(searchAttributes, typedSearchAttributes as TypedSearchAttributes);
}

/** Search attributes of the older form; without those that are empty. */
export function decodeSearchAttributes(indexedFields: Fields): SearchAttributes {
  const all = readUntyped(allFull(indexedFields));
  return Object.fromEntries(Object.entries(all).filter(([, values]) => values !== undefined && values.length > 0));
}

/** Search attributes that name their type. */
export function decodeTypedSearchAttributes(indexedFields: Fields): TypedSearchAttributes {
  return readTyped(allFull(indexedFields));
}
