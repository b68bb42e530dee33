// `@temporalio/proto`: Temporal's messages in the form of protobufjs, for codecs and codec servers:
// `temporal.api.common.v1.Payload.encode(payload).finish()`. Clients and workers use the same form.
import { type DescEnum, type DescFile, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { encodePlain } from "../common/encode_plain.ts";
import { decodePlainHistory } from "../common/kept_history.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { FILES } from "./files.ts";
import { wholeApiFiles } from "./whole_files.ts";

/** A message's type. */
export interface ProtoMessage {
  /** Full name of the message. */
  readonly typeName: string;
  /** Encodes a message: `encode(message).finish()`. */
  encode(message: PlainMessage): { finish(): Uint8Array };
  /** Decodes a message. Throws for invalid bytes. */
  decode(bytes: Uint8Array): PlainMessage;
  /** Creates a message with these fields. */
  create(fields?: PlainMessage): PlainMessage;
  /** Same as `create`, with enumerations also as names, and bytes also in base64. */
  fromObject(object: PlainMessage): PlainMessage;
}

function makeProtoMessage(desc: DescMessage): ProtoMessage {
  const read = (plain: PlainMessage) => toPlain(desc, fromPlain(desc, plain));
  return {
    typeName: desc.typeName,
    encode: (message) => ({ finish: () => encodePlain(desc, message) }),
    decode: desc.typeName === HistorySchema.typeName
      ? decodePlainHistory
      : (bytes) => toPlain(desc, fromBinary(desc, bytes)),
    create: (fields = {}) => read(fields),
    fromObject: read,
  };
}

/** Maps names to numbers and numbers to names, like enumerations of TypeScript. */
function makeProtoEnum(desc: DescEnum): { [name: string]: number | string } {
  return Object.fromEntries(
    desc.values.flatMap(({ name, number }) => [[name, number], [String(number), name]]),
  );
}

type Scope = { [name: string]: unknown };

/** Defines the types of a scope, created on first use. */
function define(into: Scope, types: readonly (DescMessage | DescEnum)[]): void {
  for (const desc of types) {
    // A generated type is kept when the descriptors of the whole API follow.
    if (Object.hasOwn(into, desc.name)) continue;
    Object.defineProperty(into, desc.name, {
      configurable: true,
      enumerable: true,
      get() {
        const made: Scope = desc.kind === "enum"
          ? makeProtoEnum(desc)
          : makeProtoMessage(desc) as unknown as Scope;
        if (desc.kind === "message") define(made, [...desc.nestedMessages, ...desc.nestedEnums]);
        Object.defineProperty(into, desc.name, {
          value: made,
          enumerable: true,
          configurable: true,
        });
        return made;
      },
    });
  }
}

/** A package: its names, and the object that programs read them from. */
interface Package {
  readonly names: Scope;
  readonly shown: Scope;
}

/** Creates a package. Types of rare methods are added when a name is missing. */
function makePackage(): Package {
  const names: Scope = {};
  const shown = new Proxy(names, {
    get(_, name) {
      load();
      // Other names are read by promises, printers and bundlers.
      if (typeof name === "string" && !Object.hasOwn(names, name) && /^[A-Z]|^v\d/.test(name)) {
        loadWhole();
      }
      return Reflect.get(names, name);
    },
    has(_, name) {
      loadWhole();
      return Reflect.has(names, name);
    },
    ownKeys() {
      loadWhole();
      return Reflect.ownKeys(names);
    },
    getOwnPropertyDescriptor(_, name) {
      loadWhole();
      return Reflect.getOwnPropertyDescriptor(names, name);
    },
  });
  return { names, shown };
}

/** By path: `temporal.api.common.v1`. */
const packages = new Map<string, Package>();

function packageAt(path: string): Package {
  let found = packages.get(path);
  if (found === undefined) {
    packages.set(path, found = makePackage());
    const dot = path.lastIndexOf(".");
    if (dot >= 0) {
      const name = path.slice(dot + 1);
      const value = found.shown;
      const place = { value, configurable: true, enumerable: true };
      Object.defineProperty(packageAt(path.slice(0, dot)).names, name, place);
    }
  }
  return found;
}

function defineFiles(files: Iterable<DescFile>): void {
  for (const file of files) {
    define(packageAt(file.proto.package).names, [...file.messages, ...file.enums]);
  }
}

let isLoaded = false;
let isWhole = false;

function load(): void {
  if (isLoaded) return;
  isLoaded = true;
  defineFiles(FILES);
}

/** Adds the types of methods that this package does not call, where the runtime has zlib. */
function loadWhole(): void {
  if (isWhole) return;
  load();
  isWhole = true;
  const files = wholeApiFiles();
  if (files !== undefined) defineFiles(files);
}

/**
 * `temporal.api.common.v1.Payload` and all other types of the API. Browsers lack types of rare
 * methods.
 */
// deno-lint-ignore no-explicit-any
export const temporal: any = packageAt("temporal").shown;
/** `google.protobuf.Timestamp` and the like. */
// deno-lint-ignore no-explicit-any
export const google: any = packageAt("google").shown;
/** Both, like the official package's default export. */
export default { temporal, google };
