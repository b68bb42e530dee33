// Payload converters in the shape of `@temporalio/common`: classes that programs compose and extend. The bytes are those of ts/converter.
// Payload converter modules run in the workflow sandbox, so this is loaded there.
import { jsonPayload, jsonPayloadConverter, type Payload as FullPayload } from "../../converter/payload.ts";
import type { PayloadConverter as ProductConverter } from "../../converter/payload.ts";
import { PayloadConverterError, ValueError } from "./errors.ts";
import type { ConverterHint, SerializationContext, TypeInfo } from "./type_info.ts";

/** A value as it travels. */
export interface Payload {
  /** Says how the data is encoded (`encoding`), and what converters and codecs add. */
  metadata?: { [key: string]: Uint8Array } | null;
  /** The encoded value. */
  data?: Uint8Array | null;
  /** Where parts of it are kept outside. */
  externalPayloads?: readonly object[] | null;
}

/** Key of the metadata that names the encoding. */
export const METADATA_ENCODING_KEY = "encoding";
/** Key of the metadata that names a protobuf message. */
export const METADATA_MESSAGE_TYPE_KEY = "messageType";
/** The encodings of the SDKs. */
export const encodingTypes = {
  METADATA_ENCODING_NULL: "binary/null",
  METADATA_ENCODING_RAW: "binary/plain",
  METADATA_ENCODING_JSON: "json/plain",
  METADATA_ENCODING_PROTOBUF_JSON: "json/protobuf",
  METADATA_ENCODING_PROTOBUF: "binary/protobuf",
} as const;
/** The encodings of the SDKs. */
export type EncodingType = (typeof encodingTypes)[keyof typeof encodingTypes];

const utf8 = new TextEncoder();
const text = new TextDecoder();
/** The encodings, as metadata has them. */
export const encodingKeys: { readonly [name in keyof typeof encodingTypes]: Uint8Array } = {
  METADATA_ENCODING_NULL: utf8.encode(encodingTypes.METADATA_ENCODING_NULL),
  METADATA_ENCODING_RAW: utf8.encode(encodingTypes.METADATA_ENCODING_RAW),
  METADATA_ENCODING_JSON: utf8.encode(encodingTypes.METADATA_ENCODING_JSON),
  METADATA_ENCODING_PROTOBUF_JSON: utf8.encode(encodingTypes.METADATA_ENCODING_PROTOBUF_JSON),
  METADATA_ENCODING_PROTOBUF: utf8.encode(encodingTypes.METADATA_ENCODING_PROTOBUF),
};

/** Turns one value into a payload and back. Synchronous and pure: it runs in workflow code. */
export interface PayloadConverter {
  /** The payload of a value. Throws a ValueError for one that it cannot encode. */
  toPayload<T>(value: T, context?: SerializationContext, hint?: ConverterHint<T>): Payload;
  /** The value of a payload. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T;
  /** Does it know the hint? */
  validateConverterHint?: (hint: ConverterHint) => boolean;
}

/** A converter for one encoding. */
export interface PayloadConverterWithEncoding {
  /** The payload of a value; undefined for one that is not for this converter. */
  toPayload<T>(value: T, context?: SerializationContext, hint?: ConverterHint<T>): Payload | undefined;
  /** The value of a payload of this encoding. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T;
  /** The encoding. */
  readonly encodingType: string;
  /** Does it know the hint? */
  validateConverterHint?: (hint: ConverterHint) => boolean;
}

/** Marks the type of a raw value. */
export const rawPayloadTypeBrand: unique symbol = Symbol("rawPayloadTypeBrand");

/** A payload that is carried as it is: converters do not touch it. */
export class RawValue<T = unknown> {
  readonly #payload: Payload;
  /** Type alone. */
  readonly [rawPayloadTypeBrand]: T = undefined as T;

  constructor(value: T, payloadConverter: PayloadConverter = defaultPayloadConverter, context?: SerializationContext) {
    this.#payload = payloadConverter.toPayload(value, context);
  }

  /** One of a payload. */
  static fromPayload(payload: Payload): RawValue {
    return new RawValue<unknown>(payload, AS_IT_IS);
  }

  /** The payload. */
  get payload(): Payload {
    return this.#payload;
  }
}
const AS_IT_IS = { toPayload: (value: unknown) => value, fromPayload: (payload: Payload) => payload } as PayloadConverter;

/** The type of a value that is to be read as a RawValue. */
export const rawValueTypeInfo: TypeInfo<RawValue> = {};

/** Asks converters in turn: the first one that takes a value encodes it; the one of the payload's encoding decodes. */
export class CompositePayloadConverter implements PayloadConverter {
  /** The converters, in the order in which they are asked. */
  readonly converters: PayloadConverterWithEncoding[];
  /** The converters by encoding. */
  readonly converterByEncoding: Map<string, PayloadConverterWithEncoding> = new Map();

  constructor(...converters: PayloadConverterWithEncoding[]) {
    if (converters.length === 0) throw new PayloadConverterError("Must provide at least one PayloadConverterWithEncoding");
    this.converters = converters;
    for (const converter of converters) this.converterByEncoding.set(converter.encodingType, converter);
  }

  /** The payload of a value. Throws a ValueError where no converter takes it. */
  toPayload<T>(value: T, context?: SerializationContext, hint?: ConverterHint<T>): Payload {
    if (value instanceof RawValue) return value.payload;
    for (const converter of this.converters) {
      if (hint !== undefined && !converter.validateConverterHint?.(hint)) continue;
      const payload = converter.toPayload(value, context, hint);
      if (payload !== undefined) return payload;
    }
    if (hint !== undefined) throw new ValueError(`No payload converter supports converter hint '${hint.converter}'`);
    throw new ValueError(`Unable to convert ${value} to payload`);
  }

  /** The value of a payload. Throws a ValueError for an encoding that no converter has. */
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    if (payload.metadata === undefined || payload.metadata === null) throw new ValueError("Missing payload metadata");
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

/** undefined. */
export class UndefinedPayloadConverter implements PayloadConverterWithEncoding {
  /** The encoding. */
  readonly encodingType = encodingTypes.METADATA_ENCODING_NULL;

  /** The payload of undefined. */
  toPayload(value: unknown): Payload | undefined {
    return value === undefined ? { metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_NULL } } : undefined;
  }

  /** undefined. */
  fromPayload<T>(_content: Payload): T {
    return undefined as T;
  }
}

/** Bytes. */
export class BinaryPayloadConverter implements PayloadConverterWithEncoding {
  /** The encoding. */
  readonly encodingType = encodingTypes.METADATA_ENCODING_RAW;

  /** The payload of a Uint8Array. */
  toPayload(value: unknown): Payload | undefined {
    return value instanceof Uint8Array ? jsonPayloadConverter.toPayload(value) : undefined;
  }

  /** The bytes, as a Uint8Array of this realm. */
  fromPayload<T>({ data }: Payload): T {
    return (data ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data) as T;
  }
}

/** What JSON has a form for. */
export class JsonPayloadConverter implements PayloadConverterWithEncoding {
  /** The encoding. */
  readonly encodingType = encodingTypes.METADATA_ENCODING_JSON;

  /** The payload of a value; undefined for one that JSON has no form for. */
  toPayload(value: unknown): Payload | undefined {
    try {
      return value === undefined ? undefined : jsonPayload(JSON.stringify(value), value);
    } catch {
      return undefined;
    }
  }

  /** The value. */
  fromPayload<T>({ data }: Payload): T {
    if (data === undefined || data === null) throw new ValueError("Got payload with no data");
    return JSON.parse(text.decode(data)) as T;
  }
}

/** undefined, bytes, JSON. */
export class DefaultPayloadConverter extends CompositePayloadConverter {
  constructor() {
    super(new UndefinedPayloadConverter(), new BinaryPayloadConverter(), new JsonPayloadConverter());
  }
}

/** What is used where a program names no converter: undefined, bytes, JSON. */
export const defaultPayloadConverter: DefaultPayloadConverter = new DefaultPayloadConverter();

/** With both fields. */
export const full = ({ metadata, data }: Payload): FullPayload => ({ metadata: metadata ?? {}, data: data ?? new Uint8Array(0) });

/** The converter as it is for one owner of values: calls that name no context have this one. */
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

/** The converter in the product's own shape. */
export function productConverter(converter: PayloadConverter, context?: SerializationContext): ProductConverter {
  const encode = (value: unknown): FullPayload => {
    if (value instanceof RawValue) return full(value.payload);
    return full(converter.toPayload(value, context));
  };
  // Payloads without an encoding, of void results and other SDKs, are read as the product reads them.
  const decode = converter === defaultPayloadConverter ? jsonPayloadConverter : converter;
  return {
    toPayload: encode,
    fromPayload: decode === jsonPayloadConverter
      ? jsonPayloadConverter.fromPayload
      : (payload) => converter.fromPayload(payload, context),
  };
}
