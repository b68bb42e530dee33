// runtime: node
// "temporalex/slim": the same names as "temporalex", and a bundle made from it does not contain the
// core's base64, with and without splitting. A bundle from the other entries contains the half of
// the core that it uses.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { wasmBase64 as engineBase64 } from "../../../ts/core/generated/engine_wasm.ts";
import { wasmBase64 as workerBase64 } from "../../../ts/core/generated/worker_wasm.ts";
import * as engine from "../../../ts/engine/mod.ts";
import * as fat from "../../../ts/mod.ts";
import * as realm from "../../../ts/realm/mod.ts";
import * as slim from "../../../ts/slim/mod.ts";
import * as worker from "../../../ts/worker/mod.ts";

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
    alias: {
      ...Object.fromEntries(
        ["slim", "realm", "workflow", "client", "core", "worker", "engine", "debug"].map((
          room,
        ) => [`temporalex/${room}`, join(root, `ts/${room}/mod.ts`)]),
      ),
      temporalex: join(root, "ts/mod.ts"),
    },
    external: ["node:*"],
    logLevel: "error",
  });
  return outputFiles.map((file) => file.text);
}

const BYTES = { worker: workerBase64, engine: engineBase64 };
type Half = keyof typeof BYTES;

/** Names of the API are text in the module, and in descriptors of messages too. */
const isText = (base64: string) => /^[ -~]*$/.test(atob(base64));

/**
 * Parts of the code of a half that the other one does not have; the libraries of both are alike in
 * places.
 */
const parts = ([half, other]: readonly [Half, Half]) =>
  [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    .map((at) => 4 * Math.floor(BYTES[half].length * at / 4))
    .map((begin) => BYTES[half].slice(begin, begin + 40))
    .filter((part) => !BYTES[other].includes(part) && !isText(part));
const PARTS = { worker: parts(["worker", "engine"]), engine: parts(["engine", "worker"]) };

/** Any part of the bytes of a half. They stand in lines, and a part may lie over the end of one. */
const holds = (half: Half) => (text: string) => {
  const joined = text.replace(/",\s*"/g, "");
  return PARTS[half].some((part) => joined.includes(part));
};
const holdsCore = (text: string) =>
  holds("worker")(text) || holds("engine")(text) || text.includes("AGFzbQEAAAAB");
/**
 * What the glue of a half calls; in a page that has its realm in a worker, the worker's glue is in
 * the worker's file.
 */
const GLUE = { worker: "run_start_task", engine: "engine_request_pair" };

const PAGE = `
  import { createInlineRealm, createWorkerRealm, EmbeddedEngine, open, useCore, Worker } from "temporalex/slim";
  useCore({ worker: "/worker.wasm", engine: "/engine.wasm" });
  globalThis.all = { createInlineRealm, createWorkerRealm, EmbeddedEngine, open, Worker };
`;

test("a bundle from temporalex/slim does not contain the core", async () => {
  for (const splitting of [false, true]) {
    const files = await bundle(PAGE, splitting);
    assert.ok(files.some((text) => text.includes("createWorkerRealm")));
    assert.equal(files.filter(holdsCore).length, 0, `splitting: ${splitting}`);
  }
});

test("bundles that do not need the core do not contain it: a realm's entry, a client", async () => {
  const realm =
    `import { serveRealm } from "temporalex/realm"; serveRealm(() => import("./tests/unit/app/workflows/order.ts"));`;
  const client = `import { Client } from ${
    JSON.stringify(join(root, "ts/mod.ts"))
  }; globalThis.client = new Client({});`;
  for (const entry of [realm, client]) {
    assert.equal((await bundle(entry, false)).filter(holdsCore).length, 0, entry);
  }
});

test("a bundle from temporalex contains both halves, in separate chunks if the bundler splits", async () => {
  const page = `import { open } from ${
    JSON.stringify(join(root, "ts/mod.ts"))
  }; globalThis.open = open;`;
  assert.equal((await bundle(page, false)).filter(holdsCore).length, 1);
  const files = await bundle(page, true);
  const first = files.find((text) => text.includes("globalThis.open"))!;
  assert.ok(!holdsCore(first), "the page's own file does not hold it");
  const [worker, engine] = [files.filter(holds("worker")), files.filter(holds("engine"))];
  assert.equal(worker.length, 1);
  assert.equal(engine.length, 1);
  assert.notEqual(worker[0], engine[0]);
});

const users: { readonly [half in Half]: readonly string[] } = {
  worker: [
    `import { Worker } from "temporalex/worker"; globalThis.used = Worker;`,
    `import { Worker } from "temporalex"; globalThis.used = Worker;`,
    `import { createWorkerRealm } from "temporalex/realm"; import * as debug from "temporalex/debug"; globalThis.used = [createWorkerRealm, debug];`,
  ],
  engine: [
    `import { EmbeddedEngine } from "temporalex/engine"; globalThis.used = EmbeddedEngine;`,
    `import { EmbeddedEngine } from "temporalex"; globalThis.used = EmbeddedEngine;`,
  ],
};
for (const [half, other] of [["worker", "engine"], ["engine", "worker"]] as const) {
  for (const entry of users[half]) {
    test(`a bundle that uses the ${half}'s half alone holds nothing of the other: ${/from ("[^"]+")/.exec(entry)![1]}`, async () => {
      const [file = "", ...more] = await bundle(entry, false);
      assert.deepEqual(more, []);
      assert.ok(holds(half)(file), `the bytes of ${half}.wasm`);
      assert.ok(!holds(other)(file), `the bytes of ${other}.wasm`);
      assert.ok(!file.includes(GLUE[other]), `the glue of ${other}.wasm`);
    });
  }
}

test("temporalex and temporalex/slim have the same names, and the same classes behind them", () => {
  assert.deepEqual(Object.keys(fat).sort(), Object.keys(slim).sort());
  for (const [name, value] of Object.entries(slim)) {
    assert.equal(fat[name as keyof typeof fat], value, name);
  }
});

test("temporalex exports the class of every error of the worker", () => {
  // serveRealm belongs into a realm's entry file, which imports nothing else.
  const parts = { ...engine, ...worker, ...realm };
  const missing = Object.keys(parts).filter((name) => !(name in fat) && name !== "serveRealm");
  assert.deepEqual(missing, []);
});
