// What the loader refuses and warns of: each with its file, its line, its name and what to do
// instead.
import test from "node:test";
import assert from "node:assert/strict";
import { load, refusals, run, warnings } from "./loader_support.ts";

/** [what, source of /app/main.ts, expected refusal] */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "a module of Node",
    '\nimport { readFile } from "node:fs/promises";\nexport const x = readFile;',
    /^\/app\/main\.ts:2 \[builtin-import\] node:fs\/promises: .*activity/,
  ],
  [
    "a module of Node without its prefix",
    'import fs from "fs"; export const x = fs;',
    /main\.ts:1 \[builtin-import\] fs: .*activity/,
  ],
  [
    "timers of Node",
    'import { setTimeout } from "node:timers/promises"; await0(setTimeout);',
    /use sleep\(\)/,
  ],
  [
    "crypto of Node",
    'import { randomUUID } from "crypto"; export const x = randomUUID;',
    /crypto\.randomUUID\(\), which is seeded/,
  ],
  ["a side-effect import of Node", 'import "node:process";', /\[builtin-import\] node:process/],
  ["a module of Deno", 'import "deno:fs";', /\[builtin-import\] deno:fs/],
  [
    "a module of Bun",
    'import { Database } from "bun:sqlite"; new Database();',
    /\[builtin-import\] bun:sqlite/,
  ],
  [
    "the network over https",
    'import x from "https://esm.sh/x"; x();',
    /\[remote-import\] https:\/\/esm\.sh\/x: .*network/,
  ],
  ["the network over http", 'import x from "http://localhost/x.js"; x();', /\[remote-import\]/],
  ["jsr", 'import x from "jsr:@std/fs"; x();', /\[remote-import\] jsr:@std\/fs/],
  [
    "a data URL",
    'import x from "data:text/javascript,export default 1"; x();',
    /\[remote-import\] .*data: URL/,
  ],
  [
    "the host's side of this package",
    'import { Client } from "temporalex/client"; new Client();',
    /belongs to the host's side/,
  ],
  [
    "import() of a name that is computed",
    "export async function f(name: string) {\n  return await import(`./${name}.ts`);\n}",
    /main\.ts:2 \[dynamic-import\].*Give the name as a literal/,
  ],
  ["import() of Node", 'export const f = () => import("node:fs");', /\[builtin-import\] node:fs/],
  [
    "import() of a file that is not there",
    '\nexport const f = () => import("./none.ts");',
    /main\.ts:2 \[not-found\] \.\/none\.[jt]s/,
  ],
  [
    "import() in CommonJS of a file that is not there",
    'import f from "./own.cjs"; f();',
    /own\.cjs:1 \[not-found\] \.\/none\.[jt]s/,
  ],
  ["top-level await", "const x = 1;\nawait Promise.resolve(x);", /main\.ts:2 \[top-level-await\]/],
  ["top-level for await", "for await (const x of []) { }", /\[top-level-await\]/],
  ["import.meta", "export const u =\n import.meta.url;", /main\.ts:2 \[import-meta\]/],
  ["require", 'const fs = require("fs"); fs();', /\[require\] require: calls require\("fs"\)/],
  [
    "a variable that functions assign",
    "let count = 0;\nexport function f() {\n  count++;\n}",
    /main\.ts:3 \[module-state\] count: /,
  ],
  [
    "a variable assigned by destructuring",
    "let a: number, b: number;\nexport const f = () => { [a, { b }] = [1, { b: 2 }]; return a + b }",
    /\[module-state\] a/,
  ],
  [
    "a memo",
    "let memo: object | undefined;\nexport const get = () => memo ??= {};",
    /main\.ts:2 \[module-state\] memo/,
  ],
  ["a loop variable", "let i; export function f() { for (i of [1]); }", /\[module-state\] i/],
  [
    "a function that is replaced",
    "export function f() { g() } function g() { f = g }",
    /\[module-state\] f/,
  ],
  ["an assigned import", 'import { a } from "./a.ts"; a = 2;', /\[read-only-import\] a/],
  [
    "a missing file",
    'import "./nowhere.ts";',
    /\[not-found\] \.\/nowhere\.[jt]s: .*no file \/app\/nowhere\.[jt]s/,
  ],
  ["a missing package", 'import "leftpad";', /\[not-found\] leftpad: .*node_modules/],
  [
    "a missing export",
    '\n\nimport { b } from "./a.ts"; b();',
    /main\.ts:3 \[missing-export\] b: .*"\.\/a\.[jt]s"/,
  ],
  ["a missing default", 'import d from "./a.ts"; d();', /\[missing-export\] default/],
  [
    "a type exported as a value",
    'export { Type } from "./a.ts";',
    /\[missing-export\] Type: .*`type`/,
  ],
  [
    "an API that workflow code lacks",
    'import { Client } from "temporalex"; new Client();',
    /\[missing-export\] Client: .*for workflow code/,
  ],
  [
    "a syntax error of the language",
    "const x = 1;\nconst x = 2;",
    /main\.ts:2 \[syntax\] : syntax error: .*x/,
  ],
  ["a syntax error in types", "const a: = 3;", /main\.ts:1 \[syntax\]/],
  ["an unfinished file", "export function f() {", /\[syntax\]/],
  ["decorators", "function d() {}\n@d class A {}", /main\.ts:2 \[syntax\] .*decorators/],
  [
    "a namespace with code",
    "namespace Util {\n export const one = 1;\n}\nexport const x = Util.one;",
    /main\.ts:1 \[namespace\] Util/,
  ],
  ["a WebAssembly module", 'import x from "./x.wasm"; x();', /\[unsupported-file\]/],
  [
    "a top-level throw",
    "\nthrow new TypeError('no');",
    /main\.ts:2 \[evaluation\] : fails while it is loaded: TypeError: no/,
  ],
  ["a thrown string", "throw 'no';", /\[evaluation\] : fails while it is loaded: threw no/],
  [
    "damaged JSON",
    'import j from "./bad.json"; j();',
    /^\/app\/bad\.json:0 \[syntax\] : is not valid JSON/,
  ],
];

for (const [what, source, expected] of REFUSED) {
  test(`refused: ${what}`, () => {
    const found = refusals({
      "/app/main.ts": source,
      "/app/a.ts": "export const a = 1; export type Type = string;",
      "/app/x.wasm": "",
      "/app/bad.json": "{",
      "/app/own.cjs": 'module.exports = () => import("./none.ts");',
    });
    assert.ok(found.some((f) => expected.test(f)), `${expected} is not among\n${found.join("\n")}`);
  });
}

test("all errors of a module graph are reported at once, each with its file", () => {
  const found = refusals({
    "/app/main.ts": 'import "./a.ts"; import "node:fs"; import "./b.ts";',
    "/app/a.ts": '\nimport "node:net";',
    "/app/b.ts": "export const f = (a: string) => import(a);",
  });
  assert.deepEqual(
    found.map((f) => f.split(" ")[0]),
    ["/app/main.ts:1", "/app/a.ts:2", "/app/b.ts:1"],
  );
});

test("feature detection of Node APIs is accepted", () => {
  const ns = run({
    "/app/main.ts":
      "export const has = typeof Bufferx === 'undefined'; export const f = (Buffer: number, o: { global: 1 }) => Buffer + o.global;",
  });
  assert.equal(ns["has"], true);
  assert.deepEqual(
    refusals({
      "/app/main.ts":
        "export const f = () => typeof Buffer === 'undefined' ? 0 : Buffer.from('x');",
    }),
    [],
  );
});

test("constants that only resemble state are accepted", () => {
  const ns = run({
    "/app/main.ts": `
let table: Record<string, number>;
table = { a: 1 };
let n = 0;
for (n = 0; n < 3; n++);
(() => { n = 10 })();
class Config { static seen = 0; static { n = 11 } }
enum E { A }
export function f(table: number) { let n = table; n += 1; { let E = 5; E++; n += E } return n }
export function g() { const list: number[] = []; list.push(1); return list }
export const constants = [n, table.a, E.A, Config.seen];
`,
  });
  assert.deepEqual(ns["constants"], [11, 1, 0, 0]);
  assert.equal((ns["f"] as (n: number) => number)(1), 8);
  assert.deepEqual(
    warnings({
      "/app/main.ts":
        "const m = new Map(); m.set(1, 2); export const get = (k: number) => m.get(k);",
    }),
    [],
  );
});

/** [what, sources, expected warning] */
const WARNED: readonly (readonly [string, { [path: string]: string }, RegExp])[] = [
  [
    "a Map",
    {
      "/app/main.ts":
        "const seen = new Map<string, number>();\nexport function f(k: string) {\n  seen.set(k, 1);\n}",
    },
    /^\/app\/main\.ts:3 \[module-state\] seen/,
  ],
  [
    "a Set",
    { "/app/main.ts": "const s = new Set(); export const f = () => s.add(1);" },
    /\[module-state\] s:/,
  ],
  [
    "an array",
    { "/app/main.ts": "const list: number[] = []; export const f = () => { list.push(1) };" },
    /\[module-state\] list/,
  ],
  ["an array in an object", {
    "/app/main.ts":
      "const state = { items: [] as number[] }; export const f = () => { state.items.push(1) };",
  }, /\[module-state\] state/],
  [
    "an object's property",
    { "/app/main.ts": "const state = { n: 0 }; export const f = () => { state.n += 1 };" },
    /\[module-state\] state/,
  ],
  [
    "a deleted property",
    { "/app/main.ts": "const state: any = { n: 0 }; export const f = () => { delete state.n };" },
    /\[module-state\] state/,
  ],
  [
    "Object.assign",
    { "/app/main.ts": "const state = {}; export const f = () => Object.assign(state, { a: 1 });" },
    /\[module-state\] state/,
  ],
  [
    "a class's static",
    {
      "/app/main.ts": "export class Counter { static n = 0; static next() { return Counter.n++ } }",
    },
    /\[module-state\] Counter/,
  ],
  [
    "a function's property",
    { "/app/main.ts": "export function f() { (f as any).calls = 1 }" },
    /\[module-state\] f/,
  ],
  [
    "a regular expression that remembers",
    { "/app/main.ts": "const re = /x/g; export const f = (s: string) => re.test(s);" },
    /\[module-state\] re: .*flag/,
  ],
  [
    "another module's collection",
    {
      "/app/main.ts":
        'import { cache } from "./c.ts";\nexport const f = () => { cache.set(1, 2) };',
      "/app/c.ts": "export const cache = new Map();",
    },
    /^\/app\/main\.ts:2 \[module-state\] cache/,
  ],
  [
    "another module's object",
    {
      "/app/main.ts": 'import { config } from "./c.ts"; export const f = () => { config.n = 1 };',
      "/app/c.ts": "export const config = make(); function make() { return { n: 0 } }",
    },
    /\[module-state\] config/,
  ],
];

for (const [what, files, expected] of WARNED) {
  test(`warned of: ${what}`, () => {
    const found = warnings(files);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0]!, expected);
  });
}

test("a package with module-level state is one warning, not an error", () => {
  const found = warnings({
    "/app/main.ts": 'import { a } from "p"; export const b = a;',
    "/node_modules/p/package.json": '{"type":"module","exports":"./index.js"}',
    "/node_modules/p/index.js":
      "let n = 0; const m = new Map(); export function a() { m.set(n++, 1) }",
  });
  assert.equal(found.length, 1);
  assert.match(found[0]!, /the package "p" keeps state/);
});

test("a missing entry is reported by name", () => {
  assert.throws(() => load({}, ["/app/main.ts"]), /\/app\/main\.ts: no such file/);
});
