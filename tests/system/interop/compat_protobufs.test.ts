// runtime: node
// takes: 20 s
// Programs that have protobufjs in workflow code, in both versions that the official packages
// bring: a root of its reflection (pbjs -t json-module) in a payload converter and in workflow
// code, a static module, and `@temporalio/proto`. They know nothing of temporalex.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { projectWith, runIn } from "../../unit/compat/package_names/support.ts";
import { noOfficial, root } from "./support/official.ts";

const INSTALLED = join(root, "tests/system/interop/node_modules");
const VERSIONS = { 7: "protobufjs", 8: "@temporalio/proto/node_modules/protobufjs" } as const;

/** What `pbjs -t json-module` writes, patched as the official guide has it. */
const ROOT = `
const { patchProtobufRoot } = require("@temporalio/common/lib/protobufs");
const $protobuf = require("protobufjs/light");
const $root = ($protobuf.roots["test"] || ($protobuf.roots["test"] = new $protobuf.Root())).addJSON({
  Bytes: { fields: { data: { type: "bytes", id: 1 } } },
  foo: { nested: { bar: { nested: {
    Kind: { values: { NONE: 0, SOME: 1 } },
    Part: { fields: { marks: { keyType: "string", type: "int32", id: 1 } } },
    Input: { fields: { name: { type: "string", id: 1 }, age: { type: "int64", id: 2 }, kind: { type: "Kind", id: 3 },
      parts: { rule: "repeated", type: "Part", id: 4 }, import: { type: "Part", id: 5 } } },
  } } } },
});
module.exports = patchProtobufRoot($root);
`;
/** What `pbjs -t static-module` writes of a message, in short. */
const STATIC = `
const $protobuf = require("protobufjs/minimal");
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer;
exports.Note = class Note {
  static encode(m, w = $Writer.create()) { return w.uint32(10).string(m.text); }
  static decode(bytes) { const r = $Reader.create(bytes); r.uint32(); return { text: r.string() }; }
};
`;
const USES = `
export function use(root, note) {
  const { Input } = root.foo.bar;
  const given = { name: "x", age: 7, kind: 1, parts: [{ marks: { a: 1 } }], import: { marks: {} } };
  const bytes = Input.encode(Input.create(given)).finish();
  const back = Input.toObject(Input.decode(bytes), { enums: String, longs: String, defaults: true });
  const text = note.decode(note.encode({ text: "noted" }).finish()).text;
  return JSON.stringify([[...bytes], back, Input.verify({ kind: "x" }), Input.fromObject({ kind: "SOME", name: 5 }), text]);
}
`;
const WORKFLOWS = `
import { sleep } from "@temporalio/workflow";
import root from "./root.cjs";
import { Note } from "./static.cjs";
import { use } from "./use.mjs";
export async function echo(message) {
  if (!(message.data instanceof Uint8Array)) throw new TypeError("no bytes");
  await sleep(1);
  return root.Bytes.create({ data: message.data.map((n) => n + 1) });
}
export async function computes() {
  return use(root, Note);
}
`;
const APP = `
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { Client } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import root from "./root.cjs";
import { Note } from "./static.cjs";
import { use } from "./use.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
Runtime.install({ logger: new DefaultLogger("WARN") });
const env = await TestWorkflowEnvironment.createLocal();
const dataConverter = { payloadConverterPath: path("./converter.cjs") };
const client = new Client({ connection: env.connection, dataConverter });
const run = async (taskQueue, workflowsPath, type, ...args) => {
  const worker = await Worker.create({ connection: env.nativeConnection, taskQueue, workflowsPath: path(workflowsPath), dataConverter });
  const options = { taskQueue, workflowId: type, args, workflowRunTimeout: "20s" };
  return await worker.runUntil(client.workflow.execute(type, options));
};
const answer = await run("echo", "./workflows.mjs", "echo", root.Bytes.create({ data: new Uint8Array([1, 2]) }));
assert.ok(answer instanceof root.Bytes.ctor, "it is a message");
assert.deepEqual([...answer.data], [2, 3]);
assert.equal(await run("computes", "./workflows.mjs", "computes"), use(root, Note));
if (process.argv[2] === "proto") assert.deepEqual(await run("api", "./api.mjs", "api"), [18, 2, 1, 2]);
await env.teardown();
console.log("done");
`;
const API = `
import { temporal } from "@temporalio/proto";
export async function api() {
  const { Payload } = temporal.api.common.v1;
  return [...Payload.encode(Payload.create({ data: new Uint8Array([1, 2]) })).finish()];
}
`;
const CONVERTER = `
const { DefaultPayloadConverterWithProtobufs } = require("@temporalio/common/lib/protobufs");
exports.payloadConverter = new DefaultPayloadConverterWithProtobufs({ protobufRoot: require("./root.cjs") });
`;

for (const [version, place] of Object.entries(VERSIONS)) {
  test(
    `protobufjs ${version} in workflow code and in a payload converter`,
    { skip: noOfficial },
    (t) => {
      const folder = projectWith(t, {
        ...{
          "root.cjs": ROOT,
          "static.cjs": STATIC,
          "use.mjs": USES,
          "workflows.mjs": WORKFLOWS,
          "app.mjs": APP,
        },
        ...{ "converter.cjs": CONVERTER, "api.mjs": API },
      });
      mkdirSync(join(folder, "node_modules/@temporalio"));
      symlinkSync(join(INSTALLED, place), join(folder, "node_modules/protobufjs"), "dir");
      symlinkSync(
        join(INSTALLED, "@temporalio/proto"),
        join(folder, "node_modules/@temporalio/proto"),
        "dir",
      );
      const args = [
        "--import",
        "temporalex/compat/register",
        "app.mjs",
        ...(version === "8" ? ["proto"] : []),
      ];
      const { status, stdout, stderr } = runIn(folder, process.execPath, args);
      assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "done\n", stderr: "" });
    },
  );
}
