// Descriptors of the generated messages, built on first access. The library's `fileDesc` builds
// every file and its dependencies at import, half of the time of `import "temporalex"`.
// tools/gen_proto points the generated files here. A schema constant is a stand-in that copies the
// properties of the real descriptor on first access. The library compares types by name, not by
// identity, so both may occur.
import {
  createFileRegistry,
  type DescEnum,
  type DescFile,
  type DescMessage,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type {
  GenEnum,
  GenFile,
  GenMessage,
  GenService,
  GenServiceMethods,
} from "@bufbuild/protobuf/codegenv2";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { readFileDescriptor } from "./descriptor_reader.ts";

const BUILD = Symbol("build");

/** Names of all properties of descriptors. */
const PROPERTIES = [
  ...[
    "kind",
    "typeName",
    "name",
    "file",
    "parent",
    "fields",
    "field",
    "oneofs",
    "members",
    "nestedEnums",
    "nestedMessages",
  ],
  ...[
    "nestedExtensions",
    "deprecated",
    "proto",
    "toString",
    "open",
    "values",
    "value",
    "sharedPrefix",
    "methods",
    "method",
  ],
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
      return Object.hasOwn(this, name)
        ? (this as unknown as { [name: string]: unknown })[name]
        : undefined;
    },
  });
}

/**
 * A file: its FileDescriptorProto in base64, without names of imports and derivable JSON names; or
 * the same as JSON (fileAsJson), which is read five times as fast and is twice as long.
 */
export function fileDesc(text: string, imports: readonly DescFile[] = []): GenFile {
  let built: DescFile | undefined;
  return new StandIn(() => built ??= build(text, imports)) as unknown as GenFile;
}

function build(text: string, imports: readonly DescFile[]): DescFile {
  const proto = text.startsWith("{")
    ? JSON.parse(text) as FileDescriptorProto
    : readFileDescriptor(base64Decode(text));
  proto.dependency = imports.map((file) => file.proto.name);
  // Types are looked up only in direct imports, so that transitive ones are not walked for every
  // file.
  const direct = new Map(
    imports.map((file) => [file.proto.name, { ...shallow(file), dependencies: [] }]),
  );
  return createFileRegistry(proto, (name) => direct.get(name)).getFile(proto.name)!;
}

function shallow(file: DescFile): DescFile {
  const {
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
  } = file;
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

export function messageDesc<T extends Message>(
  file: DescFile,
  first: number,
  ...rest: number[]
): GenMessage<T> {
  return new StandIn(() => within(file, first, rest)) as unknown as GenMessage<T>;
}

export function enumDesc<T extends number>(
  file: DescFile,
  first: number,
  ...rest: number[]
): GenEnum<T> {
  const find = (): DescEnum =>
    rest.length === 0
      ? file.enums[first]!
      : within(file, first, rest.slice(0, -1)).nestedEnums[rest.at(-1)!]!;
  return new StandIn(find) as unknown as GenEnum<T>;
}

export function serviceDesc<T extends GenServiceMethods>(
  file: DescFile,
  index: number,
): GenService<T> {
  return new StandIn((): DescService => file.services[index]!) as unknown as GenService<T>;
}
