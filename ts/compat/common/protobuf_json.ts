// Converts protobufjs messages to protobuf JSON and back, using the reflection of the message, with
// the JSON forms of Google's well-known types. protobufjs is the program's copy and not imported.
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { PayloadConverterError } from "./errors.ts";
import { bigintOf, Long, type LongLike } from "./long.ts";

/** A field in protobufjs's reflection. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
  readonly resolvedType: ProtobufType | EnumType | null;
  resolve(): Field;
}
interface EnumType {
  readonly values: { readonly [name: string]: number };
  readonly valuesById: { readonly [number: number]: string };
}
/** A message type in protobufjs's reflection. */
export interface ProtobufType {
  readonly name: string;
  readonly fullName: string;
  readonly fieldsArray: readonly Field[];
  create(properties: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
}

type Fields = { [name: string]: unknown };
type Convert = (value: unknown) => unknown;

const LONGS = /^(?:u?int64|s?fixed64|sint64)$/;
const isEnum = (type: Field["resolvedType"]): type is EnumType =>
  type !== null && "valuesById" in type;
const formatTypeName = ({ fullName }: ProtobufType): string => fullName.replace(/^\./, "");
const WRAPPER = /^google\.protobuf\.(?:U?Int(?:32|64)|Double|Float|Bool|String|Bytes)Value$/;

/** Returns the JSON of a message. Throws a PayloadConverterError for google.protobuf.Any. */
export function toProtoJson(type: ProtobufType, message: object): unknown {
  const name = formatTypeName(type);
  const source = message as Fields;
  if (WRAPPER.test(name)) return fieldOut(type.fieldsArray[0]!, source["value"]);
  if (name === "google.protobuf.Timestamp") {
    const { seconds, nanos } = times(source);
    return new Date(Number(seconds) * 1000).toISOString().replace(/\.000Z$/, `${fraction(nanos)}Z`);
  }
  if (name === "google.protobuf.Duration") {
    const { seconds, nanos } = times(source);
    const sign = seconds < 0n || nanos < 0 ? "-" : "";
    return `${sign}${seconds < 0n ? -seconds : seconds}${fraction(Math.abs(nanos))}s`;
  }
  if (name === "google.protobuf.Any") {
    throw new PayloadConverterError(`${name} has no form in JSON here; send it as binary/protobuf`);
  }
  const json: Fields = {};
  for (const field of type.fieldsArray) {
    if (
      !Object.hasOwn(source, field.name) || source[field.name] === undefined ||
      source[field.name] === null
    ) continue;
    json[field.name] = each(field.resolve(), source[field.name], (value) => fieldOut(field, value));
  }
  return json;
}

function fieldOut(field: Field, value: unknown): unknown {
  const { resolvedType, type } = field;
  if (isEnum(resolvedType)) return resolvedType.valuesById[value as number] ?? value;
  if (resolvedType !== null) return toProtoJson(resolvedType, value as object);
  if (LONGS.test(type)) return bigintOf(value as LongLike).toString();
  if (type === "bytes") return base64Encode(value as Uint8Array);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value;
}

/** Parses the JSON of a message. Ignores unknown fields. */
export function fromProtoJson(type: ProtobufType, json: unknown): object {
  const name = formatTypeName(type);
  if (WRAPPER.test(name)) return type.create({ value: fieldIn(type.fieldsArray[0]!, json) });
  if (name === "google.protobuf.Timestamp") {
    const [, whole, digits = ""] = /^(.*?)(?:\.(\d{1,9}))?Z$/.exec(String(json)) ?? [];
    const ms = Date.parse(`${whole}Z`);
    if (Number.isNaN(ms)) {
      throw new PayloadConverterError(`${JSON.stringify(json)} is not a ${name}`);
    }
    return type.create({
      seconds: Long.fromNumber(ms / 1000),
      nanos: Number(digits.padEnd(9, "0")),
    });
  }
  if (name === "google.protobuf.Duration") {
    const [, sign, seconds, digits = ""] = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(String(json)) ?? [];
    if (seconds === undefined) {
      throw new PayloadConverterError(`${JSON.stringify(json)} is not a ${name}`);
    }
    const factor = sign === "-" ? -1 : 1;
    return type.create({
      seconds: Long.fromNumber(Number(seconds) * factor),
      nanos: Number(digits.padEnd(9, "0")) * factor,
    });
  }
  if (typeof json !== "object" || json === null) {
    throw new PayloadConverterError(`${JSON.stringify(json)} is not a ${name}`);
  }
  const fields: Fields = {};
  for (const field of type.fieldsArray) {
    const value = (json as Fields)[field.name] ?? (json as Fields)[snake(field.name)];
    if (value === undefined || value === null) continue;
    fields[field.name] = each(field.resolve(), value, (item) => fieldIn(field, item));
  }
  return type.create(fields);
}

function fieldIn(field: Field, value: unknown): unknown {
  const { resolvedType, type } = field;
  if (isEnum(resolvedType)) return typeof value === "string" ? resolvedType.values[value] : value;
  if (resolvedType !== null) return fromProtoJson(resolvedType, value);
  if (LONGS.test(type)) {
    return Long.fromBigInt(BigInt(value as string), type.startsWith("u") || type === "fixed64");
  }
  if (type === "bytes") return base64Decode(value as string);
  if (typeof value === "string" && /^(?:double|float)$/.test(type)) return Number(value);
  return value;
}

function each({ repeated, map }: Field, value: unknown, convert: Convert): unknown {
  if (map) {
    return Object.fromEntries(
      Object.entries(value as object).map(([key, item]) => [key, convert(item)]),
    );
  }
  return repeated ? Array.from(value as Iterable<unknown>, convert) : convert(value);
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const times = ({ seconds, nanos }: Fields) => ({
  seconds: bigintOf((seconds ?? 0) as LongLike),
  nanos: Number(nanos ?? 0),
});
const fraction = (nanos: number): string =>
  nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/(?:000)+$/, "")}`;
