// usage: node load_histories.mjs FOLDER   Reads each NAME.json and NAME.bin with Temporal's own SDK (the loader that its replayer uses,
// and the generated protobuf code) and holds one against the other. Prints { loaded }.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(new URL("../package.json", import.meta.url));
// Each of its packages bundles a copy of protobufjs of the same version, and types of two copies do
// not mix: use one copy for all.
const resolve = Module._resolveFilename;
const copy = dirname(
  createRequire(require.resolve("@temporalio/common")).resolve("protobufjs/package.json"),
);
Module._resolveFilename = function (request, ...rest) {
  return resolve.call(this, request.replace(/^protobufjs(?=\/|$)/, copy), ...rest);
};
const { historyFromJSON } = require("@temporalio/common/lib/proto-utils");
const { History } = require("@temporalio/proto").temporal.api.history.v1;

const folder = process.argv[2];
const text = (history) =>
  JSON.stringify(History.toObject(history, { longs: String, bytes: String, enums: String }));
let loaded = 0;
for (const name of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const fromJson = historyFromJSON(JSON.parse(readFileSync(join(folder, name), "utf8")));
  const fromBinary = History.decode(readFileSync(join(folder, name.replace(/json$/, "bin"))));
  assert.ok(fromJson.events.length > 0, name);
  const again = History.decode(History.encode(fromJson).finish());
  if (text(again) !== text(fromBinary)) {
    assert.deepEqual(JSON.parse(text(again)), JSON.parse(text(fromBinary)), name);
  }
  loaded++;
}
console.log(JSON.stringify({ loaded }));
