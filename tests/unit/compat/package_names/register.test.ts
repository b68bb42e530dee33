// runtime: node
// `node --import temporalex/compat/register`: programs of `@temporalio/*` get the modules of this
// package, in ES modules and in CommonJS.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { projectWith, runIn } from "./support.ts";

/** As people write it, and as tsc writes it for CommonJS. */
const ES = `
import { ApplicationFailure } from "@temporalio/common";
import { encode } from "@temporalio/common/lib/encoding";
import * as workflow from "@temporalio/workflow";
import { loadClientConnectConfig } from "@temporalio/envconfig";
const failure = workflow.ApplicationFailure.create({ message: "no" });
const { connectionOptions } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: { TEMPORAL_ADDRESS: "host:1" } });
const late = await import("@temporalio/common");
console.log(failure instanceof ApplicationFailure, late.ApplicationFailure === ApplicationFailure, encode("ab").length, connectionOptions.address);
`;
const COMMONJS = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const common_1 = require("@temporalio/common");
const encoding_1 = require("@temporalio/common/lib/encoding");
const workflow = require("@temporalio/workflow");
const envconfig_1 = require("@temporalio/envconfig");
async function run() {
  const failure = workflow.ApplicationFailure.create({ message: "no" });
  const { connectionOptions } = (0, envconfig_1.loadClientConnectConfig)({ disableFile: true, overrideEnvVars: { TEMPORAL_ADDRESS: "host:1" } });
  const late = await import("@temporalio/common");
  console.log(failure instanceof common_1.ApplicationFailure, late.ApplicationFailure === common_1.ApplicationFailure,
    (0, encoding_1.encode)("ab").length, connectionOptions.address);
}
run();
`;
const SAYS = "true true 2 host:1\n";
/** A stub for an installed official package: it must not be loaded. */
const INSTALLED = {
  "node_modules/@temporalio/common/package.json":
    '{ "name": "@temporalio/common", "main": "index.js" }',
  "node_modules/@temporalio/common/index.js":
    'throw new Error("the installed package was loaded");',
};
const HOOKS = "temporalex/compat/register";

for (const [packages, installed] of [["not installed", {}], ["installed", INSTALLED]] as const) {
  for (
    const [name, args] of [
      ["ES modules, --import", ["--import", HOOKS, "app.mjs"]],
      ["CommonJS, --import", ["--import", HOOKS, "app.cjs"]],
      ["CommonJS, --require", ["--require", HOOKS, "app.cjs"]],
      ["a CommonJS module that an ES module imports", ["--import", HOOKS, "mixed.mjs"]],
    ] as const
  ) {
    test(`${name}; the official packages are ${packages}`, (t) => {
      const folder = projectWith(t, {
        "app.mjs": ES,
        "app.cjs": COMMONJS,
        "mixed.mjs": 'import "./app.cjs";',
        ...installed,
      });
      const { status, stdout, stderr } = runIn(folder, process.execPath, [...args]);
      assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: SAYS, stderr: "" });
    });
  }
}

test("require.resolve returns the path of the loaded file", (t) => {
  const folder = projectWith(t, {
    "app.cjs": 'console.log(require.resolve("@temporalio/workflow"));',
  });
  const { stdout } = runIn(folder, process.execPath, ["--import", HOOKS, "app.cjs"]);
  assert.match(stdout, /compat\/workflow\/mod\.js\n$/);
});

for (
  const [file, text] of [["app.mjs", 'import "@temporalio/core-bridge";'], [
    "app.cjs",
    'require("@temporalio/core-bridge");',
  ]] as const
) {
  test(`${file}: an official package without a replacement is rejected by name, with what to do`, (t) => {
    const { status, stderr } = runIn(projectWith(t, { [file]: text }), process.execPath, [
      "--import",
      HOOKS,
      file,
    ]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /temporalex has no module for "@temporalio\/core-bridge": .* remove the import/,
    );
  });
}

/** Packages with what of their values is not here. */
const lacking = readdirSync("tools/temporal-exports").map((file) =>
  JSON.parse(readFileSync(`tools/temporal-exports/${file}`, "utf8")) as {
    package: string;
    values: string[];
    absent: { [name: string]: string };
  }
).map((data) => ({
  name: data.package,
  absent: data.values.filter((value) => value in data.absent),
}))
  .filter(({ absent }) => absent.length > 0);

for (const { name, absent } of lacking) {
  test(`${name}: a name that is not here throws where it is first used`, (t) => {
    const text = `const found = require(${JSON.stringify(name)});
for (const absent of ${JSON.stringify(absent)}) {
  try { console.log(absent, found[absent]); } catch (error) { console.log(error.message); }
}
console.log(found.somethingElse);`;
    const { stdout } = runIn(projectWith(t, { "app.cjs": text }), process.execPath, [
      "--import",
      HOOKS,
      "app.cjs",
    ]);
    const lines = stdout.trim().split("\n");
    absent.forEach((value, i) =>
      assert.match(
        lines[i]!,
        new RegExp(`has no "${value}", which ${name} has: docs/temporal-exports`),
      )
    );
    assert.equal(lines[absent.length], "undefined");
  });
}

test("an import of a missing name is rejected with the name when the program is linked", (t) => {
  const folder = projectWith(t, { "app.mjs": 'import { NotThere } from "@temporalio/client";' });
  assert.match(
    runIn(folder, process.execPath, ["--import", HOOKS, "app.mjs"]).stderr,
    /'@temporalio\/client' does not provide .*'NotThere'/,
  );
});

test("other packages and other files of official packages resolve to the installed ones", (t) => {
  const folder = projectWith(t, {
    ...INSTALLED,
    "node_modules/@temporalio-labs/common/index.js": "exports.name = 'labs';",
    "app.cjs":
      'console.log(require("@temporalio-labs/common").name, require("@temporalio/common/package.json").name);',
  });
  const { stdout, stderr } = runIn(folder, process.execPath, ["--import", HOOKS, "app.cjs"]);
  assert.equal(stdout, "labs @temporalio/common\n", stderr);
});
