// runtime: node
// Test runners and memory checks start Node with --expose-gc. Its global `gc` cannot be deleted;
// the guard must get along with that.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const PROGRAM = `
  import { open, silentLogger } from ${
  JSON.stringify(new URL("../../../ts/mod.ts", import.meta.url).href)
};
  const workflows = "w.ts";
  const sources = { [workflows]: 'import { workflow } from "temporalex/workflow"; export const w = workflow("W", async () => typeof gc);' };
  const app = await open({ workflows, worker: { sources }, logger: silentLogger });
  console.log(typeof gc, await app.client.execute("W", { id: "w", args: [] }));
  await app.close();
`;

test("a worker realm starts in a process with --expose-gc, and workflow code sees no gc", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    "--expose-gc",
    "--input-type=module",
    "-e",
    PROGRAM,
  ], {
    encoding: "utf8",
    timeout: 180_000,
  });
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), "function undefined");
});
