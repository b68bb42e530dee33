// runtime: node
// The usual run of `npm test` covers every promise, runs every suite at least once across the
// tiers, and measured times go into file heads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const root = process.cwd();
const load = (name: string) => import(pathToFileURL(join(root, "tools/lib", name)).href);
const {
  backgroundOf,
  nodeFilesOf,
  omittedFiles,
  PAGE_STORIES,
  promisesOf,
  stagesOf,
  suitesOfTier,
} = await load("tiers.mjs");
const { OF_DIST, suitesOf } = await load("suites.mjs");
const { withTakes } = await load("takes.mjs");
const { walk } = await load("test_files.mjs");
const { inProcesses } = await load("test_groups.mjs");

test("the default run has a test of every promise of docs/guarantees.md", () => {
  const promises = [
    ...readFileSync(join(root, "docs/guarantees.md"), "utf8").matchAll(/^\| (P\d+) \|/gm),
  ].map(([, name]) => name!);
  assert.ok(promises.length >= 10);
  const tested = new Set(
    (nodeFilesOf("usual") as string[]).flatMap((file) => promisesOf(file) as string[]),
  );
  // The page's promise has its stories in the browser.
  assert.ok(suitesOfTier("usual").includes("web-demo"));
  for (const story of PAGE_STORIES) {
    assert.ok(readFileSync(join(root, `web-demo/e2e/${story}.spec.ts`), "utf8").includes("test("));
  }
  tested.add("P10");
  assert.deepEqual(promises.filter((name) => !tested.has(name)), []);
  assert.deepEqual(
    [...tested].filter((name) => !promises.includes(name)),
    [],
    "files name only promises that exist",
  );
});

test("quick is a part of the default run, and `all` has more files than both", () => {
  const usual = new Set(nodeFilesOf("usual") as string[]);
  assert.deepEqual((nodeFilesOf("quick") as string[]).filter((file) => !usual.has(file)), []);
  assert.ok(usual.size > nodeFilesOf("quick").length);
  assert.deepEqual(omittedFiles("all"), []);
  assert.equal(suitesOfTier("all"), undefined);
});

test("each file runs once; short files share processes, except those that need their own", () => {
  const paths = (nodeFilesOf("all") as string[]).map((file) => join(root, file));
  const groups = inProcesses(paths) as string[][];
  assert.deepEqual(groups.flat().sort(), paths.toSorted());
  assert.ok(groups.length < paths.length / 2);
  for (const path of groups.filter(({ length }) => length > 1).flat()) {
    assert.doesNotMatch(readFileSync(path, "utf8"), /^\/\/ (process: own|takes: \d)/m);
  }
});

test("files whose support module declares hooks have their own process", () => {
  const hooks = /^(?:before|after|beforeEach|afterEach)\(/m;
  const support = (walk(join(root, "tests")) as string[]).filter((path) =>
    path.endsWith(".ts") && !path.endsWith(".test.ts") && hooks.test(readFileSync(path, "utf8"))
  );
  assert.ok(support.length >= 2);
  for (const file of nodeFilesOf("all") as string[]) {
    const text = readFileSync(join(root, file), "utf8");
    const imported = [...text.matchAll(/ from "(\.[^"]+)"/g)].map(([, path]) =>
      join(root, dirname(file), path!)
    );
    if (imported.some((path) => support.includes(path))) {
      assert.match(text, /^\/\/ process: own \(/m, file);
    }
  }
});

test("stages and background run each wanted suite once", () => {
  const names = Object.keys(suitesOf());
  assert.ok(names.length > 15);
  const run = [...backgroundOf(names), ...stagesOf("all", names).flat(2)];
  assert.deepEqual(run.sort(), names.sort());
  assert.deepEqual(backgroundOf(["rust", "node"]), ["rust"]);
  assert.deepEqual(stagesOf("all", ["rust", "node"]).flat(2), ["node"]);
  assert.deepEqual(stagesOf("all", ["a new suite"]).flat(2), ["a new suite"]);
  for (const tier of ["quick", "usual"]) {
    assert.deepEqual(backgroundOf(suitesOfTier(tier)), []);
    const order: string[] = stagesOf(tier, suitesOfTier(tier)).flat(2);
    assert.deepEqual([...order].sort(), [...suitesOfTier(tier)].sort());
    assert.ok(order.indexOf("build") < order.indexOf("node"));
  }
});

test("suites that run dist/ start after its build", () => {
  for (const tier of ["quick", "usual", "all"]) {
    const names = ["build", ...(suitesOfTier(tier) ?? OF_DIST)].filter((name, i, all) =>
      all.indexOf(name) === i
    );
    const stages: string[][][] = stagesOf(tier, names);
    const built = stages.findIndex((rows) => rows.flat().includes("build"));
    for (const name of OF_DIST.filter((each: string) => names.includes(each))) {
      const stage = stages.findIndex((rows) => rows.flat().includes(name));
      const row = stages[stage]!.find((each) => each.includes(name))!;
      assert.ok(
        stage > built || row.slice(0, row.indexOf(name)).includes("build"),
        `${tier}: ${name} starts before the build`,
      );
    }
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
