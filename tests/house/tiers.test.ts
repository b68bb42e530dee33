// runtime: node
// The usual run of `npm test` covers every promise, runs every suite at least once across the tiers, and measured times go into file heads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const root = process.cwd();
const load = (name: string) => import(pathToFileURL(join(root, "tools/lib", name)).href);
const { nodeFilesOf, omittedFiles, PAGE_STORIES, promisesOf, stagesOf, suitesOfTier } = await load("tiers.mjs");
const { withTakes } = await load("takes.mjs");

test("the default run has a test of every promise of docs/guarantees.md", () => {
  const promises = [...readFileSync(join(root, "docs/guarantees.md"), "utf8").matchAll(/^\| (P\d+) \|/gm)].map(([, name]) =>
    name!
  );
  assert.ok(promises.length >= 10);
  const tested = new Set((nodeFilesOf("usual") as string[]).flatMap((file) => promisesOf(file) as string[]));
  // The page's promise has its stories in the browser.
  assert.ok(suitesOfTier("usual").includes("web-demo"));
  for (const story of PAGE_STORIES) {
    assert.ok(readFileSync(join(root, `web-demo/e2e/${story}.spec.ts`), "utf8").includes("test("));
  }
  tested.add("P10");
  assert.deepEqual(promises.filter((name) => !tested.has(name)), []);
  assert.deepEqual([...tested].filter((name) => !promises.includes(name)), [], "files name only promises that exist");
});

test("quick is a part of the default run, and `all` has more files than both", () => {
  const usual = new Set(nodeFilesOf("usual") as string[]);
  assert.deepEqual((nodeFilesOf("quick") as string[]).filter((file) => !usual.has(file)), []);
  assert.ok(usual.size > nodeFilesOf("quick").length);
  assert.deepEqual(omittedFiles("all"), []);
  assert.equal(suitesOfTier("all"), undefined);
});

test("the stages of a tier run each wanted suite once", () => {
  const names = ["format", "lint", "types", "generated", "build", "node", "deno", "chromium", "web-demo", "interop", "rust"];
  assert.deepEqual(stagesOf("all", names).flat(2).sort(), [...names].sort());
  assert.deepEqual(stagesOf("all", ["rust"]).flat(2), ["rust"]);
  for (const tier of ["quick", "usual"]) {
    const order: string[] = stagesOf(tier, suitesOfTier(tier)).flat(2);
    assert.deepEqual([...order].sort(), [...suitesOfTier(tier)].sort());
    assert.ok(order.indexOf("build") < order.indexOf("node"));
  }
});

test("a measured time replaces a stated one only if it differs much", () => {
  const file = "// A test.\n// takes: 10 s\nimport x;\n";
  assert.equal(withTakes(file, 10, 13), file);
  assert.equal(withTakes(file, 10, 30.2), "// A test.\n// takes: 31 s\nimport x;\n");
  assert.equal(withTakes(file, 10, 1), "// A test.\nimport x;\n");
  assert.equal(withTakes("import x;\n", 0, 2), "import x;\n");
  assert.equal(withTakes("import x;\n", 0, 3.2), "// takes: 4 s\nimport x;\n");
});
