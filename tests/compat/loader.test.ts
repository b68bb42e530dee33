// Loading programs of the official API: their modules, what they may import, and what each run gets for itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compatGlobals } from "../../ts/compat/globals.ts";
import { ModuleGraph, type ModuleGraphOptions, ModuleLoadError } from "../../ts/compat/loader/module_graph.ts";
import { SlotContext } from "../../ts/compat/context.ts";
import * as common from "../../ts/compat/common/mod.ts";
import * as workflow from "../../ts/compat/workflow/mod.ts";

const packages = { "@temporalio/workflow": workflow, "@temporalio/common": common };

function load(files: { [file: string]: string }, options: Partial<ModuleGraphOptions> = {}): Promise<ModuleGraph> {
  return ModuleGraph.load("/app/main.ts", {
    read: (file) => files[file]!,
    resolve: (specifier, importer) => {
      const url = new URL(specifier, `file://${importer}`).pathname;
      return [url, `${url}.ts`, url.replace(/\.js$/, ".ts")].find((file) => file in files);
    },
  }, { packages, globals: {}, ...options });
}

// deno-lint-ignore no-explicit-any
type Loose = any;

test("modules of a program see each other, and types leave no trace", async () => {
  const graph = await load({
    "/app/main.ts": `
      import { two, type Shape } from "./lib/two";
      import def, * as all from "./lib/three.js";
      import type { Duration } from "@temporalio/common";
      export * from "./lib/two.ts";
      export { ApplicationFailure as Failure } from "@temporalio/workflow";
      enum Kind { A = 1 }
      export default function (shape: Shape): number { return two + def + all.three + Kind.A; }
      export const shape = { x: 1 } satisfies Shape;`,
    "/app/lib/two.ts":
      `export interface Shape { x: number }\nexport const two: number = 2;\nimport { shape } from "../main";\nexport const late = () => shape.x;`,
    "/app/lib/three.ts": `export const three = 3;\nexport default 30;`,
  });
  const main = graph.instantiate() as Loose;
  assert.equal(main.default({ x: 1 }), 36);
  assert.equal(main.two, 2);
  assert.equal(main.late(), 1, "modules that import each other");
  assert.equal(main.Failure, common.ApplicationFailure);
});

test("every run evaluates the modules for itself", async () => {
  const graph = await load({
    "/app/main.ts": `import { list } from "./state"; let n = 0; export function next() { list.push(++n); return list.join(); }`,
    "/app/state.ts": `export const list = [];`,
  });
  const [one, two] = [graph.instantiate() as Loose, graph.instantiate() as Loose];
  assert.equal(one.next(), "1");
  assert.equal(one.next(), "1,2");
  assert.equal(two.next(), "1");
});

test("modules see the workflow's globals, and nothing of the host changes", async () => {
  const graph = await load(
    { "/app/main.ts": `export const seen = { Date, Math, setTimeout, clearTimeout, console, WeakRef };` },
    {
      globals: compatGlobals(),
    },
  );
  const { seen } = graph.instantiate() as Loose;
  assert.notEqual(seen.Date, Date);
  assert.notEqual(seen.setTimeout, setTimeout);
  assert.ok(new seen.Date(5) instanceof Date);
  assert.equal(seen.Date.UTC(2020, 0), Date.UTC(2020, 0));
  assert.equal(typeof seen.Date(), "string");
  assert.equal(seen.Math.max(1, 2), 2);
  assert.throws(() => seen.setTimeout(() => {}, 1), /only be used from workflow code/);
  assert.throws(() => new seen.WeakRef({}), /garbage collector/);
  class Later extends seen.Date {
    plus() {
      return this.getTime() + 1;
    }
  }
  assert.equal(new (Later as Loose)(41).plus(), 42);
});

test("what workflow code may not load is refused with the importing file, before anything runs", async () => {
  const refused: [text: string, message: RegExp][] = [
    [`import fs from "node:fs"; export { fs };`, /\/app\/main\.ts imports node:fs: .*do that in an activity/],
    [`import x from "https://x/y.js"; export { x };`, /\/app\/main\.ts imports https:\/\/x\/y\.js, which cannot be found/],
    [`import x from "left-pad"; export { x };`, /imports left-pad, which cannot be found/],
    [`import x from "./gone"; export { x };`, /imports \.\/gone, which cannot be found/],
    [`export const f = () => import("./other");`, /uses import\(\)/],
    [`export const u = import.meta.url;`, /uses import\.meta/],
  ];
  for (const [text, message] of refused) {
    await assert.rejects(load({ "/app/main.ts": `globalThis.__ran = true; ${text}` }), (error: Error) => {
      assert.ok(error instanceof ModuleLoadError);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.equal((globalThis as Loose).__ran, undefined);
  await assert.rejects(load({ "/app/main.ts": `await 1; export {};` }, { slot: new SlotContext() }), /top level/);
});

test("async generators are compiled in TypeScript and left alone in JavaScript and packages", async () => {
  const generator = "export async function* values() { yield 1; }";
  const graph = await load({
    "/app/main.ts":
      `export { values as ts } from "./a"; export { values as js } from "./b.js"; export { values as dep } from "/node_modules/x/c.ts";`,
    "/app/a.ts": generator,
    "/app/b.js": generator,
    "/node_modules/x/c.ts": generator,
  });
  const { ts, js, dep } = graph.instantiate() as Loose;
  const native = Object.getPrototypeOf(async function* () {});
  assert.notEqual(Object.getPrototypeOf(ts), native);
  assert.equal(Object.getPrototypeOf(js), native);
  assert.equal(Object.getPrototypeOf(dep), native);
});

test("errors of a module name its file and line", async () => {
  const graph = await load({
    "/app/main.ts": `interface Gone {\n  a: number;\n}\nexport function fails(x: Gone): void {\n  throw new Error("here");\n}`,
  });
  const { fails } = graph.instantiate() as Loose;
  try {
    fails();
    assert.fail("it must throw");
  } catch (error) {
    assert.match((error as Error).stack!, /fails.*main\.ts.*:5:/);
  }
});
