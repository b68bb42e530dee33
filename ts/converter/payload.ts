// Converts values to payloads and back in Temporal's default encodings (json/plain, binary/plain,
// binary/null; reads json/protobuf), so that any SDK and UI can read them. What JSON would lose is
// kept in the metadata or rejected. Pure: runs inside workflow realms.
import { fromJsonData, isPlainData, toJsonData } from "./json_values.ts";
import {
  isEncodingReplay,
  LossyValueError,
  namingArgument,
  PayloadConverterError,
} from "./lossy_value.ts";
import { messageOf } from "./thrown.ts";

export { LossyValueError, PayloadConverterError };

/** A payload in the form of both protobuf layers of this package. */
export interface Payload {
  /** Encoding of the data (`encoding`) and entries of converters and codecs. */
  metadata: { [key: string]: Uint8Array };
  /** The encoded value. */
  data: Uint8Array;
}

/**
 * Converts one value to a payload and back. Must be pure and synchronous: runs inside workflow
 * code.
 */
export interface PayloadConverter {
  /** Encodes a value. Throws for values that it cannot encode. */
  toPayload(value: unknown): Payload;
  /** Decodes a result of `toPayload`. Throws for unknown payloads. */
  fromPayload(payload: Payload): unknown;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();
const ENCODING = {
  null: utf8.encode("binary/null"),
  binary: utf8.encode("binary/plain"),
  json: utf8.encode("json/plain"),
};
const EMPTY = new Uint8Array(0);

/** Metadata key for values without a form in JSON: a list of [kind, ...path]. */
const NOTES = "js-types";

/** @internal Returns a payload of JSON text; throws for a value without one. */
export function jsonPayload(json: string | undefined, value: unknown): Payload {
  if (json === undefined) {
    throw new PayloadConverterError(`a ${typeof value} cannot be encoded as JSON; pass plain data`);
  }
  return { metadata: { encoding: ENCODING.json }, data: utf8.encode(json) };
}

function withoutJson(error: unknown): PayloadConverterError {
  if (error instanceof PayloadConverterError) return error;
  return new PayloadConverterError(
    `this value cannot be encoded as JSON (${messageOf(error)}); convert it to plain data first`,
  );
}

/**
 * Temporal's encodings: undefined is binary/null, Uint8Array is binary/plain, all else JSON,
 * exactly as in Temporal's SDKs. What JSON loses is lost silently: a Date arrives as text, a Map as
 * an empty object, NaN as null.
 */
export const jsonPayloadConverter: PayloadConverter = {
  toPayload(value) {
    if (value === undefined) return { metadata: { encoding: ENCODING.null }, data: EMPTY };
    if (value instanceof Uint8Array) {
      return { metadata: { encoding: ENCODING.binary }, data: value };
    }
    let json: string | undefined;
    try {
      json = JSON.stringify(value);
    } catch (e) {
      throw withoutJson(e);
    }
    return jsonPayload(json, value);
  },
  fromPayload(payload) {
    const raw = payload.metadata["encoding"];
    const encoding = raw === undefined ? "" : text.decode(raw);
    switch (encoding) {
      case "json/plain":
      case "json/protobuf":
        try {
          return JSON.parse(text.decode(payload.data));
        } catch (e) {
          throw new PayloadConverterError(
            `invalid JSON in a payload with encoding ${encoding}: ${(e as Error).message}`,
          );
        }
      case "binary/plain":
        return payload.data;
      case "binary/null":
        return undefined;
      case "":
        // A void result: some SDKs omit the payload's encoding.
        if (payload.data.length === 0) return undefined;
        throw new PayloadConverterError("a payload has no encoding in its metadata");
      default:
        throw new PayloadConverterError(
          `a payload has the encoding "${encoding}", which this converter does not support; check that the payload codec and the payload converter are set`,
        );
    }
  },
};

/**
 * The default converter: {@link jsonPayloadConverter} that also preserves Date, Map, Set, NaN,
 * Infinity, -0, undefined in lists, and Uint8Array in other values. Other programs read plain JSON.
 * Throws a {@link LossyValueError} with the path for other values (functions, class instances
 * without toJSON, promises).
 */
export const defaultPayloadConverter: PayloadConverter = {
  toPayload(value) {
    const kind = typeof value;
    if (kind === "string" || kind === "boolean" || value == null) {
      return jsonPayloadConverter.toPayload(value);
    }
    if (kind === "number") {
      if (Number.isFinite(value) && value !== 0) return jsonPayloadConverter.toPayload(value);
    } else if (value instanceof Uint8Array) return jsonPayloadConverter.toPayload(value);
    try {
      if (isPlainData(value)) return jsonPayload(JSON.stringify(value), value);
      const { data, notes } = toJsonData(value);
      const payload = jsonPayload(JSON.stringify(data), data);
      if (notes.length > 0) payload.metadata[NOTES] = utf8.encode(JSON.stringify(notes));
      return payload;
    } catch (e) {
      // Too deep for the stack of the full conversion; JSON may succeed.
      if (e instanceof RangeError || (e instanceof LossyValueError && isEncodingReplay())) {
        return jsonPayloadConverter.toPayload(value);
      }
      throw withoutJson(e);
    }
  },
  fromPayload(payload) {
    const value = jsonPayloadConverter.fromPayload(payload);
    const notes = payload.metadata[NOTES];
    if (notes === undefined || text.decode(payload.metadata["encoding"]) !== "json/plain") {
      return value;
    }
    let read: unknown;
    try {
      read = JSON.parse(text.decode(notes));
    } catch (e) {
      throw new PayloadConverterError(
        `the value annotations of a payload are not valid JSON: ${(e as Error).message}`,
      );
    }
    return fromJsonData(value, read);
  },
};

/**
 * Returns whether a payload removes a key of a memo or of search attributes: undefined, null, or an
 * empty list, which servers treat as a removal (SDKs unset search attributes so). Ignores other
 * metadata.
 */
export function unsets({ metadata, data }: Payload): boolean {
  const encoding = text.decode(metadata["encoding"]);
  return encoding === "binary/null" ||
    (encoding === "json/plain" && ["null", "[]"].includes(text.decode(data)));
}

/** Returns the fields of a memo or of search attributes after an upsert. */
export function upserted<P extends Payload>(
  before: { readonly [key: string]: P },
  changes: { readonly [key: string]: P },
): { [key: string]: P } {
  const after = new Map(Object.entries(before));
  for (const [key, payload] of Object.entries(changes)) {
    if (unsets(payload)) after.delete(key);
    else after.set(key, payload);
  }
  return Object.fromEntries(after);
}

/** Encodes all arguments of a call. */
export function toPayloads(converter: PayloadConverter, values: readonly unknown[]): Payload[] {
  return values.map((value, i) => namingArgument(i, () => converter.toPayload(value)));
}

/** Decodes all payloads of a call. */
export function fromPayloads(
  converter: PayloadConverter,
  payloads: readonly Payload[] | undefined,
): unknown[] {
  return (payloads ?? []).map((payload) => converter.fromPayload(payload));
}
