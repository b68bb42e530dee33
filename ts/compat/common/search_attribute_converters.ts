// Converter classes of search attributes in the official form, over search_attributes.ts.
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
const types: EnumCodec<"INDEXED_VALUE_TYPE_", SearchAttributeType> = enumCodec(
  "INDEXED_VALUE_TYPE_",
  [
    ...["TEXT", "KEYWORD", "INT", "DOUBLE", "BOOL", "DATETIME", "KEYWORD_LIST"] as const,
  ],
);

/** Returns the number of a search attribute type. Throws a ValueError for an unknown name. */
export const encodeSearchAttributeIndexedValueType: typeof types[0] = types[0];

function requireMetadata(payload: Payload): FullPayload {
  if (payload.metadata === undefined || payload.metadata === null) {
    throw new ValueError("Missing payload metadata");
  }
  return { metadata: payload.metadata, data: payload.data ?? new Uint8Array(0) };
}

/** Converts search attributes without types. */
export class SearchAttributePayloadConverter implements PayloadConverter {
  readonly jsonConverter: JsonPayloadConverter = new JsonPayloadConverter();
  /** Allowed types in addition to dates. */
  readonly validNonDateTypes: string[] = ["string", "number", "boolean"];

  /** Encodes values. Throws a ValueError unless they are a list of values of one type. */
  toPayload(values: unknown): Payload {
    return searchAttributePayloads({ [NAME]: values as string[] }, undefined)[NAME]!;
  }

  /** Decodes values, as a list. */
  fromPayload<T>(payload: Payload): T {
    return readUntyped({ [NAME]: requireMetadata(payload) })[NAME] as T;
  }
}
/** Converter of search attributes without types. */
export const searchAttributePayloadConverter: SearchAttributePayloadConverter =
  new SearchAttributePayloadConverter();

/** A value with its type. */
export class TypedSearchAttributeValue<T extends SearchAttributeType> {
  readonly type: T;
  readonly value: unknown;

  constructor(type: T, value: unknown) {
    this.type = type;
    this.value = value;
  }
}
/** A value with its type; null removes the value. */
export class TypedSearchAttributeUpdateValue<T extends SearchAttributeType>
  extends TypedSearchAttributeValue<T> {}

/** Converts search attributes with types. */
export class TypedSearchAttributePayloadConverter implements PayloadConverter {
  readonly jsonConverter: JsonPayloadConverter = new JsonPayloadConverter();

  /** Encodes a value with its type. */
  toPayload<T>(attribute: T): Payload {
    if (!(attribute instanceof TypedSearchAttributeValue)) {
      throw new ValueError(
        "Expect input to be instance of TypedSearchAttributeValue or TypedSearchAttributeUpdateValue, got: " +
          JSON.stringify(attribute),
      );
    }
    const pair = {
      key: { name: NAME, type: attribute.type },
      value: attribute.value,
    } as SearchAttributeUpdatePair;
    return searchAttributePayloads(undefined, [pair])[NAME]!;
  }

  /** Decodes a value with its type; undefined for a payload without a type. */
  fromPayload<T>(payload: Payload): T {
    const [pair] = readTyped({ [NAME]: requireMetadata(payload) }).getAll();
    return (pair === undefined
      ? undefined
      : new TypedSearchAttributeValue(pair.key.type, pair.value)) as T;
  }
}
/** Converter of search attributes with types. */
export const typedSearchAttributePayloadConverter: TypedSearchAttributePayloadConverter =
  new TypedSearchAttributePayloadConverter();

type Fields = Record<string, Payload> | undefined | null;
const allFull = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields ?? {}).map(([name, payload]) => [name, requireMetadata(payload)]),
  );

/** Encodes both forms; the typed one overrides the untyped one of the same name. */
export function encodeUnifiedSearchAttributes(
  searchAttributes?: SearchAttributes,
  typedSearchAttributes?:
    | TypedSearchAttributes
    | SearchAttributePair[]
    | SearchAttributeUpdatePair[],
): Record<string, Payload> {
  return searchAttributePayloads(searchAttributes, typedSearchAttributes as TypedSearchAttributes);
}

/** Decodes search attributes without types; leaves out empty ones. */
export function decodeSearchAttributes(indexedFields: Fields): SearchAttributes {
  const all = readUntyped(allFull(indexedFields));
  return Object.fromEntries(
    Object.entries(all).filter(([, values]) => values !== undefined && values.length > 0),
  );
}

/** Decodes search attributes with types. */
export function decodeTypedSearchAttributes(indexedFields: Fields): TypedSearchAttributes {
  return readTyped(allFull(indexedFields));
}
