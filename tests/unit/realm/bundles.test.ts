// Bundles: one file with workflow modules and all that they import. They are the same bytes
// wherever they are made, and load as the sources do, with names and lines of the sources.
import assert from "node:assert/strict";
import test from "node:test";
import { Decoder } from "../../support/source_map_decoder.ts";
import { bundleWorkflows, createWorkerRealm, WorkflowLoadError } from "../../../ts/realm/mod.ts";
import { loadSources } from "../../../ts/modules/sources.ts";

const from = (specifier: string) => `from "${specifier}"`;
const FILES = {
  "/app/shop/package.json":
    '{"name":"shop","type":"module","imports":{"#texts":"./src/texts.json"}}',
  "/app/shop/src/workflows.ts": `import { sleep } ${from("@temporalio/workflow")};
import type { Kind } ${from("./kinds.ts")};
import { helper } ${from("./helper")};
import texts ${from("#texts")};

export async function order(kind: Kind): Promise<string> {
  await sleep(10);
  return helper(texts.hello + kind);
}
`,
  "/app/shop/src/kinds.ts": "export type Kind = string;\n",
  "/app/shop/src/texts.json": '{ "hello": "hello " }',
  "/app/shop/src/helper.ts": `import old, { twice } ${from("old")};
import { deep } ${from("@scope/deep/part")};
export enum Tone { Plain, Loud }

export function helper(text: string): string {
  if (text === "throw") throw new Error("told to");
  return old(twice(deep(text))) + Tone.Loud;
}
`,
  "/app/shop/node_modules/old/package.json": '{"name":"old","version":"1.0.0","main":"lib/main"}',
  "/app/shop/node_modules/old/lib/main.js":
    'let fs; try { fs = require("fs"); } catch {}\nconst { mark } = require("mark");\nmodule.exports = (text) => `${text}${mark}`;\nmodule.exports.twice = (text) => text + text;\n',
  "/app/shop/node_modules/mark/package.json": '{"name":"mark","version":"2.0.0"}',
  "/app/shop/node_modules/mark/index.js": 'exports.mark = "!";',
  "/app/shop/node_modules/@scope/deep/package.json":
    '{"name":"@scope/deep","exports":{"./part":"./p.mjs"}}',
  "/app/shop/node_modules/@scope/deep/p.mjs": `import { mark } ${
    from("mark")
  };\nexport const deep = (text) => text + mark;\n`,
  "/app/shop/node_modules/@scope/deep/node_modules/mark/package.json":
    '{"name":"mark","version":"1.0.0"}',
  "/app/shop/node_modules/@scope/deep/node_modules/mark/index.js":
    '/* //# module */\nexports.mark = "?";',
};
const moved = (files: { readonly [path: string]: string }, to: string) =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.replace("/app/shop", to), text]),
  );
const bundle = (root = "/app/shop") =>
  bundleWorkflows({ workflows: `${root}/src/workflows.ts`, sources: moved(FILES, root) });

test("the same sources produce the same bytes in any folder", async () => {
  const [one, two] = [await bundle(), await bundle("/var/lib/build 7/ci")];
  assert.equal(one.code, two.code);
  assert.equal(one.sourceMap, two.sourceMap);
  assert.doesNotMatch(one.code, /ada|file:/);
});

test("module names are relative to the project, and package names do not depend on the install folder", async () => {
  const { modules } = await bundle();
  assert.deepEqual(modules.map(({ name }) => name), [
    "src/workflows.ts",
    "src/helper.ts",
    "node_modules/old/lib/main.js",
    "node_modules/mark/index.js",
    "node_modules/@scope/deep/p.mjs",
    "node_modules/mark@1.0.0/index.js",
    "src/texts.json",
  ]);
  // pnpm's folder is another, and the modules have the names that they have above.
  const pnpm = Object.fromEntries(
    Object.entries(FILES).map((
      [path, text],
    ) => [path.replace("shop/node_modules/", "shop/node_modules/.pnpm/x@1/node_modules/"), text]),
  );
  const linked = {
    read: (url: string) => (pnpm as { [path: string]: string })[new URL(url).pathname],
    isFile: (url: string) => new URL(url).pathname in pnpm || new URL(url).pathname in FILES,
    real: (url: string) =>
      new URL(url).pathname in pnpm
        ? url
        : url.replace("shop/node_modules/", "shop/node_modules/.pnpm/x@1/node_modules/"),
    map: () => undefined,
  };
  const withLinks = {
    ...linked,
    read: (url: string) =>
      linked.read(url) ?? (FILES as { [path: string]: string })[new URL(url).pathname],
  };
  const { code } = await bundleWorkflows({
    workflows: "file:///app/shop/src/workflows.ts",
    sources: withLinks,
  });
  assert.equal(code, (await bundle()).code);
});

test("the module graph of a bundle equals that of the sources, except for addresses", async () => {
  const { code } = await bundle();
  const [bundled, sources] = [
    await loadSources({ workflows: "/b.js", sources: { "/b.js": code } }),
    await loadSources({ workflows: "/app/shop/src/workflows.ts", sources: FILES }),
  ];
  assert.deepEqual(
    bundled.graph.modules.map(({ url: _, dependencies, ...module }) => ({
      ...module,
      dependencies: dependencies.length,
    })),
    sources.graph.modules.map(({ url: _, dependencies, ...module }) => ({
      ...module,
      dependencies: dependencies.length,
    })),
  );
  assert.deepEqual(bundled.graph.modules.slice(0, 3).map(({ url }) => url), [
    "bundle:///src/workflows.ts",
    "bundle:///src/helper.ts",
    "bundle:///node_modules/old/lib/main.js",
  ]);
});

test("a realm runs a bundle, of two files in one realm as well", async () => {
  const { code } = await bundle();
  const native = await bundleWorkflows({
    workflows: "/n/native.ts",
    sources: {
      "/n/native.ts": `import { workflow } ${
        from("temporalex/workflow")
      };\nexport const n = workflow("Native", () => Promise.resolve(1));`,
    },
  });
  const realm = await createWorkerRealm({
    workflows: ["/b.js", "/n.js"],
    sources: { "/b.js": code, "/n.js": native.code },
  });
  assert.deepEqual([...realm.workflowTypes].sort(), ["Native", "order"]);
  await realm.dispose();
});

test("the source map maps lines of the bundle to lines of the sources, and contains the sources", async () => {
  const { code, sourceMap } = await bundle();
  const decoder = new Decoder(sourceMap);
  const lines = code.split("\n");
  const at = lines.findIndex((line) => line.includes('"told to"'));
  assert.deepEqual(decoder.original(at), { source: "src/helper.ts", line: 5 });
  assert.equal(decoder.content("src/helper.ts"), FILES["/app/shop/src/helper.ts"]);
  assert.equal(decoder.original(0), undefined);
  const inline = /sourceMappingURL=data:application\/json;charset=utf-8;base64,(.*)\n$/.exec(
    code,
  )![1]!;
  assert.equal(
    new TextDecoder().decode(Uint8Array.from(atob(inline), (c) => c.charCodeAt(0))),
    sourceMap,
  );
});

test("an invalid bundle is rejected by name", async () => {
  const { code } = await bundle();
  const refused = async (text: string) => {
    const error = await loadSources({ workflows: "/app/b.js", sources: { "/app/b.js": text } })
      .then(
        () => undefined,
        (e: unknown) => e,
      );
    assert.ok(error instanceof WorkflowLoadError, String(error));
    return error.message;
  };
  assert.match(
    await refused(code.slice(0, 900)),
    /\/app\/b\.js:\d+: is a damaged workflow bundle: .* `temporalex build`/,
  );
  assert.match(
    await refused(code.replace(/^export async function order/m, "\n$&")),
    /b\.js:\d+: is a damaged workflow bundle: expected a line "\/\/# module"/,
  );
  assert.match(await refused(code.replace("//# end\n", "")), /expected the line/);
  assert.match(
    await refused(code.replace("format 1:", "format 9:")),
    /of format 9, and this version of temporalex reads format 1/,
  );
  assert.match(
    await refused(code.replace('"realm:temporal/workflow"', '"realm:later"')),
    /src\/workflows\.ts:1: needs "later", which this version/,
  );
  await assert.rejects(
    bundleWorkflows({ workflows: "/b.js", sources: { "/b.js": code } }),
    /is a bundle already/,
  );
});

test("a bundle of the official SDK is rejected with the command that makes one from its source", async () => {
  const official = `var __TEMPORAL__;\n/******/ (() => { // webpackBootstrap
/******/ \tvar __webpack_modules__ = ({ "./src/flows.ts": 1 });
exports.importWorkflows = function importWorkflows() {
  return __webpack_require__(/* webpackMode: "eager" */ /*! ./src/flows.ts */ "./src/flows.ts");
}
__TEMPORAL__ = __webpack_exports__;\n`;
  for (
    const text of [
      official,
      official.replace("var __TEMPORAL__;\n", "").replace("__TEMPORAL__ =", "var __TEMPORAL__ ="),
    ]
  ) {
    await assert.rejects(
      createWorkerRealm({ workflows: "/dist/old.js", sources: { "/dist/old.js": text } }),
      /\/dist\/old\.js: is a bundle made by bundleWorkflowCode\(\).*npx temporalex build --workflows \.\/src\/flows\.ts --out old\.js/,
    );
  }
});
