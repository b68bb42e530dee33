// Payload converters for protobufjs messages (`@temporalio/common/lib/protobufs`). The program
// provides protobufjs and its root.
import { PayloadConverterError, ValueError } from "./errors.ts";
import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  encodingTypes,
  JsonPayloadConverter,
  METADATA_ENCODING_KEY,
  METADATA_MESSAGE_TYPE_KEY,
  type Payload,
  type PayloadConverterWithEncoding,
  UndefinedPayloadConverter,
} from "./payload_converters.ts";
import { fromProtoJson, type ProtobufType, toProtoJson } from "./protobuf_json.ts";
import { decode, encode, errorMessage, isRecord } from "./text.ts";

interface Root {
  lookupType(name: string): ProtobufType;
}
/** Classes of protobufjs have an unminified name in `className`. */
const isA = (value: unknown, name: string): boolean =>
  isRecord(value) && (value.constructor as { className?: string }).className === name;

/** Returns the type of a protobufjs message; undefined for other values. */
function findProtobufType(value: unknown): ProtobufType | undefined {
  const type = isRecord(value) ? value["$type"] : undefined;
  return isA(type, "Type") ? type as unknown as ProtobufType : undefined;
}

abstract class ProtobufPayloadConverter implements PayloadConverterWithEncoding {
  /** Types for decoding. */
  protected readonly root: Root | undefined;
  /** Encoding of the payloads. */
  abstract readonly encodingType: string;

  /** Without a root it can only encode. Throws a TypeError for an invalid root. */
  constructor(root?: unknown) {
    if (root && !isA(root, "Root")) {
      throw new TypeError("root must be an instance of a protobufjs Root");
    }
    this.root = root as Root | undefined;
  }

  /** Encodes a message. */
  protected abstract write(type: ProtobufType, message: object): Uint8Array;
  /** Decodes a message. */
  protected abstract read(type: ProtobufType, data: Uint8Array): object;

  /** Encodes a message; undefined for other values. */
  toPayload(value: unknown): Payload | undefined {
    const type = findProtobufType(value);
    if (type === undefined) return undefined;
    return {
      metadata: {
        [METADATA_ENCODING_KEY]: encode(this.encodingType),
        [METADATA_MESSAGE_TYPE_KEY]: encode(type.fullName.replace(/^\./, "")),
      },
      data: this.write(type, value as object),
    };
  }

  /** Decodes a message. Throws a PayloadConverterError if the root lacks its type. */
  fromPayload<T>({ metadata, data }: Payload): T {
    if (data === undefined || data === null) throw new ValueError("Got payload with no data");
    const named = metadata?.[METADATA_MESSAGE_TYPE_KEY];
    if (named === undefined) {
      throw new ValueError(`Got protobuf payload without metadata.${METADATA_MESSAGE_TYPE_KEY}`);
    }
    if (this.root === undefined) {
      throw new PayloadConverterError(
        "Unable to deserialize protobuf message without `root` being provided",
      );
    }
    const name = decode(named);
    let type: ProtobufType;
    try {
      type = this.root.lookupType(name);
    } catch (error) {
      if (!errorMessage(error)?.includes("no such type")) throw error;
      throw new PayloadConverterError(
        `Got a \`${name}\` protobuf message but cannot find corresponding message class in \`root\``,
      );
    }
    return this.read(type, new Uint8Array(data.buffer, data.byteOffset, data.length)) as T;
  }
}

/** Encodes protobufjs messages as bytes. */
export class ProtobufBinaryPayloadConverter extends ProtobufPayloadConverter {
  readonly encodingType = encodingTypes.METADATA_ENCODING_PROTOBUF;

  /** Encodes a message. */
  protected override write(type: ProtobufType, message: object): Uint8Array {
    return type.encode(message).finish();
  }
  /** Decodes a message. */
  protected override read(type: ProtobufType, data: Uint8Array): object {
    return type.decode(data);
  }
}

/** Encodes protobufjs messages as JSON. */
export class ProtobufJsonPayloadConverter extends ProtobufPayloadConverter {
  readonly encodingType = encodingTypes.METADATA_ENCODING_PROTOBUF_JSON;

  /** Encodes a message. */
  protected override write(type: ProtobufType, message: object): Uint8Array {
    return encode(JSON.stringify(toProtoJson(type, message)));
  }
  /** Decodes a message. */
  protected override read(type: ProtobufType, data: Uint8Array): object {
    return fromProtoJson(type, JSON.parse(decode(data)));
  }
}

/** Options of a {@link DefaultPayloadConverterWithProtobufs}. */
export interface DefaultPayloadConverterWithProtobufsOptions {
  /** Root of protobufjs with the program's types. */
  protobufRoot: Record<string, unknown>;
}

/** Converts undefined, bytes, protobufjs messages and JSON. */
export class DefaultPayloadConverterWithProtobufs extends CompositePayloadConverter {
  constructor({ protobufRoot }: DefaultPayloadConverterWithProtobufsOptions) {
    super(
      new UndefinedPayloadConverter(),
      new BinaryPayloadConverter(),
      new ProtobufJsonPayloadConverter(protobufRoot),
      new ProtobufBinaryPayloadConverter(protobufRoot),
      new JsonPayloadConverter(),
    );
  }
}

/** Names that protobufjs reserves on roots and namespaces. */
const KEPT: ReadonlySet<string> = new Set([
  ...[
    "options",
    "parsedOptions",
    "name",
    "parent",
    "resolved",
    "comment",
    "filename",
    "nested",
    "_nestedArray",
    "root",
  ],
]);

/**
 * Makes namespaces and types of a protobufjs reflection root accessible by name
 * (`root.foo.bar.ProtoInput.create(...)`), as in the programs' `root.js`.
 */
export function patchProtobufRoot<T extends Record<string, unknown>>(root: T): T {
  const patched = withTypes(root, undefined);
  // Own and enumerable properties, so that they exist after `import * as`.
  const own = (name: string, descriptor: PropertyDescriptor) => {
    if (!Object.hasOwn(patched, name)) {
      Object.defineProperty(patched, name, { ...descriptor, enumerable: true, configurable: true });
    }
  };
  own("root", { get: () => patched });
  own("constructor", { value: patched.constructor, writable: true });
  return patched as T;
}

function withTypes(
  from: Record<string, unknown>,
  name: string | undefined,
): Record<string, unknown> {
  const Made = from.constructor as unknown as new (name: unknown) => Record<string, unknown>;
  const made = new Made(name ?? {});
  for (const key in from) {
    if (key !== "root") made[key] = from[key];
  }
  for (const [key, value] of Object.entries(isRecord(from["nested"]) ? from["nested"] : {})) {
    if (KEPT.has(key)) continue;
    if (isA(value, "Namespace")) made[key] = withTypes(value as Record<string, unknown>, key);
    else if (isA(value, "Type")) made[key] = value;
  }
  return made;
}
