// The loader gives modules the meaning that the language gives them: live bindings, cycles,
// hoisting, re-exports, names and lines.
import test from "node:test";
import assert from "node:assert/strict";
import { run } from "./loader_support.ts";

// deno-lint-ignore no-explicit-any
type Loose = { readonly [name: string]: any };

test("types are stripped and every line keeps its number", () => {
  const ns = run({
    "/app/main.ts": [
      "interface A {",
      "  b: string;",
      "}",
      "import {",
      "  type T,",
      "  value as v,",
      "} from './b.ts';",
      "type U<X> = X extends string ? 1 : 2;",
      "enum Color { Red, Green = 'g' }",
      "abstract class Base<T> { abstract m(): T; constructor(readonly x: number, private y?: string) {} }",
      "export class K extends Base<string> { m() { return 'k' + this.x } }",
      "export const colors = [Color.Red, Color.Green] as const;",
      "export const k = new K(v satisfies number).m()!;",
      "export function where(): string { return new Error().stack!.split('\\n')[1]!; }",
      "export const generic = <T,>(a: T): T => a;",
    ].join("\n"),
    "/app/b.ts": "export type T = string; export const value = 42;",
  });
  assert.equal(ns["k"], "k42");
  assert.deepEqual(ns["colors"], [0, "g"]);
  assert.match((ns["where"] as () => string)(), /file:\/\/\/app\/main\.ts(?:, <anonymous>)?:14:/);
  assert.equal((ns["generic"] as (x: number) => number)(3), 3);
});

test("imports are live bindings, are called without `this`, and work in every position", () => {
  const ns = run({
    "/app/main.ts": `
import def, { n, inc, self as me, Tag, obj, Kls, "odd name" as odd } from "b"
import * as all from "b"
const before = n
inc()
export const seen = [before, n, all.n]
export const shorthand = { n, def, inc }
export const thisIs = [me(), all.self === me, (0, me)(), me?.()]
export const tagged = Tag\`a\${n}b\`
export class Sub extends Kls { x = n; [n] = 1; static s: number; static { Sub.s = n } }
export const sub = new Sub(), fresh = new Kls(), prop = obj.inner.n
export function shadow(n: number, { inc } = { inc: 7 }) { { let def = 1; n += def } return [n, inc] }
export const destructured = (({ a = n, [n]: b } : any) => [a, b])({ 2: "two" })
export const oddly = odd
var exportsLoop: number[] = []
for (const n of [9]) { exportsLoop.push(n) }
export { exportsLoop as loop }
export const typeOf = typeof n + typeof Kls
label: for (;;) { break label }
if (n)
  inc()
else inc()
export { n, n as again, all }
`,
    "/node_modules/b/package.json": '{"type":"module","exports":"./index.ts"}',
    // In a package, because module-level state is refused in the user's own modules.
    "/node_modules/b/index.ts": `
export let n = 1;
export function inc() { n++; return n }
export default function named() {}
export function self(this: unknown) { return this }
export const Tag = (s: TemplateStringsArray, ...v: unknown[]) => s.join("|") + v.join()
export class Kls { me = n }
export const obj = { inner: { n: "deep" } }
const x = 5; export { x as "odd name" }
`,
  }, ["/app/main.ts"]) as Loose;
  assert.deepEqual(ns.seen, [1, 2, 2]);
  assert.deepEqual(Object.keys(ns.shorthand), ["n", "def", "inc"]);
  assert.equal(ns.shorthand.def.name, "named");
  assert.deepEqual(ns.thisIs, [undefined, true, undefined, undefined]);
  assert.equal(ns.tagged, "a|b2");
  assert.equal(ns.sub.x, 2);
  assert.equal(ns.Sub.s, 2);
  assert.equal(ns.fresh.me, 2);
  assert.equal(ns.prop, "deep");
  assert.deepEqual(ns.shadow(1), [2, 7]);
  assert.deepEqual(ns.destructured, [2, "two"]);
  assert.equal(ns.oddly, 5);
  assert.deepEqual(ns.loop, [9]);
  assert.equal(ns.typeOf, "numberfunction");
  assert.equal(ns.n, 3);
  assert.equal(ns.again, 3);
  assert.equal(ns.all.n, 3);
});

test("a statement that begins with an imported call does not continue the line before it", () => {
  const ns = run({
    "/app/main.js":
      "import { f, t } from './b.js'\nconst g = f\nf(1)\nconst h = [1]\nt`x`\nlet k = g\nf(k)\nexport { h }\nexport default f(2)\n",
    "/app/b.js":
      "export const calls = []; export function f(x) { calls.push(x); return calls } export function t() { calls.push('t') }",
  }, ["/app/main.js"]);
  const calls = ns["default"] as unknown[];
  assert.equal(calls.length, 4);
  assert.deepEqual([calls[0], calls[1], calls[3]], [1, "t", 2]);
});

test("cycles: functions are available before the module body, uninitialized constants are not", () => {
  const ns = run({
    "/app/main.ts":
      "import { fromB, tdz } from './b.ts'; export function early() { return 'early' } export const late = 'late'; export { fromB, tdz };",
    "/app/b.ts":
      "import { early, late } from './main.ts'; export const fromB = early(); export let tdz = 'none'; try { late } catch (e) { tdz = (e as Error).name } ",
  });
  assert.equal(ns["fromB"], "early");
  assert.equal(ns["tdz"], "ReferenceError");
});

test("default exports keep their kind and name", () => {
  const files: { [path: string]: string } = {
    "/app/a.js": "export default () => 1;",
    "/app/b.js": "export default class { static n = 1 }",
    "/app/c.js": "export default async function () {}",
    "/app/d.js": "export default /* c */ (1, 2) // end",
    "/app/e.js": "export default class Named {}",
    "/app/f.js": "export default function* gen() {}",
    "/app/g.js": "const x = {a: 1}; export { x as default }",
    "/app/main.js":
      "export { default as a } from './a.js'; export { default as b } from './b.js'; import c from './c.js'; import d from './d.js';\n" +
      "import e from './e.js'; import f from './f.js'; export * as g from './g.js'; export { c, d, e, f }",
  };
  const ns = run(files, ["/app/main.js"]) as Loose;
  assert.equal(ns.a(), 1);
  assert.equal(ns.a.name, "default");
  assert.equal(ns.b.n, 1);
  assert.equal(ns.b.name, "default");
  assert.equal(ns.c.constructor.name, "AsyncFunction");
  assert.equal(ns.d, 2);
  assert.equal(ns.e.name, "Named");
  assert.equal(ns.f.name, "gen");
  assert.deepEqual({ ...ns.g }, { default: { a: 1 } });
});

test("re-exports: star, named, ambiguous and shadowed names", () => {
  const ns = run({
    "/app/main.ts":
      "export * from './a.ts'; export * from './b.ts'; export { x as y } from './a.ts'; export const own = 'main';",
    "/app/a.ts": "export const x = 1, both = 'a', own = 'a'; export default 'not re-exported';",
    "/app/b.ts": "export * from './c.ts'; export const both = 'b';",
    "/app/c.ts": "export const deep = 'c'; export * from './main.ts';",
  });
  assert.deepEqual(Object.keys(ns).sort(), ["deep", "own", "x", "y"]);
  assert.equal(ns["own"], "main");
  assert.equal(ns["deep"], "c");
});

test("a module is evaluated once, after those that it imports, in the written order", () => {
  const ns = run({
    "/app/main.ts":
      "import './b.ts'; import './a.ts'; import { log } from './log.ts'; log.push('main'); export { log };",
    "/app/a.ts": "import { log } from './log.ts'; log.push('a');",
    "/app/b.ts": "import './a.ts'; import { log } from './log.ts'; log.push('b');",
    "/app/log.ts": "export const log: string[] = [];",
  });
  assert.deepEqual(ns["log"], ["a", "b", "main"]);
});

test("type-only imports do not load a module", () => {
  const ns = run({
    "/app/main.ts": [
      'import type { Payment } from "./payment.ts";',
      'import { type Other } from "./payment.ts";',
      'import { Unused } from "./payment.ts";',
      'export type { Payment } from "./payment.ts";',
      'import { activities } from "temporalex/workflow";',
      'export const pay = activities<typeof import("./payment.ts")>();',
      "export const use = (p: Payment, q: Other, r: Unused) => [p, q, r];",
    ].join("\n"),
    "/app/payment.ts": "import 'node:fs'; throw new Error('loaded')",
  });
  assert.equal(ns["pay"], "acts");
});

test("JSON modules, with and without the attribute, cannot be changed", () => {
  const ns = run({
    "/app/main.ts":
      'import a from "./a.json" with { type: "json" }; import b from "./b.json"; export const sum = a.n + b.length; export { a };',
    "/app/a.json": '{"n": 40, "deep": {"list": []}}',
    "/app/b.json": "[1, 2]",
  });
  assert.equal(ns["sum"], 42);
  assert.throws(() => (ns["a"] as { deep: { list: number[] } }).deep.list.push(1), TypeError);
});

test("every import spelling resolves to the realm's workflow API", () => {
  const ns = run({
    "/app/main.ts":
      'import { sleep as a } from "temporalex/workflow"; import { sleep as b } from "temporalex"; import { sleep as c } from "npm:temporalex@1/workflow";\n' +
      'import { sleep as d } from "jsr:@temporalex/temporalex@^0.1.0/workflow"; import { sleep as e } from "../../node_modules/temporalex/dist/ts/workflow/mod.js"; export const all = [a, b, c, d, e];',
    "/node_modules/temporalex/package.json": '{"name":"temporalex","type":"module"}',
    "/node_modules/temporalex/dist/ts/workflow/mod.js": "throw new Error('a second copy')",
  });
  assert.equal(new Set(ns["all"] as unknown[]).size, 1);
});

test("user code may use the loader's internal names", () => {
  const ns = run({
    "/app/main.ts":
      "import { a } from './a.ts'; const $i0 = 1, $x = 2, require = 3, exports = 4, module = 5; export const sum = $i0 + $x + require + exports + module + a;",
    "/app/a.ts": "export const a = 100;",
  });
  assert.equal(ns["sum"], 115);
});

test(".tsx, .mts, .jsx-free .js and a hashbang line are understood", () => {
  const ns = run({
    "/app/main.tsx":
      "#!/usr/bin/env node\nimport { a } from './a.mts'; import { b } from './b'; import { c } from './c.js'; import { d } from './folder'; export const all = [a, b, c, d] as const;",
    "/app/a.mts": "export const a: number = 1;",
    "/app/b.ts": "export const b: number = 2;",
    "/app/c.ts": "export const c: number = 3;",
    "/app/folder/index.ts": "export const d: number = 4;",
  }, ["/app/main.tsx"]);
  assert.deepEqual(ns["all"], [1, 2, 3, 4]);
});

test("a `var` in a function shadows an import of that name", () => {
  const statements = [
    "{ { var n = 1; } }",
    "if (true) var n = 1; else { }",
    "if (false) { } else { var n = 1; }",
    "for (var n = 1; n < 1;) { }",
    "for (var n of [1]) { }",
    "for (var n in { 1: 0 }) { } n = Number(n);",
    "while (true) { var n = 1; break; }",
    "do { var n = 1; } while (false);",
    "label: { var n = 1; break label; }",
    "label: for (;;) { var n = 1; break label; }",
    "try { var n = 1; } finally { }",
    "try { throw 0; } catch { var n = 1; }",
    "try { } finally { var n = 1; }",
    "switch (1) { case 1: var n = 1; }",
    "switch (0) { default: { var n = 1; } }",
    "var { n = 1 } = {};",
    "var [[n]] = [[1]];",
  ];
  const functions = statements.map((body, i) => `export function f${i}() { ${body} return n; }`);
  const main = `import { n } from "./n.js";\n${
    functions.join("\n")
  }\nexport const outside = () => [() => { var inner = n; return inner; }].map((g) => g())[0];`;
  const found = run({ "/app/main.js": main, "/app/n.js": "export const n = 7;" }, [
    "/app/main.js",
  ]) as Record<
    string,
    () => unknown
  >;
  statements.forEach((body, i) => assert.equal(found[`f${i}`]!(), 1, body));
  assert.equal(found["outside"]!(), 7);
});
