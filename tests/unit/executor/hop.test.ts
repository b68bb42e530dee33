// The hop does not keep a process alive, in either of its forms, and the captured host functions
// survive a guard that removes them.
// runtime: node
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";

const hopModule = new URL("../../../ts/platform/hop.ts", import.meta.url).href;

/** Runs code in a separate process, which must end by itself. */
function run(code: string): string {
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, [
    "--input-type=module",
    "-e",
    code,
  ], {
    timeout: 120_000,
    encoding: "utf8",
  });
  assert.equal(signal, null, "it was still alive after 120 s");
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test("a process ends after its hops", () => {
  const out = run(
    `const { hop } = await import(${
      JSON.stringify(hopModule)
    }); await hop(); await hop(); console.log("hopped");`,
  );
  assert.equal(out, "hopped");
});

test("a hop works after setImmediate and MessageChannel were taken away", () => {
  const out = run(
    `const { hop } = await import(${
      JSON.stringify(hopModule)
    }); delete globalThis.setImmediate; delete globalThis.MessageChannel; ` +
      `await hop(); console.log("hopped");`,
  );
  assert.equal(out, "hopped");
});
