// Payload converters of `@temporalio/common`: classes that programs compose and extend, with the
// encodings of ts/converter. Converter modules run in the workflow sandbox, where this module is
// loaded.
import {
  jsonPayload,
  jsonPayloadConverter,
  type Payload as FullPayload,
} from "../../converter/payload.ts";
import type { PayloadConverter as ProductConverter } from "../../converter/payload.ts";
import { PayloadConverterError, ValueError } from "./errors.ts";
import type { ConverterHint, SerializationContext, TypeInfo } from "./type_info.ts";

/** An encoded value. */
export interface Payload {
  /** Encoding of the data (`encoding`) and entries of converters and codecs. */
  metadata?: { [key: string]: Uint8Array } | null;
  /** The encoded value. */
  data?: Uint8Array | null;
  /** External parts of the value. */
  externalPayloads?: readonly object[] | null;
}

/** Metadata key of the encoding. */
export const METADATA_ENCODING_KEY = "encoding";
/** Metadata key of the protobuf message type. */
export const METADATA_MESSAGE_TYPE_KEY = "messageType";
/** Encodings of the SDKs. */
export const encodingTypes = {
  METADATA_ENCODING_NULL: "binary/null",
  METADATA_ENCODING_RAW: "binary/plain",
  METADATA_ENCODING_JSON: "json/plain",
  METADATA_ENCODING_PROTOBUF_JSON: "json/protobuf",
  METADATA_ENCODING_PROTOBUF: "binary/protobuf",
} as const;
/** Encodings of the SDKs. */
export type EncodingType = (typeof encodingTypes)[keyof typeof encodingTypes];

const utf8 = new TextEncoder();
const text = new TextDecoder();
/** Encodings as metadata values. */
export const encodingKeys: { readonly [name in keyof typeof encodingTypes]: Uint8Array } = {
  METADATA_ENCODING_NULL: utf8.encode(encodingTypes.METADATA_ENCODING_NULL),
  METADATA_ENCODING_RAW: utf8.encode(encodingTypes.METADATA_ENCODING_RAW),
  METADATA_ENCODING_JSON: utf8.encode(encodingTypes.METADATA_ENCODING_JSON),
  METADATA_ENCODING_PROTOBUF_JSON: utf8.encode(encodingTypes.METADATA_ENCODING_PROTOBUF_JSON),
  METADATA_ENCODING_PROTOBUF: utf8.encode(encodingTypes.METADATA_ENCODING_PROTOBUF),
};

/** Converts values to payloads and back. Must be synchronous and pure: runs in workflow code. */
export interface PayloadConverter {
  /** Encodes a value. Throws a ValueError for values that it cannot encode. */
  toPayload<T>(value: T, context?: SerializationContext, hint?: ConverterHint<T>): Payload;
  /** Decodes a payload. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T;
  /** Returns whether the hint is known. */
  validateConverterHint?: (hint: ConverterHint) => boolean;
}

/** A converter of one encoding. */
export interface PayloadConverterWithEncoding {
  /** Encodes a value; undefined if another converter must encode it. */
  toPayload<T>(
    value: T,
    context?: SerializationContext,
    hint?: ConverterHint<T>,
  ): Payload | undefined;
  /** Decodes a payload of this encoding. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T;
  readonly encodingType: string;
  /** Returns whether the hint is known. */
  validateConverterHint?: (hint: ConverterHint) => boolean;
}

/** Brand of a raw value's type. */
export const rawPayloadTypeBrand: unique symbol = Symbol("rawPayloadTypeBrand");

/** A payload that converters pass on unchanged. */
export class RawValue<T = unknown> {
  readonly #payload: Payload;
  /** Exists only in the type. */
  readonly [rawPayloadTypeBrand]: T = undefined as T;

  constructor(
    value: T,
    payloadConverter: PayloadConverter = defaultPayloadConverter,
    context?: SerializationContext,
  ) {
    this.#payload = payloadConverter.toPayload(value, context);
  }

  /** Wraps a payload. */
  static fromPayload(payload: Payload): RawValue {
    return new RawValue<unknown>(payload, AS_IT_IS);
  }

  /** The wrapped payload. */
  get payload(): Payload {
    return this.#payload;
  }
}
const AS_IT_IS = {
  toPayload: (value: unknown) => value,
  fromPayload: (payload: Payload) => payload,
} as PayloadConverter;

/** Type hint of values that are decoded to a RawValue. */
export const rawValueTypeInfo: TypeInfo<RawValue> = {};

/** Encodes with the first converter that accepts a value; decodes by the payload's encoding. */
export class CompositePayloadConverter implements PayloadConverter {
  /** Converters in order. */
  readonly converters: PayloadConverterWithEncoding[];
  readonly converterByEncoding: Map<string, PayloadConverterWithEncoding> = new Map();

  constructor(...converters: PayloadConverterWithEncoding[]) {
    if (converters.length === 0) {
      throw new PayloadConverterError("Must provide at least one PayloadConverterWithEncoding");
    }
    this.converters = converters;
    for (const converter of converters) {
      this.converterByEncoding.set(converter.encodingType, converter);
    }
  }

  /** Encodes a value. Throws a ValueError if no converter accepts it. */
  toPayload<T>(value: T, context?: SerializationContext, hint?: ConverterHint<T>): Payload {
    if (value instanceof RawValue) return value.payload;
    for (const converter of this.converters) {
      if (hint !== undefined && !converter.validateConverterHint?.(hint)) continue;
      const payload = converter.toPayload(value, context, hint);
      if (payload !== undefined) return payload;
    }
    if (hint !== undefined) {
      throw new ValueError(`No payload converter supports converter hint '${hint.converter}'`);
    }
    throw new ValueError(`Unable to convert ${value} to payload`);
  }

  /** Decodes a payload. Throws a ValueError for an unknown encoding. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    if (payload.metadata === undefined || payload.metadata === null) {
      throw new ValueError("Missing payload metadata");
    }
    const encoding = text.decode(payload.metadata[METADATA_ENCODING_KEY]);
    const converter = this.converterByEncoding.get(encoding);
    if (converter === undefined) throw new ValueError(`Unknown encoding: ${encoding}`);
    if (hint !== undefined && !converter.validateConverterHint?.(hint)) {
      throw new PayloadConverterError(
        `Payload encoding '${encoding}' does not support converter hint '${hint.converter}'`,
      );
    }
    return converter.fromPayload<T>(payload, context, hint);
  }
}

/** Converts undefined. */
export class UndefinedPayloadConverter implements PayloadConverterWithEncoding {
  readonly encodingType = encodingTypes.METADATA_ENCODING_NULL;

  /** Encodes undefined. */
  toPayload(value: unknown): Payload | undefined {
    return value === undefined
      ? { metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_NULL } }
      : undefined;
  }

  /** Returns undefined. */
  fromPayload<T>(_content: Payload): T {
    return undefined as T;
  }
}

/** Converts bytes. */
export class BinaryPayloadConverter implements PayloadConverterWithEncoding {
  readonly encodingType = encodingTypes.METADATA_ENCODING_RAW;

  /** Encodes a Uint8Array. */
  toPayload(value: unknown): Payload | undefined {
    return value instanceof Uint8Array ? jsonPayloadConverter.toPayload(value) : undefined;
  }

  /** Returns the bytes as a Uint8Array of this realm. */
  fromPayload<T>({ data }: Payload): T {
    return (data ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data) as T;
  }
}

/** Converts values to JSON. */
export class JsonPayloadConverter implements PayloadConverterWithEncoding {
  readonly encodingType = encodingTypes.METADATA_ENCODING_JSON;

  /** Encodes a value; undefined for a value without a form in JSON. */
  toPayload(value: unknown): Payload | undefined {
    try {
      return value === undefined ? undefined : jsonPayload(JSON.stringify(value), value);
    } catch {
      return undefined;
    }
  }

  /** Decodes JSON. */
  fromPayload<T>({ data }: Payload): T {
    if (data === undefined || data === null) throw new ValueError("Got payload with no data");
    return JSON.parse(text.decode(data)) as T;
  }
}

/** Converts undefined, bytes and JSON. */
export class DefaultPayloadConverter extends CompositePayloadConverter {
  constructor() {
    super(
      new UndefinedPayloadConverter(),
      new BinaryPayloadConverter(),
      new JsonPayloadConverter(),
    );
  }
}

/** Default converter: undefined, bytes, JSON. */
export const defaultPayloadConverter: DefaultPayloadConverter = new DefaultPayloadConverter();

/** Returns the payload with both fields set. */
export const fillPayload = ({ metadata, data }: Payload): FullPayload => ({
  metadata: metadata ?? {},
  data: data ?? new Uint8Array(0),
});

/** Returns the converter for one owner of values, used by calls without a context. */
export function inContext<C extends ProductConverter>(given: C, context: SerializationContext): C {
  const converter = given as unknown as PayloadConverter;
  const bound: PayloadConverter = {
    toPayload: (value, other = context, hint?) => converter.toPayload(value, other, hint),
    fromPayload: (payload, other = context, hint?) => converter.fromPayload(payload, other, hint),
    ...(converter.validateConverterHint !== undefined && {
      validateConverterHint: (hint: ConverterHint) => converter.validateConverterHint!(hint),
    }),
  };
  return bound as unknown as C;
}

/** Adapts a converter to the native interface. */
export function productConverter(
  converter: PayloadConverter,
  context?: SerializationContext,
): ProductConverter {
  const encode = (value: unknown): FullPayload => {
    if (value instanceof RawValue) return fillPayload(value.payload);
    return fillPayload(converter.toPayload(value, context));
  };
  // Payloads without an encoding (void results, other SDKs) are decoded by the native converter.
  const decode = converter === defaultPayloadConverter ? jsonPayloadConverter : converter;
  return {
    toPayload: encode,
    fromPayload: decode === jsonPayloadConverter
      ? jsonPayloadConverter.fromPayload
      : (payload) => converter.fromPayload(payload, context),
  };
}
