// State of native modules that all runs share: rejected or warned of with its line, however it is
// kept.
import assert from "node:assert/strict";
import test from "node:test";
import { type Files, load, refusals, warnings } from "./loader_support.ts";

const module = (top: string, body: string): string =>
  `import { workflow } from "temporalex/workflow";\n${top}\nexport const w = workflow("w", async () => {\n${body};\n});\n`;

/** At the top level, and in a workflow's function: the second run sees what the first has done. */
const LEAKS: { readonly [what: string]: readonly [top: string, body: string] } = {
  "a variable": ["let n = 0;", "return ++n"],
  "a variable of a closure": [
    "const next = (() => { let n = 0; return () => ++n; })();",
    "return next()",
  ],
  "a variable of a function that is called": [
    "function make() { let n = 0; return { inc: () => ++n }; }\nconst c = make();",
    "return c.inc()",
  ],
  "a function that a called function calls": [
    "const inner = () => { let n = 0; return () => ++n; };\nconst outer = () => inner();\nconst c = outer();",
    "return c()",
  ],
  "a cache in a parameter": [
    "const memo = (f, c = new Map()) => (x) => { if (!c.has(x)) c.set(x, f(x)); return c.get(x); };\nconst once = memo((x) => x);",
    "return once(1)",
  ],
  "a lazy value": [
    "const lazy = (f) => { let v; return () => v ??= f(); };\nexport const get = lazy(() => ({}));",
    "return get()",
  ],
  "a generator": [
    "const g = (function* () { let i = 0; for (;;) yield ++i; })();",
    "return g.next().value",
  ],
  "a generator of a function": [
    "function* ids() { let i = 0; for (;;) yield ++i; }\nconst g = ids();",
    "return g.next().value",
  ],
  "an async generator": [
    "const g = (async function* () { yield 1; })();",
    "return (await g.next()).value",
  ],
  "an iterator of an array": ["const it = [1, 2, 3][Symbol.iterator]();", "return it.next().value"],
  "an iterator of a map": ["const it = new Map().entries();", "return [...it]"],
  "a static private field": [
    "class A { static #n = 0; static next() { return ++A.#n; } }",
    "return A.next()",
  ],
  "a static field": ["class A { static n = 0; }", "return ++A.n"],
  "an instance": [
    "class C { #n = 0; inc() { return ++this.#n; } }\nconst c = new C();",
    "return c.inc()",
  ],
  "an instance that is handed on": [
    "class C { n = 0; inc() { this.n++; } }\nconst c = new C();\nconst call = (o) => o.inc();",
    "call(c)",
  ],
  "an instance of a derived class": [
    "class A { n = 0; inc() { return ++this.n; } }\nclass B extends A {}\nconst b = new B();",
    "return b.inc()",
  ],
  "an instance whose method calls another": [
    "class C { m = new Map(); get(k) { return this.#at(k); } #at(k) { this.m.set(k, 1); } }\nconst c = new C();",
    "return c.get(1)",
  ],
  "an object with methods": ["const o = { n: 0, inc() { return ++this.n; } };", "return o.inc()"],
  "a bound method": [
    "const o = { n: 0, inc() { return ++this.n; } };\nconst inc = o.inc.bind(o);",
    "return inc()",
  ],
  "a map": ["const m = new Map();", "m.set('a', 1)"],
  "a weak map": ["const seen = new WeakMap();", "seen.set({}, 1)"],
  "a date": ["const d = new Date(0);", "d.setTime(1)"],
  "a typed array": ["const u = new Uint8Array(1);", "return ++u[0]"],
  "a view": ["const v = new DataView(new ArrayBuffer(1));", "v.setUint8(0, 1)"],
  "a property of a function": ["function f() {}", "f.n = 1"],
  "an abort controller": ["const c = new AbortController();", "c.abort()"],
  "listeners": ["const e = new EventTarget();", "e.addEventListener('x', () => {})"],
  "parameters of a URL": ["const p = new URLSearchParams();", "p.append('a', '1')"],
  "a URL": ["const u = new URL('http://x/');", "u.pathname += 'a'"],
  "a regular expression with g": ["const r = /a/g;", "return r.test('aa')"],
  "an error": ["const e = new Error('x');", "e.message += 'y'"],
  "a nested object": ["const o = Object.freeze({ deep: { n: 0 } });", "return ++o.deep.n"],
  "a proxy": ["const o = new Proxy({}, {});", "o.n = 1"],
  "a default argument": ["function f(a = f.cache ??= []) { a.push(1); }", "f()"],
  "an array": ["const a = [];", "a.push(1)"],
  "Reflect.set": ["const a = {};", "Reflect.set(a, 'n', 1)"],
  "Object.assign": ["const a = {};", "Object.assign(a, { n: 1 })"],
};

for (const [what, [top, body]] of Object.entries(LEAKS)) {
  test(`state in ${what} is reported with its line`, () => {
    const files = { "/app/main.ts": `// @ts-nocheck\n${module(top, body)}` };
    const refused = refusals(files);
    const found = refused.length > 0 ? refused : warnings(files);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(
      found[0]!,
      /^\/app\/main\.ts:[1-9]\d* \[module-state\] .*(?:every workflow run|one workflow run)/s,
    );
  });
}

test("state of another module is reported where it is made or changed", () => {
  const files: Files = {
    "/app/main.ts": module(
      'import { memo, registry } from "./state.ts";\nconst once = memo((x: number) => x);',
      "registry.add('a'); return [registry.size(), once(1)]",
    ),
    "/app/state.ts":
      `export class Registry { #all = new Set(); add(x: string) { this.#all.add(x); } size() { return this.#all.size; } }
export const registry = new Registry();
export const memo = <T,>(f: (x: T) => T) => { let known: T | undefined; return (x: T) => known ??= f(x); };`,
  };
  assert.deepEqual(warnings(files).map((text) => text.split(": ")[0]), [
    "/app/main.ts:5 [module-state] registry",
    "/app/main.ts:3 [module-state] memo",
  ]);
});

test("a method of another module's object is judged by what it does, not by its name", () => {
  const files: Files = {
    "/app/main.ts": module(
      `import { math, table } from "./other.ts";`,
      "math.add(1, 2);\ntable.rows.push(1)",
    ),
    "/app/other.ts":
      "export const math = { add: (a, b) => a + b };\nexport const table = { rows: [] };\n",
  };
  assert.deepEqual(warnings(files).map((each) => each.split(":", 2).join(":")), [
    "/app/main.ts:5 [module-state] table",
  ]);
});

/** Not shared, or never changed. */
const KEPT: { readonly [what: string]: readonly [top: string, body: string] } = {
  "a sum of a callback that has returned": [
    "const sum = (() => { let n = 0; [1, 2].forEach((x) => { n += x; }); return n; })();",
    "return sum",
  ],
  "a closure that a workflow's function makes": [
    "const make = () => { let n = 0; return () => ++n; };",
    "const c = make(); return c()",
  ],
  "a decoder without a stream": [
    "const t = new TextDecoder();",
    "return t.decode(new Uint8Array(1))",
  ],
  "a method named like an iterator's that takes arguments": [
    "const schema = { keys: (of) => Object.keys(of) };\nconst s = schema.keys({ a: 1 });",
    "return [...s]",
  ],
  "an instance that a workflow's function makes": [
    "class C { n = 0; inc() { return ++this.n; } }",
    "return new C().inc()",
  ],
  "an instance that is only read": [
    "class C { n = 0; inc() { this.n++; } read() { return this.n; } }\nconst c = new C();",
    "return c.read()",
  ],
  "an object whose methods have names of methods of collections": [
    "const math = { add: (a, b) => a + b, set(x) { return x; } };",
    "return math.add(1, math.set(2))",
  ],
  "a date that is only read": ["const d = new Date(0);", "return d.getTime()"],
  "keys of an object": ["const keys = Object.keys({ a: 1 });", "return keys"],
  "a function that changes its own variables": [
    "function count() { let n = 0; for (const x of [1]) n += x; return n; }\nconst c = count();",
    "return c",
  ],
  "an object whose methods read": [
    "const o = { n: 1, get() { return this.n; } };",
    "return o.get()",
  ],
};

for (const [what, [top, body]] of Object.entries(KEPT)) {
  test(`not reported: ${what}`, () => {
    const files = { "/app/main.ts": module(top, body) };
    load(files);
    assert.deepEqual([...refusals(files), ...warnings(files)], []);
  });
}
