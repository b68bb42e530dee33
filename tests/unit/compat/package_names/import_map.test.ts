// runtime: node
// The import map that the package ships: Deno runs programs of `@temporalio` with it, types
// included.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { findSubpath, PACKAGES } from "../../../../ts/compat/package_names/subpaths.ts";
import { projectWith, runIn } from "./support.ts";

const { imports } = JSON.parse(readFileSync("import_map.json", "utf8")) as {
  imports: { [name: string]: string };
};
const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: { [name: string]: string };
};
const deno = join(process.cwd(), "node_modules/.bin/deno");
const skip = existsSync(deno) && spawnSync(deno, ["--version"]).status === 0
  ? false
  : "the npm package deno has no binary here";

const APP = `
import { ApplicationFailure, type Payload } from "@temporalio/common";
import { encode } from "@temporalio/common/lib/encoding";
import * as workflow from "@temporalio/workflow";
import { loadClientConnectConfig } from "@temporalio/envconfig";
const none: Payload | undefined = undefined;
const failure = workflow.ApplicationFailure.create({ message: "no" });
console.log(failure instanceof ApplicationFailure, encode("ab").length, none, typeof loadClientConnectConfig);
`;

test("the map has a line for each package and one for its deep imports", () => {
  const expected = PACKAGES.flatMap((name) => [
    [`@temporalio/${name}`, `npm:temporalex/compat/${name}`],
    [`@temporalio/${name}/lib/`, `npm:/temporalex/compat/${name}/lib/`],
  ]);
  assert.deepEqual(Object.entries(imports), expected);
});

test("the map and the other adapters name only subpaths of the package", () => {
  for (const name of PACKAGES) {
    for (const specifier of [`@temporalio/${name}`, `@temporalio/${name}/lib/encoding`]) {
      const found = findSubpath(specifier);
      assert.ok(found !== undefined && "subpath" in found, specifier);
      assert.ok(exports[`./${found.subpath}`] !== undefined, found.subpath);
    }
    const deep = findSubpath(`@temporalio/${name}/lib/encoding`) as { subpath: string };
    assert.equal(exports[`./compat/${name}/lib/*`], exports[`./${deep.subpath}`]);
  }
});

test("the Jest setup maps each package to a module", () => {
  const [, names] = /const PACKAGES = (\[.*\]);/.exec(readFileSync("jest.cjs", "utf8"))!;
  assert.deepEqual(JSON.parse(names!), PACKAGES);
});

for (
  const [how, files, args] of [
    ["--import-map", {}, ["--import-map=node_modules/temporalex/import_map.json"]],
    [
      "deno.json",
      { "deno.json": '{ "importMap": "./node_modules/temporalex/import_map.json" }' },
      [],
    ],
  ] as const
) {
  test(`Deno runs a program with the map: ${how}`, { skip }, (t) => {
    const folder = projectWith(t, {
      "package.json": '{ "type": "module", "dependencies": { "temporalex": "*" } }',
      "app.ts": APP,
      ...files,
    });
    const run = [
      "run",
      "--no-check",
      "--no-prompt",
      "--allow-read",
      "--node-modules-dir=manual",
      ...args,
      "app.ts",
    ];
    const { status, stdout, stderr } = runIn(folder, deno, run);
    assert.deepEqual(
      { status, stdout },
      { status: 0, stdout: "true 2 undefined function\n" },
      stderr,
    );
  });
}

test("Deno runs a CommonJS program with the hooks", { skip }, (t) => {
  const folder = projectWith(t, {
    "package.json": '{ "type": "commonjs", "dependencies": { "temporalex": "*" } }',
    // A package as mocha is: an ES module that imports a file of CommonJS.
    "node_modules/wrapped/package.json":
      '{ "name": "wrapped", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
    "node_modules/wrapped/index.js":
      'import part from "./lib/part.cjs";\nexport const wrapped = part.one;\n',
    "node_modules/wrapped/lib/part.cjs": "exports.one = 1;\n",
    "app.js": 'const { ApplicationFailure } = require("@temporalio/common");\n' +
      'console.log(typeof ApplicationFailure, require("wrapped").wrapped);\n',
  });
  const run = [
    "run",
    "--no-check",
    "--allow-read",
    "--node-modules-dir=manual",
    "--preload",
    "npm:temporalex/compat/register",
    "app.js",
  ];
  const { status, stdout, stderr } = runIn(folder, deno, run);
  assert.deepEqual({ status, stdout }, { status: 0, stdout: "function 1\n" }, stderr);
});
