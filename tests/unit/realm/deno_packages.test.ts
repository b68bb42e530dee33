// Packages in Deno's own cache, where a project has no node_modules folder: found by deno.lock, in
// the project's modules and in packages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { denoPackages } from "../../../ts/platform/deno_packages.ts";
import { bundleWorkflows, WorkflowLoadError } from "../../../ts/realm/mod.ts";

const CACHE = "file:///cache-of/.cache/deno/npm/registry.npmjs.org";
const LOCK = {
  version: "5",
  specifiers: {
    "npm:debug@4": "4.4.3",
    "npm:ms@*": "2.1.3",
    "npm:both@1": "1.0.0_ms@2.0.0",
    "npm:gone@1": "1.0.0",
  },
  npm: {
    "debug@4.4.3": { dependencies: ["ms@2.1.3"] },
    "ms@2.1.3": {},
    "ms@2.0.0": {},
    "both@1.0.0_ms@2.0.0": { dependencies: ["ms@2.0.0", "only"] },
    "only@3.0.0": {},
    "gone@1.0.0": {},
  },
};
const FILES: { readonly [url: string]: string } = {
  "file:///app/deno.json": "{}",
  "file:///app/deno.lock": JSON.stringify(LOCK),
  [`${CACHE}/debug/4.4.3/package.json`]: '{ "name": "debug" }',
  [`${CACHE}/debug/4.4.3/index.js`]: "exports.debug = require('ms').ms;",
  [`${CACHE}/ms/2.1.3/package.json`]: '{ "name": "ms", "version": "2.1.3" }',
  [`${CACHE}/ms/2.1.3/index.js`]: "exports.ms = 'later';",
  [`${CACHE}/ms/2.0.0/package.json`]: '{ "name": "ms", "version": "2.0.0" }',
  [`${CACHE}/ms/2.0.0/index.js`]: "exports.ms = 'earlier';",
  [`${CACHE}/both/1.0.0/package.json`]: '{ "name": "both", "exports": { "./part": "./part.js" } }',
  [`${CACHE}/both/1.0.0/part.js`]: "exports.both = require('ms').ms + require('only');",
  [`${CACHE}/only/3.0.0/package.json`]: '{ "name": "only" }',
  [`${CACHE}/only/3.0.0/index.js`]: "module.exports = '!';",
};
const packageFiles = {
  read: (url: string) => FILES[url],
  folders: (url: string) =>
    url === "file:///cache-of/.cache/deno/npm/" ? ["other.example", "registry.npmjs.org"] : [],
  cache: "file:///cache-of/.cache/deno/" as string | undefined,
};
const imports: { readonly [specifier: string]: string } = {
  debug: "npm:debug@4",
  "both/": "npm:both@1/",
};
const bundle = (text: string, files: typeof packageFiles = packageFiles) =>
  bundleWorkflows({
    workflows: "file:///app/main.js",
    sources: {
      read: (url) => url === "file:///app/main.js" ? text : FILES[url],
      isFile: (url) => url === "file:///app/main.js" || url in FILES,
      real: (url) => url,
      map: (specifier) => specifier === "both/part" ? "npm:both@1/part" : imports[specifier],
      installed: denoPackages(files),
    },
  });
const MAIN =
  'import { debug } from "debug";\nimport { both } from "both/part";\nimport { ms } from "npm:ms";\n' +
  'import { workflow } from "temporalex/workflow";\nexport const w = workflow("W", () => Promise.resolve([debug, both, ms]));\n';

test("packages of Deno's cache are those of deno.lock, and a bundle names them as others", async () => {
  const { modules } = await bundle(MAIN);
  assert.deepEqual(modules.map(({ name }) => name), [
    "main.js",
    "node_modules/debug/index.js",
    "node_modules/ms/index.js",
    "node_modules/both/part.js",
    "node_modules/ms@2.0.0/index.js",
    "node_modules/only/index.js",
  ]);
});

test("a package that is not locked or not cached, and an unknown cache, are rejected with advice", async () => {
  const refused = async (text: string, files?: typeof packageFiles) => {
    const error = await bundle(text, files).then(() => undefined, (e: unknown) => e);
    assert.ok(error instanceof WorkflowLoadError, String(error));
    return error.message;
  };
  const advice =
    /main\.js:1: imports "\w+", which is in no node_modules folder .*\(nor in Deno's cache .* "nodeModulesDir": "auto"/;
  assert.match(await refused('import "npm:unknown@1";'), advice);
  assert.match(await refused('import "npm:ms@3";'), advice);
  assert.match(await refused('import "npm:gone@1";'), advice);
  assert.match(await refused('import "npm:ms";', { ...packageFiles, cache: undefined }), advice);
});
