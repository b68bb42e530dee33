// What the generated messages stand on: descriptors that are built when they are first looked at. The library's own `fileDesc` builds every
// file of a graph, and for each all that it depends on, when the module is imported; for Temporal's API that was half of the time of
// `import "temporalex"`. Here a file costs nothing until one of its messages is created, encoded or decoded, and then it is built once,
// through the library's public createFileRegistry. tools/gen_proto points the generated files here.
//
// A schema constant is a stand-in for the descriptor: at the first look it takes over all properties of the real one and is from then on
// an ordinary object. The library compares types by name, never by identity, so that a message has both does not matter.
import {
  createFileRegistry,
  type DescEnum,
  type DescFile,
  type DescMessage,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type { GenEnum, GenFile, GenMessage, GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { readFileDescriptor } from "./descriptor_reader.ts";

const BUILD = Symbol("build");

/** Names of all properties that descriptors have. */
const PROPERTIES = [
  ...["kind", "typeName", "name", "file", "parent", "fields", "field", "oneofs", "members", "nestedEnums", "nestedMessages"],
  ...["nestedExtensions", "deprecated", "proto", "toString", "open", "values", "value", "sharedPrefix", "methods", "method"],
  ...["edition", "dependencies", "enums", "messages", "extensions", "services"],
];

class StandIn {
  constructor(build: () => object) {
    Object.defineProperty(this, BUILD, { value: build });
  }
}
for (const name of PROPERTIES) {
  Object.defineProperty(StandIn.prototype, name, {
    get(this: StandIn & { [BUILD]: () => object }): unknown {
      Object.defineProperties(this, Object.getOwnPropertyDescriptors(this[BUILD]()));
      return Object.hasOwn(this, name) ? (this as unknown as { [name: string]: unknown })[name] : undefined;
    },
  });
}

/**
 * A file: its FileDescriptorProto, encoded in base64, without the names of the files that it imports and without JSON names that follow from
 * names; or the same as JSON (fileAsJson), which takes a fifth of the time to read and twice the place.
 */
export function fileDesc(text: string, imports: readonly DescFile[] = []): GenFile {
  let built: DescFile | undefined;
  return new StandIn(() => built ??= build(text, imports)) as unknown as GenFile;
}

function build(text: string, imports: readonly DescFile[]): DescFile {
  const proto = text.startsWith("{") ? JSON.parse(text) as FileDescriptorProto : readFileDescriptor(base64Decode(text));
  proto.dependency = imports.map((file) => file.proto.name);
  // Types are looked up in the files that are imported directly; what those import in turn is not walked again for every file.
  const direct = new Map(imports.map((file) => [file.proto.name, { ...shallow(file), dependencies: [] }]));
  return createFileRegistry(proto, (name) => direct.get(name)).getFile(proto.name)!;
}

function shallow(file: DescFile): DescFile {
  const { kind, edition, name, dependencies, enums, messages, extensions, services, deprecated, proto } = file;
  return {
    kind,
    edition,
    name,
    dependencies,
    enums,
    messages,
    extensions,
    services,
    deprecated,
    proto,
    toString: () => `file ${name}`,
  };
}

const within = (file: DescFile, first: number, rest: readonly number[]): DescMessage =>
  rest.reduce((message, index) => message.nestedMessages[index]!, file.messages[first]!);

export function messageDesc<T extends Message>(file: DescFile, first: number, ...rest: number[]): GenMessage<T> {
  return new StandIn(() => within(file, first, rest)) as unknown as GenMessage<T>;
}

export function enumDesc<T extends number>(file: DescFile, first: number, ...rest: number[]): GenEnum<T> {
  const find = (): DescEnum =>
    rest.length === 0 ? file.enums[first]! : within(file, first, rest.slice(0, -1)).nestedEnums[rest.at(-1)!]!;
  return new StandIn(find) as unknown as GenEnum<T>;
}

export function serviceDesc<T extends GenServiceMethods>(file: DescFile, index: number): GenService<T> {
  return new StandIn((): DescService => file.services[index]!) as unknown as GenService<T>;
}
