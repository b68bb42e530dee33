// runtime: node
// `temporalex/compat/plugin`: esbuild, Rolldown and Vite put the modules of this package into
// bundles of programs of `@temporalio`.
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { esbuildPlugin, rolldownPlugin } from "../../../../ts/compat/plugin/mod.ts";
import { projectWith, runIn } from "./support.ts";

const FILES = {
  "package.json": '{ "type": "module" }',
  "app.ts": `
import { ApplicationFailure, type Payload } from "@temporalio/common";
import { encode } from "@temporalio/common/lib/encoding";
import * as workflow from "@temporalio/workflow";
export const none: Payload | undefined = undefined;
console.log(workflow.ApplicationFailure.create({ message: "no" }) instanceof ApplicationFailure, encode("ab").length);
`,
  // A workflow that is started by its function has the function's name as its type.
  "named.ts": "async function approveOrder(): Promise<void> {}\nconsole.log(approveOrder.name);\n",
  "index.html": '<script type="module" src="./page.ts"></script>',
  "page.ts": 'new Worker(new URL("./realm.ts", import.meta.url), { type: "module" });',
  "realm.ts":
    'import { encode } from "@temporalio/common/lib/encoding";\npostMessage(encode("ab").length);\n',
  "bridge.ts": 'import "@temporalio/core-bridge";',
  // An installed official package, replaced by this stub: it must not be bundled.
  "node_modules/@temporalio/common/package.json":
    '{ "name": "@temporalio/common", "main": "index.js" }',
  "node_modules/@temporalio/common/index.js":
    'throw new Error("the installed package was bundled");',
};

/** Bundles `entry` of a folder into `out` there. */
type Bundle = (folder: string, entry: string, out: string) => Promise<unknown>;

const bundlers: { readonly [name: string]: Bundle } = {
  async esbuild(folder, entry, out) {
    const { build } = await import("esbuild");
    const entryPoints = [join(folder, entry)];
    const outdir = join(folder, out);
    return await build({
      entryPoints,
      outdir,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
      minify: true,
      plugins: [esbuildPlugin()],
    });
  },
  async rolldown(folder, entry, out) {
    const { build } = await import("rolldown");
    return await build({
      input: join(folder, entry),
      platform: "node",
      plugins: [rolldownPlugin() as never],
      logLevel: "silent",
      output: { dir: join(folder, out), minify: true },
    });
  },
  async vite(folder, entry, out) {
    const { build } = await import("vite");
    return await build({
      root: folder,
      configFile: false,
      logLevel: "silent",
      plugins: [rolldownPlugin() as never],
      ssr: { noExternal: true },
      build: { ssr: join(folder, entry), outDir: out, minify: true },
    });
  },
};

for (const [name, bundle] of Object.entries(bundlers)) {
  test(`${name}: the bundle of a program runs without any package`, async (t) => {
    const folder = projectWith(t, FILES);
    await bundle(folder, "app.ts", "out");
    const elsewhere = projectWith(t, { "package.json": FILES["package.json"] });
    const [file] = readdirSync(join(folder, "out")).filter((path) => path.endsWith(".js"));
    const { status, stdout, stderr } = runIn(elsewhere, process.execPath, [
      join(folder, "out", file!),
    ]);
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "true 2\n", stderr: "" });
  });

  test(`${name}: a minified bundle keeps the names of functions, which are types of workflows`, async (t) => {
    const folder = projectWith(t, FILES);
    await bundle(folder, "named.ts", "out");
    const [file] = readdirSync(join(folder, "out")).filter((path) => path.endsWith(".js"));
    assert.equal(
      runIn(folder, process.execPath, [join(folder, "out", file!)]).stdout,
      "approveOrder\n",
    );
  });

  test(`${name}: an official package without a replacement is rejected by name`, async (t) => {
    await assert.rejects(
      bundle(projectWith(t, FILES), "bridge.ts", "out"),
      /temporalex has no module for "@temporalio\/core-bridge"/,
    );
  });
}

test("vite: workers of a page are built with this plugin and with the plugins given for workers", async (t) => {
  const folder = projectWith(t, FILES);
  const { build } = await import("vite");
  const seen: string[] = [];
  const own = { name: "own", transform: (_: string, id: string) => void seen.push(id) };
  await build({
    root: folder,
    configFile: false,
    logLevel: "silent",
    plugins: [rolldownPlugin() as never],
    worker: { plugins: () => [own] },
  });
  const files = readdirSync(join(folder, "dist/assets"));
  assert.ok(files.some((file) => file.startsWith("realm-")), files.join());
  assert.ok(seen.some((id) => id.endsWith("realm.ts")));
});

test("if the package is not installed, the error says what to install", async (t) => {
  const folder = projectWith(t, { "app.ts": FILES["app.ts"] });
  rmSync(join(folder, "node_modules"), { recursive: true });
  for (const bundle of [bundlers["esbuild"]!, bundlers["rolldown"]!]) {
    await assert.rejects(
      bundle(folder, "app.ts", "out"),
      /"@temporalio\/\S+" resolves to "temporalex\/compat\/\S+", .*app\.ts cannot import: run `npm install temporalex`/,
    );
  }
});
