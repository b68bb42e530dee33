// runtime: node deno
// `import wf from "@temporalio/workflow"`: in modules that something makes ES modules it is the package, as in Node and the official bundle.
// Elsewhere it is nothing there, and is refused with what to write.
import assert from "node:assert/strict";
import test from "node:test";
import { WorkflowLoadError } from "../../ts/realm/loader/errors.ts";
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

test("an ES module's default import of a package of Temporal's is the package", async () => {
  const h = await harness({ workflows: ["waits.mjs"], sources: { "waits.mjs": imports + body } });
  try {
    assert.equal(await h.start("waits", { args: ["x"] }).auto(), "x false true");
  } finally {
    await h.realm.dispose();
  }
});

test("a CommonJS module takes it by require", async () => {
  const required = `const wf = require("@temporalio/workflow"), common = require("@temporalio/common");`;
  const text = required +
    body.replace(/export const (\w+)/g, "const $1 = exports.$1").replace("export async", "exports.waits = waits; async");
  const h = await harness({ workflows: ["waits.cjs"], sources: { "waits.cjs": text } });
  try {
    assert.equal(await h.start("waits", { args: ["x"] }).auto(), "x false true");
  } finally {
    await h.realm.dispose();
  }
});

test("where nothing says that a module is an ES module, a default import is refused with what to write", async () => {
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
