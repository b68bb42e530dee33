// Modules that are evaluated for each run: what runs see of each other, and what an evaluation need
// not make.
import test from "node:test";
import assert from "node:assert/strict";
import { loadGraph } from "../../../ts/modules/loader/graph.ts";
import { EvaluableGraph, type Namespace } from "../../../ts/modules/loader/evaluate.ts";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { parseUnit } from "../../../ts/modules/loader/parse_module.ts";
import { loadSucrase } from "../../../ts/modules/loader/strip.ts";
import type { Files } from "./loader_support.ts";

await loadSucrase();

/**
 * Evaluates the modules for a run, as often as it is called. `made`: how many runs asked for their
 * global object.
 */
function program(files: Files): { run(): Namespace; made: () => number } {
  const graph = loadGraph(["file:///app/main.ts"], { host: mapSources(files), provided: () => [] });
  const evaluable = new EvaluableGraph(graph, {
    provided: {},
    evaluate: (code) => (0, eval)(code),
  });
  let made = 0;
  const globals = () => {
    let global: { globalThis?: object } | undefined;
    const get = () => {
      if (global !== undefined) return global;
      made++;
      global = {};
      global.globalThis = global;
      return global;
    };
    return {
      get global() {
        return get();
      },
      get lookup() {
        return get();
      },
    };
  };
  return {
    run: () => evaluable.evaluateForRun({ globals: globals(), helper: {} }).workflows()[0]!,
    made: () => made,
  };
}

test("two runs do not share variables or namespaces", () => {
  const { run, made } = program({
    "/app/main.ts":
      "import { count, inc } from './a.ts'; import * as all from './a.ts'; export { count, inc, all }; export * from './a.ts';" +
      "export const read = () => [count, all.count, all.nested.count]; export default function main() { return inc() }",
    "/app/a.ts":
      "export let count = 0; export const inc = () => ++count; export * as nested from './a.ts';",
  });
  const [one, two] = [run(), run()] as [Namespace, Namespace];
  const call = (namespace: Namespace, name: string) => (namespace[name] as () => unknown)();
  assert.equal(call(one, "inc"), 1);
  assert.equal(call(one, "default"), 2);
  assert.deepEqual(call(one, "read"), [2, 2, 2]);
  assert.deepEqual(call(two, "read"), [0, 0, 0]);
  assert.deepEqual([one["count"], two["count"]], [2, 0]);
  assert.deepEqual(Object.keys(one["all"] as object).sort(), ["count", "inc", "nested"]);
  assert.notEqual(one["all"], two["all"]);
  assert.equal((one["all"] as Namespace)["nested"], one["all"]);
  assert.ok("inc" in one && !("missing" in one) && !("toString" in one));
  assert.equal(made(), 0);
});

test("a run has one global object, created on first use", () => {
  const { run, made } = program({
    "/app/main.ts":
      "import { put } from './a.ts'; put(7); export const seen = (globalThis as any).left;",
    "/app/a.ts": "import './b.ts'; export function put(n: number) { (globalThis as any).left = n }",
    "/app/b.ts": "export const later = () => setTimeout;",
  });
  assert.deepEqual([run()["seen"], run()["seen"]], [7, 7]);
  assert.equal(made(), 2);
});

test("a function that is never called does not create the global object", () => {
  const { run, made } = program({
    "/app/main.ts": "export const later = () => { new WeakRef({}); return typeof missing };" +
      "export const find = () => (globalThis as any).missing;",
  });
  const { find } = run();
  assert.equal(made(), 0);
  assert.equal((find as () => unknown)(), undefined);
  assert.equal(made(), 1);
});

test("state in converter modules causes a warning if runs share it, not if each run has its own", () => {
  const files = {
    "/app/main.ts": "export async function w() {}",
    "/app/converter.ts":
      "const seen = new Map(); export const payloadConverter = { toPayload: (v) => seen.set(v, 1), fromPayload() {} };",
  };
  const warningsOf = (entries: readonly string[]) =>
    loadGraph(entries.map((name) => `file:///app/${name}.ts`), {
      host: mapSources(files),
      provided: () => [],
      once: [entries.length - 1],
    }).warnings.map(({ name }) => name);
  assert.deepEqual(warningsOf(["converter"]), ["seen"]);
  assert.deepEqual(warningsOf(["main", "converter"]), []);
});

test("async generators and `await using` are compiled in every form", () => {
  const compiled = (text: string, stripped = false) => {
    const url = "file:///app/main.ts";
    return parseUnit({ url, text, stripped, kind: "esm", foreign: false, restoreFrames: false })
      .compile("run");
  };
  for (
    const text of [
      "export async function* f() { yield 1; }",
      "export async /* a ** b */ function // c\n* f() { yield 1; }",
      "export const f = async function\n*() { yield 1; };",
      "export const o = { async\t*m() { yield 1; } };",
      "export class A { static async/**/*m() { yield 1; } }",
    ]
  ) {
    const { code, problems } = compiled(text);
    assert.deepEqual(problems, []);
    assert.match(code, /\$tx\.g\(/, text);
  }
  for (
    const text of [
      "async () => { await /* a */ using x = null; }",
      "async () => { for (await using x of y); }",
    ]
  ) {
    const { code, problems } = compiled(`export const f = ${text};`, true);
    assert.deepEqual(problems, []);
    assert.doesNotMatch(code, /\busing\s+x/);
  }
  assert.doesNotMatch(compiled("export const f = async () => await 2 * 3;").code, /\$tx\.[a-z]+\(/);
});
