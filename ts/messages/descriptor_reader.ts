// Reads an encoded google.protobuf.FileDescriptorProto as a plain object, as far as descriptors
// need it. The library's decoder would first have to build the descriptors of descriptor.proto.
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import * as tags from "./generated/fields.ts";
import { Fields } from "./wire.ts";

type Read = "string" | "int" | "bool" | Shape;
interface Field {
  readonly tag: number;
  readonly name: string;
  readonly read: Read;
  readonly repeated: boolean;
}
interface Shape {
  readonly typeName: string;
  /** By number. Other fields are skipped. */
  readonly fields: { [number: number]: Field };
  /**
   * Names of lists, which exist even if empty; and proto2 defaults, which must not count as set.
   */
  readonly empty: string[];
  readonly defaults: object;
}

/** A list of values. */
class Many {
  readonly of: Read;

  constructor(of: Read) {
    this.of = of;
  }
}
const many = (of: Read) => new Many(of);

type Reads<Tags> = { readonly [Name in keyof Tags]?: Read | Many };

function shape<Tags extends { readonly [name: string]: number }>(
  name: string,
  tagsOf: Tags,
  reads: Reads<Tags>,
  defaults: object = {},
): Shape {
  const made: Shape = { typeName: `google.protobuf.${name}`, fields: {}, empty: [], defaults };
  addFields(made, tagsOf, reads);
  return made;
}

function addFields<Tags extends { readonly [name: string]: number }>(
  to: Shape,
  tagsOf: Tags,
  reads: Reads<Tags>,
): void {
  for (const [name, read] of Object.entries(reads) as [string, Read | Many][]) {
    const repeated = read instanceof Many;
    const tag = tagsOf[name]!;
    to.fields[tag >>> 3] = { tag, name, read: repeated ? read.of : read, repeated };
    if (repeated) to.empty.push(name);
  }
}

const DEPRECATED = { deprecated: "bool" } as const;
const VALUE = shape("EnumValueDescriptorProto", tags.EnumValueDescriptorProto, {
  name: "string",
  number: "int",
  options: shape("EnumValueOptions", tags.EnumValueOptions, DEPRECATED),
});
const ENUM = shape("EnumDescriptorProto", tags.EnumDescriptorProto, {
  name: "string",
  value: many(VALUE),
  options: shape("EnumOptions", tags.EnumOptions, DEPRECATED),
});
const FIELD = shape("FieldDescriptorProto", tags.FieldDescriptorProto, {
  ...{
    name: "string",
    extendee: "string",
    number: "int",
    label: "int",
    type: "int",
    typeName: "string",
    defaultValue: "string",
  },
  options: shape("FieldOptions", tags.FieldOptions, {
    packed: "bool",
    ...DEPRECATED,
    jstype: "int",
  }, { jstype: 0 }),
  ...{ oneofIndex: "int", jsonName: "string", proto3Optional: "bool" },
}, {
  extendee: "",
  label: 1,
  type: 1,
  typeName: "",
  defaultValue: "",
  oneofIndex: 0,
  jsonName: "",
  proto3Optional: false,
});
const MESSAGE = shape("DescriptorProto", tags.DescriptorProto, {
  name: "string",
  field: many(FIELD),
});
addFields(MESSAGE, tags.DescriptorProto, {
  nestedType: many(MESSAGE),
  enumType: many(ENUM),
  extension: many(FIELD),
  options: shape("MessageOptions", tags.MessageOptions, { ...DEPRECATED, mapEntry: "bool" }, {
    mapEntry: false,
  }),
  oneofDecl: many(shape("OneofDescriptorProto", tags.OneofDescriptorProto, { name: "string" })),
});
const METHOD = shape("MethodDescriptorProto", tags.MethodDescriptorProto, {
  ...{ name: "string", inputType: "string", outputType: "string" },
  options: shape("MethodOptions", tags.MethodOptions, { ...DEPRECATED, idempotencyLevel: "int" }, {
    idempotencyLevel: 0,
  }),
  ...{ clientStreaming: "bool", serverStreaming: "bool" },
}, { clientStreaming: false, serverStreaming: false });
const SERVICE = shape("ServiceDescriptorProto", tags.ServiceDescriptorProto, {
  name: "string",
  method: many(METHOD),
  options: shape("ServiceOptions", tags.ServiceOptions, DEPRECATED),
});
const FILE = shape("FileDescriptorProto", tags.FileDescriptorProto, {
  ...{
    name: "string",
    package: "string",
    dependency: many("string"),
    messageType: many(MESSAGE),
    enumType: many(ENUM),
  },
  ...{
    service: many(SERVICE),
    extension: many(FIELD),
    options: shape("FileOptions", tags.FileOptions, DEPRECATED),
  },
  ...{ syntax: "string", edition: "int" },
}, { package: "", syntax: "", edition: 0 });

/**
 * Returns an encoded file as JSON for `fileDesc`, without proto2 defaults, which count as not set.
 */
export function fileAsJson(bytes: Uint8Array): string {
  return JSON.stringify(
    readFileDescriptor(bytes),
    (key, value) => key === "$typeName" && value !== FILE.typeName ? undefined : value,
  );
}

type Plain = { [name: string]: unknown };

export function readFileDescriptor(bytes: Uint8Array): FileDescriptorProto {
  return read(new Fields(bytes), FILE) as unknown as FileDescriptorProto;
}

function read(at: Fields, { typeName, fields, empty, defaults }: Shape): Plain {
  const message = Object.create(defaults) as Plain;
  message["$typeName"] = typeName;
  for (const name of empty) message[name] = [];
  while (at.next()) {
    const field = fields[at.number];
    if (field?.tag !== at.tag) continue;
    const value = readValue(at, field.read);
    if (field.repeated) (message[field.name] as unknown[]).push(value);
    else message[field.name] = value;
  }
  if (typeName === FIELD.typeName && !Object.hasOwn(message, "jsonName")) {
    message["jsonName"] = camelCase(message["name"] as string);
  }
  return message;
}

function readValue(at: Fields, kind: Read): unknown {
  switch (kind) {
    case "string":
      return at.text();
    case "int":
      return at.int();
    case "bool":
      return at.bool();
  }
  return read(at.inner(), kind);
}

/** protoc's rule: removes underscores, and the next character becomes upper case. */
function camelCase(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}
