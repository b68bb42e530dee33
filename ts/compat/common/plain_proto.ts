// Messages of Temporal's API as the official packages show them (protobufjs): fields of a oneof stand beside the others, 64-bit integers are
// Longs, enumerations numbers, and a field that is not set reads as its default, through the prototype. The product's own messages
// (protobuf-es) differ in these points alone, so one walk over the descriptor does for every message.
import { create, type DescField, type DescMessage, type Message, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { bigintOf, Long, type LongLike } from "./long.ts";

/** A message in the official packages' form. */
// deno-lint-ignore no-explicit-any
export type PlainMessage = any;

type Fields = { [name: string]: unknown };

const WRAPPER = /^google\.protobuf\.(?:U?Int(?:32|64)|Double|Float|Bool|String|Bytes)Value$/;
const UNSIGNED: ReadonlySet<ScalarType> = new Set([ScalarType.UINT64, ScalarType.FIXED64]);
const SIGNED: ReadonlySet<ScalarType> = new Set([ScalarType.INT64, ScalarType.SFIXED64, ScalarType.SINT64]);
/** protobufjs has `type_url` of an Any as it is written in the file. */
const nameOf = (field: DescField): string => field.parent.typeName === "google.protobuf.Any" ? field.name : field.localName;
const is64 = (type: ScalarType): boolean => UNSIGNED.has(type) || SIGNED.has(type);

// ------------------------------------------------------------------------------------------------------------------ to the plain form

const prototypes = new Map<string, object>();

/** What fields read as that are not set. */
function prototypeOf(desc: DescMessage): object {
  let prototype = prototypes.get(desc.typeName);
  if (prototype === undefined) {
    prototype = Object.fromEntries(desc.fields.map((field) => [nameOf(field), defaultOf(field)])) as object;
    Object.defineProperty(prototype, "toJSON", {
      value: function (this: Fields) {
        return jsonOf(desc, this);
      },
    });
    prototypes.set(desc.typeName, prototype);
  }
  return prototype;
}

/** As protobufjs writes a message into JSON: names of enumerations, 64-bit integers as text, bytes in base64. */
function jsonOf(desc: DescMessage, plain: Fields): Fields {
  const json: Fields = {};
  for (const field of desc.fields) {
    const name = nameOf(field);
    const value = plain[name];
    if (!Object.hasOwn(plain, name) || value === null || value === undefined) continue;
    const one = (item: unknown): unknown => {
      if (field.enum !== undefined) return field.enum.value[item as number]?.name ?? item;
      if (field.scalar === ScalarType.BYTES) return base64Encode(item as Uint8Array);
      return field.scalar !== undefined && is64(field.scalar) ? String(item) : item;
    };
    if (field.fieldKind === "list") json[name] = (value as unknown[]).map(one);
    else json[name] = field.fieldKind === "map" ? mapped(value as Fields, one) : one(value);
  }
  return json;
}

function defaultOf(field: DescField): unknown {
  switch (field.fieldKind) {
    case "list":
      return Object.freeze([]);
    case "map":
      return Object.freeze({});
    case "message":
      return null;
    case "enum":
      return field.oneof === undefined ? 0 : null;
    case "scalar":
      if (field.oneof !== undefined || field.proto.proto3Optional) return null;
      return scalarDefault(field.scalar);
  }
}

function scalarDefault(type: ScalarType): unknown {
  if (is64(type)) return UNSIGNED.has(type) ? Long.UZERO : Long.ZERO;
  if (type === ScalarType.BOOL) return false;
  if (type === ScalarType.STRING) return "";
  return type === ScalarType.BYTES ? new Uint8Array(0) : 0;
}

/** A message in the official packages' form. */
export function toPlain<D extends DescMessage>(desc: D, message: MessageShape<D>): PlainMessage {
  const source = message as unknown as Fields;
  const plain = Object.create(prototypeOf(desc)) as Fields;
  for (const field of desc.fields) {
    let value: unknown;
    if (field.oneof === undefined) {
      value = source[field.localName];
      if (isDefault(field, value)) continue;
    } else {
      const chosen = source[field.oneof.localName] as { case?: string; value?: unknown };
      if (chosen.case !== field.localName) continue;
      value = chosen.value;
    }
    plain[nameOf(field)] = plainField(field, value);
  }
  return plain;
}

function isDefault(field: DescField, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (field.fieldKind === "list") return (value as unknown[]).length === 0;
  if (field.fieldKind === "map") return Object.keys(value as object).length === 0;
  if (field.fieldKind === "message" || field.proto.proto3Optional) return false;
  return value === 0 || value === 0n || value === "" || value === false || (value instanceof Uint8Array && value.length === 0);
}

function plainField(field: DescField, value: unknown): unknown {
  const one = (item: unknown): unknown => {
    if (field.message !== undefined) return plainMessage(field.message, item);
    return field.scalar !== undefined && is64(field.scalar) ? Long.fromBigInt(item as bigint, UNSIGNED.has(field.scalar)) : item;
  };
  if (field.fieldKind === "list") return (value as unknown[]).map(one);
  if (field.fieldKind === "map") return mapped(value as Fields, one);
  return one(value);
}

function plainMessage(desc: DescMessage, value: unknown): unknown {
  // A wrapper around one value is that value here.
  if (WRAPPER.test(desc.typeName) && (typeof value !== "object" || value instanceof Uint8Array)) {
    return { value: plainField(desc.fields[0]!, value) };
  }
  return toPlain(desc, value as Message);
}

function mapped(map: Fields, one: (item: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(map).map(([key, item]) => [key, one(item)]));
}

// ---------------------------------------------------------------------------------------------------------------- from the plain form

/** A message of its plain form; also of objects that leave out what is not set. Throws a TypeError for a field of another type. */
export function fromPlain<D extends DescMessage>(desc: D, plain: PlainMessage): MessageShape<D> {
  if (typeof plain !== "object" || plain === null) throw new TypeError(`${desc.typeName}: an object is expected, not ${plain}`);
  const message = create(desc) as unknown as Fields;
  for (const field of desc.fields) {
    const value = (plain as Fields)[nameOf(field)];
    if (value === undefined || value === null) continue;
    // The prototype's defaults set nothing; in a oneof they would choose.
    if (field.oneof !== undefined) message[field.oneof.localName] = { case: field.localName, value: readField(field, value) };
    else message[field.localName] = readField(field, value);
  }
  return message as unknown as MessageShape<D>;
}

function readField(field: DescField, value: unknown): unknown {
  const one = (item: unknown): unknown => {
    if (field.message !== undefined) return readMessage(field.message, item);
    if (field.enum !== undefined) return typeof item === "string" ? numberOfName(field, item) : item;
    return readScalar(field.scalar!, item);
  };
  if (field.fieldKind === "list") return Array.from(value as Iterable<unknown>, one);
  if (field.fieldKind === "map") return mapped(value as Fields, one);
  return one(value);
}

function readMessage(desc: DescMessage, value: unknown): unknown {
  if (WRAPPER.test(desc.typeName)) return readField(desc.fields[0]!, (value as { value?: unknown }).value ?? 0);
  return fromPlain(desc, value as PlainMessage);
}

function readScalar(type: ScalarType, value: unknown): unknown {
  if (is64(type)) return bigintOf(value as LongLike);
  if (type === ScalarType.BYTES && typeof value === "string") return base64Decode(value);
  return value;
}

function numberOfName(field: DescField, name: string): number {
  const found = field.enum!.values.find((value) => value.name === name || value.localName === name);
  if (found === undefined) throw new TypeError(`${field.name}: "${name}" is not a value of ${field.enum!.typeName}`);
  return found.number;
}
