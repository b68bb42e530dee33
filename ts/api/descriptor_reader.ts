// Reads an encoded google.protobuf.FileDescriptorProto as a plain object of that message's form, as far as descriptors are built from it.
// The library reads it with its general decoder, which has to build the descriptors of descriptor.proto first.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";

type Read = "string" | "int" | "bool" | Shape;
interface Field {
  readonly name: string;
  readonly read: Read;
  readonly repeated?: true;
}
interface Shape {
  readonly typeName: string;
  /** By number. What is not listed is skipped. */
  readonly fields: { readonly [number: number]: Field };
  /** Lists, which are there even when empty, and defaults of proto2, which must not count as set. */
  readonly empty: readonly string[];
  readonly defaults: object;
}

function shape(name: string, fields: { readonly [number: number]: Field }, defaults: object = {}): Shape {
  const empty = Object.values(fields).filter((field) => field.repeated).map((field) => field.name);
  return { typeName: `google.protobuf.${name}`, fields, empty, defaults };
}
const one = (name: string, read: Read): Field => ({ name, read });
const many = (name: string, read: Read): Field => ({ name, read, repeated: true });
const deprecated = one("deprecated", "bool");

const VALUE = shape("EnumValueDescriptorProto", {
  1: one("name", "string"),
  2: one("number", "int"),
  3: one("options", shape("EnumValueOptions", { 1: deprecated })),
});
const ENUM = shape("EnumDescriptorProto", {
  1: one("name", "string"),
  2: many("value", VALUE),
  3: one("options", shape("EnumOptions", { 3: deprecated })),
});
const FIELD = shape("FieldDescriptorProto", {
  1: one("name", "string"),
  2: one("extendee", "string"),
  3: one("number", "int"),
  4: one("label", "int"),
  5: one("type", "int"),
  6: one("typeName", "string"),
  7: one("defaultValue", "string"),
  8: one("options", shape("FieldOptions", { 2: one("packed", "bool"), 3: deprecated, 6: one("jstype", "int") }, { jstype: 0 })),
  9: one("oneofIndex", "int"),
  10: one("jsonName", "string"),
  17: one("proto3Optional", "bool"),
}, { extendee: "", label: 1, type: 1, typeName: "", defaultValue: "", oneofIndex: 0, jsonName: "", proto3Optional: false });
const MESSAGE_FIELDS: { [number: number]: Field } = {
  1: one("name", "string"),
  2: many("field", FIELD),
  4: many("enumType", ENUM),
  6: many("extension", FIELD),
  7: one("options", shape("MessageOptions", { 3: deprecated, 7: one("mapEntry", "bool") }, { mapEntry: false })),
  8: many("oneofDecl", shape("OneofDescriptorProto", { 1: one("name", "string") })),
};
const MESSAGE: Shape = {
  ...shape("DescriptorProto", MESSAGE_FIELDS),
  empty: ["field", "nestedType", "enumType", "extension", "oneofDecl"],
};
MESSAGE_FIELDS[3] = many("nestedType", MESSAGE);
const METHOD = shape("MethodDescriptorProto", {
  1: one("name", "string"),
  2: one("inputType", "string"),
  3: one("outputType", "string"),
  4: one("options", shape("MethodOptions", { 33: deprecated, 34: one("idempotencyLevel", "int") }, { idempotencyLevel: 0 })),
  5: one("clientStreaming", "bool"),
  6: one("serverStreaming", "bool"),
}, { clientStreaming: false, serverStreaming: false });
const FILE = shape("FileDescriptorProto", {
  1: one("name", "string"),
  2: one("package", "string"),
  3: many("dependency", "string"),
  4: many("messageType", MESSAGE),
  5: many("enumType", ENUM),
  6: many(
    "service",
    shape("ServiceDescriptorProto", {
      1: one("name", "string"),
      2: many("method", METHOD),
      3: one("options", shape("ServiceOptions", { 33: deprecated })),
    }),
  ),
  7: many("extension", FIELD),
  8: one("options", shape("FileOptions", { 23: deprecated })),
  12: one("syntax", "string"),
  14: one("edition", "int"),
}, { package: "", syntax: "", edition: 0 });

/** An encoded file as the JSON that `fileDesc` takes. Defaults of proto2 are left out, which the library takes as not set. */
export function fileAsJson(bytes: Uint8Array): string {
  return JSON.stringify(
    readFileDescriptor(bytes),
    (key, value) => key === "$typeName" && value !== FILE.typeName ? undefined : value,
  );
}

type Plain = { [name: string]: unknown };

export function readFileDescriptor(bytes: Uint8Array): FileDescriptorProto {
  const reader = new BinaryReader(bytes);
  return read(reader, bytes.length, FILE) as unknown as FileDescriptorProto;
}

function read(reader: BinaryReader, end: number, { typeName, fields, empty, defaults }: Shape): Plain {
  const message = Object.create(defaults) as Plain;
  message["$typeName"] = typeName;
  for (const name of empty) message[name] = [];
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    const field = fields[number];
    if (field === undefined) {
      reader.skip(type, number);
      continue;
    }
    const value = readValue(reader, field.read, type);
    if (field.repeated) (message[field.name] as unknown[]).push(value);
    else message[field.name] = value;
  }
  if (typeName === FIELD.typeName && !Object.hasOwn(message, "jsonName")) {
    message["jsonName"] = camelCase(message["name"] as string);
  }
  return message;
}

function readValue(reader: BinaryReader, kind: Read, type: WireType): unknown {
  switch (kind) {
    case "string":
      return reader.string();
    case "int":
      return reader.int32();
    case "bool":
      return reader.bool();
  }
  if (type !== WireType.LengthDelimited) throw new Error(`a ${kind.typeName} has wire type ${type}`);
  const length = reader.uint32();
  return read(reader, reader.pos + length, kind);
}

/** protoc's rule: an underscore goes, and what follows it becomes upper case. */
function camelCase(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}
