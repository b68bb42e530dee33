// Messages of Temporal's API in the official packages' form (protobufjs): oneof fields are ordinary
// fields, 64-bit integers are Longs, enumerations numbers, and unset fields read as defaults of the
// prototype. The native messages (protobuf-es) differ only in these points, so one conversion
// covers every message.
import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { bigintOf, Long, type LongLike } from "./long.ts";

/** A message in the official packages' form. */
// deno-lint-ignore no-explicit-any
export type PlainMessage = any;

type Fields = { [name: string]: unknown };

const WRAPPER = /^google\.protobuf\.(?:U?Int(?:32|64)|Double|Float|Bool|String|Bytes)Value$/;
const UNSIGNED: ReadonlySet<ScalarType> = new Set([ScalarType.UINT64, ScalarType.FIXED64]);
const SIGNED: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SFIXED64,
  ScalarType.SINT64,
]);
/** Returns whether a message wraps one value, like google.protobuf.DoubleValue. */
export const isWrapper = ({ typeName }: DescMessage): boolean => WRAPPER.test(typeName);
/**
 * Returns a field's property in the plain form. protobufjs keeps `type_url` of an Any as in the
 * .proto file.
 */
export const plainName = (field: DescField): string =>
  field.parent.typeName === "google.protobuf.Any" ? field.name : field.localName;
const is64 = (type: ScalarType): boolean => UNSIGNED.has(type) || SIGNED.has(type);

// ---- to the plain form

const prototypes = new Map<string, object>();

/** Defaults of unset fields. */
export function makePrototype(desc: DescMessage): object {
  let prototype = prototypes.get(desc.typeName);
  if (prototype === undefined) {
    prototype = Object.fromEntries(
      desc.fields.map((field) => [plainName(field), getFieldDefault(field)]),
    ) as object;
    Object.defineProperty(prototype, "toJSON", {
      value: function (this: Fields) {
        return toPlainJson(desc, this);
      },
    });
    prototypes.set(desc.typeName, prototype);
  }
  return prototype;
}

/**
 * JSON of a message like protobufjs: enumerations as names, 64-bit integers as text, bytes in
 * base64.
 */
function toPlainJson(desc: DescMessage, plain: Fields): Fields {
  const json: Fields = {};
  for (const field of desc.fields) {
    const name = plainName(field);
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

function getFieldDefault(field: DescField): unknown {
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

/** Converts a message to the official packages' form. */
export function toPlain<D extends DescMessage>(desc: D, message: MessageShape<D>): PlainMessage {
  const source = message as unknown as Fields;
  const plain = Object.create(makePrototype(desc)) as Fields;
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
    plain[plainName(field)] = plainField(field, value);
  }
  return plain;
}

function isDefault(field: DescField, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (field.fieldKind === "list") return (value as unknown[]).length === 0;
  if (field.fieldKind === "map") return Object.keys(value as object).length === 0;
  if (field.fieldKind === "message" || field.proto.proto3Optional) return false;
  return value === 0 || value === 0n || value === "" || value === false ||
    (value instanceof Uint8Array && value.length === 0);
}

function plainField(field: DescField, value: unknown): unknown {
  const one = (item: unknown): unknown => {
    if (field.message !== undefined) return plainMessage(field.message, item);
    return field.scalar !== undefined && is64(field.scalar)
      ? Long.fromBigInt(item as bigint, UNSIGNED.has(field.scalar))
      : item;
  };
  if (field.fieldKind === "list") return (value as unknown[]).map(one);
  if (field.fieldKind === "map") return mapped(value as Fields, one);
  return one(value);
}

function plainMessage(desc: DescMessage, value: unknown): unknown {
  // A wrapper of one value is represented by that value.
  if (isWrapper(desc) && (typeof value !== "object" || value instanceof Uint8Array)) {
    return { value: plainField(desc.fields[0]!, value) };
  }
  return toPlain(desc, value as Message);
}

function mapped(map: Fields, one: (item: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(map).map(([key, item]) => [key, one(item)]));
}

// ---- from the plain form

/**
 * Converts a message from the official form; unset fields may be missing. Throws a TypeError for a
 * field of a wrong type.
 */
export function fromPlain<D extends DescMessage>(desc: D, plain: PlainMessage): MessageShape<D> {
  if (typeof plain !== "object" || plain === null) {
    throw new TypeError(`${desc.typeName}: an object is expected, not ${plain}`);
  }
  const message = create(desc) as unknown as Fields;
  for (const field of desc.fields) {
    const value = (plain as Fields)[plainName(field)];
    if (value === undefined || value === null) continue;
    // Prototype defaults are not set fields; in a oneof they would select a case.
    if (field.oneof !== undefined) {
      message[field.oneof.localName] = { case: field.localName, value: readField(field, value) };
    } else message[field.localName] = readField(field, value);
  }
  return message as unknown as MessageShape<D>;
}

function readField(field: DescField, value: unknown): unknown {
  const one = (item: unknown): unknown => {
    if (field.message !== undefined) return readMessage(field.message, item);
    if (field.enum !== undefined) {
      return typeof item === "string" ? numberOfName(field, item) : item;
    }
    return readScalar(field.scalar!, item);
  };
  if (field.fieldKind === "list") return Array.from(value as Iterable<unknown>, one);
  if (field.fieldKind === "map") return mapped(value as Fields, one);
  return one(value);
}

function readMessage(desc: DescMessage, value: unknown): unknown {
  if (isWrapper(desc)) return readField(desc.fields[0]!, (value as { value?: unknown }).value ?? 0);
  return fromPlain(desc, value as PlainMessage);
}

function readScalar(type: ScalarType, value: unknown): unknown {
  if (is64(type)) return bigintOf(value as LongLike);
  if (type === ScalarType.BYTES && typeof value === "string") return base64Decode(value);
  // In protobufjs, bytes that are not set read as an empty array.
  if (type === ScalarType.BYTES && Array.isArray(value)) return Uint8Array.from(value as number[]);
  return value;
}

function numberOfName(field: DescField, name: string): number {
  const found = field.enum!.values.find((value) => value.name === name || value.localName === name);
  if (found === undefined) {
    throw new TypeError(`${field.name}: "${name}" is not a value of ${field.enum!.typeName}`);
  }
  return found.number;
}
