// runtime: node
// The place where code waits, in a bundle that contains both the code and this package: frames are
// counted there, since file names do not tell them apart.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
/** The path of a module, as text in code. */
const quotedPath = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../../${name}.${extension}`, import.meta.url)));

const ENTRY = `
  import { on, select, signal, sleep, stop, workflow } from ${quotedPath("ts/workflow/mod")};
  import { drive } from ${quotedPath("tests/cases/driver")};

  async function sleepsHere() {
    await sleep(1000);
  }
  async function selectsHere() {
    await select([on(signal("go"), () => stop(1))]);
  }

  export async function places() {
    const found = [];
    for (const waits of [sleepsHere, selectsHere]) {
      const d = await drive(workflow("W", async () => void (await waits())));
      await d.task();
      found.push((await d.query("__stack_trace")).value);
      d.parts.runner.dispose();
    }
    return found;
  }
`;

test("__stack_trace in a bundle shows the function that waits, not one of this package", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bundle-"));
  try {
    const outfile = join(folder, "bundle.mjs");
    await build({
      stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: "ts" },
      bundle: true,
      outfile,
      format: "esm",
      platform: "node",
      logLevel: "error",
    });
    const { places } = await import(pathToFileURL(outfile).href);
    const [sleeps, selects] = await places();
    assert.match(sleeps, /\bsleepsHere \(/);
    assert.match(selects, /\bselectsHere \(/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
