// runtime: node
// docs/bundles.md says how much a page loads: the sizes are measured here, and the page has to say
// them. The halves of the core, which every page and every worker loads, have budgets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { build as Build } from "esbuild";
import { wasmBase64 as engineBase64 } from "../../../ts/core/generated/engine_wasm.ts";
import { wasmBase64 as workerBase64 } from "../../../ts/core/generated/worker_wasm.ts";

const root = process.cwd();
const room = (name: string) => join(root, `ts/${name}/mod.ts`);

interface Loaded {
  /** Minified and gzipped, in kB. */
  readonly size: number;
  /** The sources whose code is in it. */
  readonly sources: readonly string[];
}

const { build } = await import(
  pathToFileURL(join(root, "node_modules/esbuild/lib/main.js")).href
) as { build: typeof Build };

/** What is fetched before the entry's own code runs. What it imports later is not counted. */
async function loaded(contents: string): Promise<Loaded> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root, sourcefile: "entry.ts" },
    ...{
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
    },
    ...{ outdir: "out", write: false, metafile: true, external: ["node:*"], logLevel: "silent" },
    alias: Object.fromEntries(
      ["client", "realm", "slim", "workflow"].map((name) => [`temporalex/${name}`, room(name)]),
    ),
  });
  const wanted = new Set(
    Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint === "entry.ts").map((
      [name],
    ) => name),
  );
  for (const name of wanted) {
    for (const { path, kind } of metafile.outputs[name]!.imports) {
      if (kind === "import-statement") wanted.add(path);
    }
  }
  const bytes = (name: string) =>
    outputFiles.find(({ path }) => path === resolve(name))?.contents ?? new Uint8Array(0);
  return {
    size: [...wanted].reduce((sum, name) => sum + gzipSync(bytes(name), { level: 9 }).length, 0) /
      1000,
    sources: [...wanted].flatMap((name) => Object.keys(metafile.outputs[name]!.inputs)),
  };
}

const REALM = `import { serveRealm } from "temporalex/realm"; serveRealm({});`;

const gzipped = (base64: string) => gzipSync(Buffer.from(base64, "base64"), { level: 9 }).length;

const BUDGETS = {
  worker: { base64: workerBase64, kib: 124 },
  engine: { base64: engineBase64, kib: 306 },
};
for (const [half, { base64, kib }] of Object.entries(BUDGETS)) {
  test(`${half}.wasm has at most ${kib} KiB gzipped`, (t) => {
    const size = gzipped(base64) / 1024;
    t.diagnostic(`${size.toFixed(1)} KiB`);
    assert.ok(size <= kib, `${size} KiB`);
  });
}

const PAGE =
  /What a page loads, minified and gzipped: the client alone (\d+) kB; `open` of `temporalex\/slim` (\d+) kB, `worker\.wasm` (\d+) kB and `engine\.wasm` (\d+) kB; a realm's entry (\d+) kB\./;

test("the sizes in docs/bundles.md are correct", async (t) => {
  const measured = {
    client:
      (await loaded(`import { Client } from "temporalex/client"; globalThis.client = Client;`))
        .size,
    slim: (await loaded(`import { open } from "temporalex/slim"; globalThis.open = open;`)).size,
    "worker.wasm": gzipped(workerBase64) / 1000,
    "engine.wasm": gzipped(engineBase64) / 1000,
    realm: (await loaded(REALM)).size,
  };
  t.diagnostic(
    Object.entries(measured).map(([what, size]) => `${what} ${size.toFixed(1)} kB`).join(", "),
  );
  const sizes = Object.values(measured);
  const said = PAGE.exec(readFileSync(join(root, "docs/bundles.md"), "utf8"))?.slice(1).map(Number);
  assert.ok(said !== undefined, "the page says the sizes in these words");
  for (const [i, size] of sizes.entries()) {
    assert.ok(
      Math.abs(said[i]! - size) <= 0.05 * size,
      `the page says ${said[i]} kB where ${size.toFixed(1)} kB were measured`,
    );
  }
});

test("a realm's entry loads no part of programs of @temporalio/workflow, and no messages that only others use", async () => {
  const { sources } = await loaded(REALM);
  const expected = [
    "ts/realm/serve.ts",
    "ts/converter/failure_converter.ts",
    "ts/messages/generated/temporal/api/failure/v1/message_pb.ts",
  ];
  assert.deepEqual(expected.filter((file) => !sources.includes(file)), [], "sources are found");
  const later =
    /^ts\/compat\/|\/temporal_programs\.ts$|^ts\/api\/generated\/temporal\/api\/(?:history|workflow|workflowservice|update|taskqueue)\//;
  assert.deepEqual(sources.filter((file) => later.test(file)), []);
});
