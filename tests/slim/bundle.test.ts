// runtime: node
// "temporalex/slim": the same names as "temporalex", and a bundle made from it holds none of the core's base64, with and without splitting.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { coreWasmBase64 } from "../../ts/core/generated/core_wasm.ts";
import * as engine from "../../ts/engine/mod.ts";
import * as fat from "../../ts/mod.ts";
import * as realm from "../../ts/realm/mod.ts";
import * as slim from "../../ts/slim/mod.ts";
import * as worker from "../../ts/worker/mod.ts";

const root = process.cwd();

/** The JavaScript of a bundle for browsers whose entry is this text. */
async function bundle(entry: string, splitting: boolean): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: root, loader: "ts" },
    bundle: true,
    splitting,
    write: false,
    outdir: join(root, "nowhere"),
    format: "esm",
    platform: "browser",
    target: "es2022",
    alias: Object.fromEntries(
      ["slim", "realm", "workflow", "client", "core"].map((room) => [`temporalex/${room}`, join(root, `ts/${room}/mod.ts`)]),
    ),
    logLevel: "error",
  });
  return outputFiles.map((file) => file.text);
}

/** Any part of the bytes, wherever lines are broken. */
const holdsCore = (text: string) =>
  [0.1, 0.5, 0.9].some((at) => text.includes(coreWasmBase64.slice(Math.floor(coreWasmBase64.length * at)).slice(0, 40))) ||
  text.includes("AGFzbQEAAAAB");

const PAGE = `
  import { createInlineRealm, createWorkerRealm, EmbeddedEngine, open, useCore, Worker } from "temporalex/slim";
  useCore("/core.wasm");
  globalThis.all = { createInlineRealm, createWorkerRealm, EmbeddedEngine, open, Worker };
`;

test("a bundle from temporalex/slim holds no core", async () => {
  for (const splitting of [false, true]) {
    const files = await bundle(PAGE, splitting);
    assert.ok(files.some((text) => text.includes("createWorkerRealm")));
    assert.equal(files.filter(holdsCore).length, 0, `splitting: ${splitting}`);
  }
});

test("neither does a bundle that needs none: a realm's entry, a client", async () => {
  const realm = `import { serveRealm } from "temporalex/realm"; serveRealm(() => import("./tests/app/workflows/order.ts"));`;
  const client = `import { Client } from ${JSON.stringify(join(root, "ts/mod.ts"))}; globalThis.client = new Client({});`;
  for (const entry of [realm, client]) {
    assert.equal((await bundle(entry, false)).filter(holdsCore).length, 0, entry);
  }
});

test("a bundle from temporalex brings the core along, in a chunk of its own where the bundler splits", async () => {
  const page = `import { open } from ${JSON.stringify(join(root, "ts/mod.ts"))}; globalThis.open = open;`;
  assert.equal((await bundle(page, false)).filter(holdsCore).length, 1);
  const files = await bundle(page, true);
  const first = files.find((text) => text.includes("globalThis.open"))!;
  assert.ok(!holdsCore(first), "the page's own file does not hold it");
  assert.equal(files.filter(holdsCore).length, 1);
});

test("temporalex and temporalex/slim have the same names, and the same classes behind them", () => {
  assert.deepEqual(Object.keys(fat).sort(), Object.keys(slim).sort());
  for (const [name, value] of Object.entries(slim)) assert.equal(fat[name as keyof typeof fat], value, name);
});

test("temporalex has what its parts have: whoever catches an error of the worker finds its class there", () => {
  // serveRealm belongs into a realm's entry file, which imports nothing else.
  const parts = { ...engine, ...worker, ...realm };
  const missing = Object.keys(parts).filter((name) => !(name in fat) && name !== "serveRealm");
  assert.deepEqual(missing, []);
});
