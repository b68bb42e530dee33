// `@temporalio/proto`: Temporal's messages in the form of protobufjs, for codecs and codec servers:
// `temporal.api.common.v1.Payload.encode(payload).finish()`. Clients and workers use the same form.
import { type DescEnum, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { encodePlain } from "../common/encode_plain.ts";
import { decodePlainHistory } from "../common/kept_history.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { FILES } from "./files.ts";

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
    Object.defineProperty(into, desc.name, {
      configurable: true,
      enumerable: true,
      get() {
        const made: Scope = desc.kind === "enum"
          ? makeProtoEnum(desc)
          : makeProtoMessage(desc) as unknown as Scope;
        if (desc.kind === "message") define(made, [...desc.nestedMessages, ...desc.nestedEnums]);
        Object.defineProperty(into, desc.name, { value: made, enumerable: true });
        return made;
      },
    });
  }
}

function makeScope(first: string): Scope {
  const root: Scope = {};
  let filled = false;
  const fill = () => {
    if (filled) return;
    filled = true;
    for (const file of FILES) {
      const [head, ...rest] = file.proto.package.split(".");
      if (head !== first) continue;
      let scope = root;
      for (const part of rest) {
        scope = (Object.hasOwn(scope, part) ? scope[part] : scope[part] = {}) as Scope;
      }
      define(scope, [...file.messages, ...file.enums]);
    }
  };
  return new Proxy(root, {
    get(target, name) {
      fill();
      return Reflect.get(target, name);
    },
    ownKeys(target) {
      fill();
      return Reflect.ownKeys(target);
    },
  });
}

/** `temporal.api.common.v1.Payload` and all other types of the API. */
// deno-lint-ignore no-explicit-any
export const temporal: any = makeScope("temporal");
/** `google.protobuf.Timestamp` and the like. */
// deno-lint-ignore no-explicit-any
export const google: any = makeScope("google");
/** Both, like the official package's default export. */
export default { temporal, google };
