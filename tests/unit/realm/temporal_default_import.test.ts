// `import wf from "@temporalio/workflow"`: in modules that something makes ES modules it is the
// package, as in Node and the official bundle. Elsewhere it is nothing there, and is refused with
// what to write. A default export is the workflow of all types that have no other.
import assert from "node:assert/strict";
import test from "node:test";
import { WorkflowLoadError } from "../../../ts/modules/loader/errors.ts";
import { harness } from "./realm_support.ts";

const body = `
export const stop = wf.defineSignal("stop");
export async function waits(name) {
  let stopped = false;
  wf.setHandler(stop, () => { stopped = true; });
  await Promise.race([wf.condition(() => stopped), wf.sleep("1s")]);
  if (wf.default !== undefined || Object.keys(wf).includes("default")) throw common.ApplicationFailure.nonRetryable("default in default");
  return name + " " + stopped + " " + (common.ApplicationFailure === wf.ApplicationFailure);
}
`;
const imports = `import wf from "@temporalio/workflow"; import common from "@temporalio/common";`;

test("the default import of a Temporal package in an ES module is the package", async () => {
  const h = await harness({ workflows: ["waits.mjs"], sources: { "waits.mjs": imports + body } });
  try {
    assert.equal(await h.start("waits", { args: ["x"] }).auto(), "x false true");
  } finally {
    await h.realm.dispose();
  }
});

test("a CommonJS module gets the package with require", async () => {
  const required =
    `const wf = require("@temporalio/workflow"), common = require("@temporalio/common");`;
  const text = required +
    body.replace(/export const (\w+)/g, "const $1 = exports.$1").replace(
      "export async",
      "exports.waits = waits; async",
    );
  const h = await harness({ workflows: ["waits.cjs"], sources: { "waits.cjs": text } });
  try {
    assert.equal(await h.start("waits", { args: ["x"] }).auto(), "x false true");
  } finally {
    await h.realm.dispose();
  }
});

test("if a module is not known to be an ES module, a default import is rejected with the correct import", async () => {
  await assert.rejects(
    harness({ workflows: ["waits.js"], sources: { "waits.js": imports + body } }),
    (error: unknown) => {
      assert(error instanceof WorkflowLoadError);
      const found = error.problems.map(({ code, message }) => `${code}: ${message}`);
      assert.deepEqual(
        found,
        ["workflow", "common"].map((name) =>
          `missing-export: imports "default" from "@temporalio/${name}", which does not export it for workflow code: ` +
          `write \`import * as name from "@temporalio/${name}"\``
        ),
      );
      return true;
    },
  );
});

/**
 * What `tsc --module commonjs` writes of `export default async function` and `export async function
 * existing`.
 */
const COMPILED = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.default = default_1;
exports.existing = existing;
const wf = require("@temporalio/workflow");
async function default_1(...args) { return ["default", wf.workflowInfo().workflowType, args]; }
async function existing() { return "existing"; }`;

/**
 * The modules of workflows by form, and what the type "anything" is there: the default export's, or
 * not known.
 */
const DEFAULTS: readonly (readonly [name: string, file: string, text: string, dynamic: boolean])[] =
  [
    [
      "TypeScript",
      "wf.ts",
      `export default async function (...args: unknown[]) { return ["default", "anything", args]; }`,
      true,
    ],
    ["compiled to CommonJS", "wf.js", COMPILED, true],
    [
      "CommonJS",
      "wf.cjs",
      `exports.default = async (...args) => ["default", "anything", args]; exports.existing = async () => "existing";`,
      true,
    ],
    // `require(...)`, as the official bundle has it, gives a function without a `default`.
    [
      "a function as module.exports",
      "wf.cjs",
      `module.exports = async () => "whole"; module.exports.existing = async () => "existing";`,
      false,
    ],
    ["CommonJS without a default", "wf.cjs", `exports.existing = async () => "existing";`, false],
    [
      "CommonJS whose top level asks for facts of the run",
      "wf.js",
      `const own = require("@temporalio/workflow").workflowInfo().workflowId; exports.default = async (...args) => own && ["default", "anything", args];`,
      true,
    ],
    [
      "re-exported from CommonJS",
      "wf.ts",
      `export { default } from "./compiled.js"; export { existing } from "./compiled.js";`,
      true,
    ],
  ];

for (const [name, file, text, dynamic] of DEFAULTS) {
  test(`a default export is a dynamic workflow: ${name}`, async () => {
    const h = await harness({
      workflows: [file],
      sources: { [file]: text, "compiled.js": COMPILED },
    });
    try {
      assert.equal(h.realm.takesAnyType, dynamic);
      const run = h.start("anything", { args: [1, 2] });
      if (dynamic) assert.deepEqual(await run.auto(), ["default", "anything", [1, 2]]);
      else {await assert.rejects(
          run.auto(),
          /Failed to initialize workflow of type 'anything': no such function is exported by the workflow bundle$/,
        );}
      if (text.includes("existing")) assert.equal(await h.start("existing").auto(), "existing");
    } finally {
      await h.realm.dispose();
    }
  });
}
