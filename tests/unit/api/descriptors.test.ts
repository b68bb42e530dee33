// Descriptors that are built when they are needed (ts/messages/descriptors.ts) are the ones that
// the library builds from the same bytes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  create,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescService,
  equals,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { base64Decode } from "@bufbuild/protobuf/wire";
import * as wkt from "@bufbuild/protobuf/wkt";
import { fileAsJson } from "../../../ts/messages/descriptor_reader.ts";
import { fileDesc as lazily } from "../../../ts/messages/descriptors.ts";
import { StartWorkflowExecutionRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import * as ours from "../../../ts/messages/well_known.ts";

const folder = join(process.cwd(), "ts/messages/generated");
const walk = (dir: string): string[] =>
  readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });

/** Base64 and imports of every generated file, by the name of its constant. */
const sources = new Map(
  walk(folder).filter((path) => path.endsWith("_pb.ts")).map((path) => {
    const text = readFileSync(path, "utf8");
    const [, name, base64, imports = ""] =
      /export const (file_\w+): GenFile[^"]*"([^"]*)"(?:, \[([^\]]*)\])?\)/.exec(text)!;
    return [name!, {
      path,
      base64: base64!,
      imports: imports.split(",").map((i) => i.trim()).filter((i) => i !== ""),
    }];
  }),
);

const known = new Map<string, DescFile>(
  Object.entries(wkt).filter(([name]) => name.startsWith("file_")) as [string, DescFile][],
);
function byTheLibrary(name: string): DescFile {
  let file = known.get(name);
  if (file === undefined) {
    const { base64, imports } = sources.get(name)!;
    // Flat, or the library walks the whole graph once for every path in it.
    known.set(
      name,
      file = fileDesc(base64, imports.map((i) => ({ ...byTheLibrary(i), dependencies: [] }))),
    );
  }
  return file;
}

const defaultOf = (field: { getDefaultValue?: (() => unknown) | undefined }) =>
  field.getDefaultValue?.();
const ofField = (field: DescField) => ({
  ...field,
  ...{
    parent: field.parent.typeName,
    oneof: field.oneof?.name,
    proto: undefined,
    toString: String(field),
  },
  ...{
    message: field.message?.typeName,
    enum: field.enum?.typeName,
    default: defaultOf(field as object),
    getDefaultValue: undefined,
  },
});
const ofEnum = ({ typeName, name, open, sharedPrefix, deprecated, values, value }: DescEnum) => ({
  ...{ typeName, name, open, sharedPrefix, deprecated },
  values: values.map(({ name, localName, number, jsonName, deprecated }) => ({
    name,
    localName,
    number,
    jsonName,
    deprecated,
  })),
  numbers: Object.keys(value),
});
const ofMessage = (message: DescMessage): unknown => ({
  ...{
    kind: message.kind,
    typeName: message.typeName,
    name: message.name,
    deprecated: message.deprecated,
    text: String(message),
  },
  file: message.file.name,
  parent: message.parent?.typeName,
  fields: message.fields.map(ofField),
  keys: Object.keys(message.field),
  members: message.members.map((member) => `${member.kind} ${member.localName}`),
  oneofs: message.oneofs.map(({ name, localName, fields }) => ({
    name,
    localName,
    fields: fields.map((field) => field.name),
  })),
  nestedMessages: message.nestedMessages.map(ofMessage),
  nestedEnums: message.nestedEnums.map(ofEnum),
});
const ofService = ({ typeName, methods }: DescService) => ({
  typeName,
  methods: methods.map((
    { name, localName, methodKind, input, output, idempotency, deprecated },
  ) => ({
    ...{ name, localName, methodKind, idempotency, deprecated },
    types: [input.typeName, output.typeName],
  })),
});
const ofFile = (file: DescFile) => ({
  ...{
    kind: file.kind,
    name: file.name,
    edition: file.edition,
    deprecated: file.deprecated,
    package: file.proto.package,
  },
  dependencies: file.dependencies.map((dependency) => dependency.name),
  messages: file.messages.map(ofMessage),
  enums: file.enums.map(ofEnum),
  services: file.services.map(ofService),
  extensions: file.extensions.length,
});

for (const [name, { path, base64, imports }] of sources) {
  test(`${name} is what the library builds`, async () => {
    const url = pathToFileURL(path).href;
    // Node runs the built files.
    const module = await import(
      "Deno" in globalThis ? url : url.replace("/ts/", "/dist/ts/").replace(/\.ts$/, ".js")
    );
    assert.deepEqual(ofFile(module[name]), ofFile(byTheLibrary(name)));
    // The same as JSON, as the package has it for Node.
    const fromJson = lazily(
      fileAsJson(base64Decode(base64)),
      imports.map((i) => module[i] ?? byTheLibrary(i)),
    );
    assert.deepEqual(ofFile(fromJson), ofFile(byTheLibrary(name)));
    for (const [key, value] of Object.entries(module as { [name: string]: DescMessage })) {
      if (/Schema$/.test(key) && value.kind === "message") {
        assert.equal(`${value.name}Schema`, key.replace(/^.*_/, ""));
      }
    }
  });
}

test("the descriptors of well-known files equal those of the library", () => {
  const files = Object.entries(ours).filter(([name]) => name.startsWith("file_"));
  assert.equal(files.length, 7);
  for (const [name, file] of files) {
    assert.deepEqual(ofFile(file as DescFile), ofFile(known.get(name)!), name);
  }
});

test("messages are created, encoded, compared and mapped to JSON with the generated descriptors", () => {
  const schema = StartWorkflowExecutionRequestSchema;
  const message = create(schema, {
    workflowId: "a",
    workflowExecutionTimeout: ours.durationFromMs(1500),
    input: {
      payloads: [{ metadata: { encoding: new Uint8Array([1]) }, data: new Uint8Array([2]) }],
    },
    memo: { fields: { k: { data: new Uint8Array([3]) } } },
  });
  const again = fromBinary(schema, toBinary(schema, message));
  assert.ok(equals(schema, message, again));
  const json = toJson(schema, again) as JsonObject;
  assert.equal(json["workflowExecutionTimeout"], "1.500s");
  assert.ok(equals(schema, fromJson(schema, json), message));
});

test("times and durations are converted like in the library", () => {
  for (const ms of [0, 1, 999, 1000, 1500, 86_400_000.25, -1, -1500]) {
    const { seconds, nanos } = wkt.durationFromMs(ms);
    const duration = ours.durationFromMs(ms);
    assert.deepEqual(
      [duration.seconds, duration.nanos],
      [seconds, Math.round(nanos) + 0],
      String(ms),
    );
    assert.equal(ours.durationMs(duration), wkt.durationMs(duration));
  }
  const timestamp = wkt.timestampFromMs(1_700_000_000_123);
  assert.equal(ours.timestampMs(timestamp), 1_700_000_000_123);
  assert.equal(ours.timestampDate(timestamp).getTime(), 1_700_000_000_123);
});
