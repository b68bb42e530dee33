// TypeScript modules with the value that the official bundler's compiler gives their `main()` (swc
// with target es2017; TypeScript's where swc's own output fails). All but classes.
import type { TypeScriptShape } from "./typescript_shape.ts";

export const OTHER_SHAPES: readonly TypeScriptShape[] = [
  {
    name: "an enum",
    text: `enum C { Red, Green = 5, Blue, Text = "t" }
export const main = () => [C.Red, C.Blue, C[5], C.Text, Object.keys(C).sort()];`,
    value: `[0,6,"Green","t",["0","5","6","Blue","Green","Red","Text"]]`,
  },
  {
    name: "an enum with computed members",
    text: `enum F { None = 0, A = 1 << 0, B = 1 << 1, AB = A | B, Len = "abc".length }
export const main = () => [F.AB, F[3], F.Len];`,
    value: `[3,"Len",3]`,
  },
  {
    name: "a const enum",
    text: `const enum K { A = 1, B = A * 10, C = "c" }
export const main = () => [K.A, K.B, K.C];`,
    value: `[1,10,"c"]`,
  },
  {
    name: "an exported enum that is declared twice",
    text: `export enum M { A } export enum M { B = 1 }
export const main = () => [M.A, M.B, M[1]];`,
    value: `[0,1,"B"]`,
  },
  {
    name: "an enum whose member has a quoted name",
    text: `enum Q { "a-b" = 1, c = Q["a-b"] + 1 }
export const main = () => [Q["a-b"], Q.c];`,
    value: `[1,2]`,
  },
  {
    name: "an enum in a function",
    text: `export const main = () => { enum L { X = 3 } return [L.X, L[3]]; };`,
    value: `[3,"X"]`,
  },
  {
    name: "a declared enum and a declared constant",
    text: `declare enum E { A } declare const VERSION: string;
export const main = () => typeof VERSION;`,
    value: `"undefined"`,
  },
  {
    name: "an enum with a template and an earlier enum's member",
    text: `enum A { X = "x" }
enum B { Y = \`\${A.X}-y\` }
export const main = () => B.Y;`,
    value: `"x-y"`,
  },
  {
    name: "a namespace with code",
    text:
      `namespace N { export const a = 1; const hidden = 2; export function f() { return a + hidden; } }
export const main = () => N.f();`,
    rejected: {
      shared: 'declares the TypeScript namespace "N"',
      run: 'declares the TypeScript namespace "N"',
      activity: 'declares the TypeScript namespace "N"',
    },
  },
  {
    name: "nested and merged namespaces",
    text: `namespace A.B { export let n = 1; export const inc = () => ++n; }
namespace A { export const all = () => B.n; }
export const main = () => { A.B.n = 1; A.B.inc(); return A.all(); };`,
    rejected: {
      shared: 'declares the TypeScript namespace "A.B"',
      run: 'declares the TypeScript namespace "A.B"',
      activity: 'declares the TypeScript namespace "A.B"',
    },
  },
  {
    name: "a namespace merged with a function",
    text: `function f() { return f.more; }
namespace f { export const more = 4; }
export const main = () => f();`,
    line: 2,
    rejected: { shared: 'namespace "f"', run: 'namespace "f"', activity: 'namespace "f"' },
  },
  {
    name: "an exported namespace",
    text: `export namespace N { export const a = 1; export enum E { X = 2 } }
export const main = () => N.a + N.E.X;`,
    rejected: { shared: 'namespace "N"', run: 'namespace "N"', activity: 'namespace "N"' },
  },
  {
    name: "a namespace of types",
    text: `namespace T { export type A = string; export interface B { a: A } }
const b: T.B = { a: "x" };
export const main = () => b.a;`,
    value: `"x"`,
  },
  {
    name: "a declared namespace and module",
    text:
      `declare namespace G { const x: number } declare module "some-module" { export const y: number } declare global { interface Array<T> { zz?: T } }
export const main = () => "ok";`,
    value: `"ok"`,
  },
  {
    name: "an import alias of a namespace",
    text: `namespace N { export const a = { b: 1 }; }
import Alias = N.a;
export const main = () => Alias.b;`,
    rejected: { shared: 'namespace "N"', run: 'namespace "N"', activity: 'namespace "N"' },
  },
  {
    name: "overloads of a function",
    text: `function f(a: string): string;
function f(a: number): number;
function f(a: any) { return a; }
export const main = () => [f("x"), f(1)];`,
    value: `["x",1]`,
  },
  {
    name: "overloads of an exported default function",
    text:
      `export default function f(a: string): string; export default function f(a: number): number; export default function f(a: any) { return a; }
export const main = () => f(2);`,
    value: `2`,
  },
  {
    name: "satisfies, as, as const, non-null",
    text: `const a = { x: 1 } satisfies { x: number };
const b = [1, 2] as const;
const c = (a as { x?: number }).x!;
export const main = () => [a.x, b.length, c, <number> c];`,
    value: `[1,2,1,1]`,
  },
  {
    name: "satisfies and as over several lines",
    text: `const a = {
  x: 1,
} satisfies {
  x: number;
};
const y = a
  .x as
    number;
export const main = () => y;`,
    value: `1`,
  },
  {
    name: "generic arrow functions and generic calls",
    text: `const id = <T,>(x: T): T => x;
const two = async <T>(x: T): Promise<T> => x;
export const main = () => [id<number>(1), typeof two, [1].map<string>((x): string => String(x))[0]];`,
    value: `[1,"function","1"]`,
  },
  {
    name: "comparisons that look like generic calls",
    text: `const a = 1, b = 2, c = 3;
export const main = () => [a < b, a < b == b > c, (a < b) > (c as any)];`,
    value: `[true,false,false]`,
  },
  {
    name: "optional parameters, this parameters, rest types",
    text:
      `function f(this: { k: number }, a?: number, ...r: number[]) { return this.k + (a ?? 0) + r.length; }
export const main = () => [f.call({ k: 1 }, 2, 3), f.length];`,
    value: `[4,1]`,
  },
  {
    name: "type predicates and assertion functions",
    text: `function isS(x: unknown): x is string { return typeof x === "string"; }
function assertN(x: unknown): asserts x is number { if (typeof x !== "number") throw new Error("no"); }
export const main = () => { assertN(1); return isS("a"); };`,
    value: `true`,
  },
  {
    name: "conditional, mapped and template types",
    text:
      `type A<T> = T extends { [k in infer K extends string]: infer V } ? K | V : never; type B = { readonly [K in keyof Date as \`get\${Capitalize<K & string>}\`]+?: () => Date[K] };
export const main = () => "types";`,
    value: `"types"`,
  },
  {
    name: "type-only imports and exports",
    text: `import type { T } from "./b.ts";
import { type U, v } from "./b.ts"; export type { T }; export { type U, v };
const t: T = v;
export const main = () => t;`,
    files: { "b.ts": "export type T = number; export interface U { a: T } export const v = 3;" },
    value: `3`,
  },
  {
    name: "an import that is used as a type alone",
    text: `import { T, v } from "./b.ts";
import D from "./b.ts";
const d: D | T = v;
export const main = () => d;`,
    files: {
      "b.ts":
        "export type T = number; export default interface D { q: number } export const v = 4;",
    },
    value: `4`,
  },
  {
    name: "re-exports with and without names",
    text:
      `export * from "./b.ts"; export * as all from "./b.ts"; export { v as w, default as d } from "./b.ts";
import * as b from "./b.ts";
export const main = () => [b.v, b.default, Object.keys(b).sort()];`,
    files: { "b.ts": 'export const v = 5; export default "def"; export type X = 1;' },
    value: `[5,"def",["default","v"]]`,
  },
  {
    name: "a re-export of a type without the word",
    text: `export { T, v } from "./b.ts";
import { v } from "./b.ts";
export const main = () => v;`,
    files: { "b.ts": "export type T = number; export const v = 6;" },
    value: `6`,
    rejected: { "shared": 'imports "T"', "activity": "'T'" },
  },
  {
    name: "an imported enum and class",
    text: `import { E, K } from "./b.ts";
export const main = () => [E.A, new K(2).x];`,
    files: {
      "b.ts":
        'export enum E { A = "a" } export class K { x = this.n; constructor(public n: number) {} }',
    },
    value: `["a",2]`,
  },
  {
    name: "an import of JSON's shape by require",
    text: `import fs = require("./b.ts");
export const main = () => fs.v;`,
    files: { "b.ts": "export const v = 8;" },
    value: `8`,
    rejected: { shared: "require(", activity: "require(" },
  },
  {
    name: "export =",
    text: `const x = { v: 1 }; export = x;`,
    rejected: { shared: "uses `export =`", run: "uses `export =`", activity: "uses `export =`" },
  },
  {
    name: "an import that is exported by import =",
    text: `export import N = require("./b.ts");
export const main = () => N.v;`,
    files: { "b.ts": "export const v = 9;" },
    value: `9`,
    rejected: { shared: "require(", activity: "require(" },
  },
  {
    name: "legacy decorators",
    text: `const log: string[] = [];
function d(t: any, k?: string) { log.push(k ?? t.name); }
@d class A { @d m() {} }
export const main = () => log;`,
    line: 3,
    rejected: {
      shared: "decorators are not supported",
      run: "decorators are not supported",
      activity: "decorators are not supported",
    },
  },
  {
    name: "standard decorators",
    text:
      `function twice(f: any, _c: ClassMethodDecoratorContext) { return function (this: any, ...a: any[]) { return f.apply(this, a) * 2; }; }
class A { @twice m() { return 2; } }
export const main = () => new A().m();`,
    line: 2,
    rejected: {
      shared: "decorators are not supported",
      run: "decorators are not supported",
      activity: "decorators are not supported",
    },
  },
  {
    name: "an accessor",
    text: `class A { accessor x = 1; }
export const main = () => { const a = new A(); a.x++; return a.x; };`,
    rejected: {
      shared: "`accessor` fields are not supported",
      run: "`accessor` fields are not supported",
      activity: "`accessor` fields are not supported",
    },
  },
  {
    name: "using",
    text:
      `export const main = () => { const log: string[] = []; { using x = { [Symbol.dispose]() { log.push("disposed"); } }; log.push("inside"); void x; } return log; };`,
    value: `["inside","disposed"]`,
  },
  {
    name: "await using",
    text:
      `export const main = async () => { const log: string[] = []; { await using x = { async [Symbol.asyncDispose]() { log.push("disposed"); } }; log.push("inside"); void x; } return log; };`,
    value: `["inside","disposed"]`,
  },
  {
    name: "JSX",
    text: `const React = { createElement: (t: any, p: any, ...c: any[]) => [t, p, c] };
export const main = () => <b id="x">{1}</b>;`,
    main: "main.tsx",
    value: `["b",{"id":"x"},[1]]`,
  },
  {
    name: "a label, a regular expression, a division after a type",
    text: `const n = (4 as number) / 2;
const r = /a\\/b/u.test("a/b");
export const main = () => { out: for (const x of [1, 2]) { if (x === 2) break out; } return [n, r]; };`,
    value: `[2,true]`,
  },
  {
    name: "an object with methods that are generic or optional",
    text:
      `const o = { m<T>(x: T): T { return x; }, async *g<T>(x: T) { yield x; }, get k(): number { return 1; } };
export const main = () => [o.m(1), o.k, o?.m?.(2)];`,
    value: `[1,1,2]`,
  },
  {
    name: "names that are words of TypeScript",
    text:
      `const type = 1, declare = 2, namespace = 3, as = 4, satisfies = 5, abstract = 6, of = 7, readonly = 8;
export const main = () => [type, declare, namespace, as, satisfies, abstract, of, readonly];`,
    value: `[1,2,3,4,5,6,7,8]`,
  },
  {
    name: "a catch with a type, unknown",
    text:
      `export const main = () => { try { throw new Error("x"); } catch (e: unknown) { return (e as Error).message; } };`,
    value: `"x"`,
  },
  {
    name: "destructured parameters with types",
    text:
      `const f = ({ a, b: { c } = { c: 2 } }: { a: number; b?: { c: number } }, [d]: [number] = [9]): number => a + c + d;
export const main = () => f({ a: 1 });`,
    value: `12`,
  },
  {
    name: "a tagged template with type arguments",
    text: `const tag = <T,>(s: TemplateStringsArray, ...v: T[]) => s.join("|") + v.join();
export const main = () => tag<number>\`a\${1}b\`;`,
    value: `"a|b1"`,
  },
  {
    name: "an async generator with types",
    text:
      `async function* g(n: number): AsyncGenerator<number, void, unknown> { for (let i = 0; i < n; i++) yield i; }
export const main = async () => { const out: number[] = []; for await (const x of g(3)) out.push(x); return out; };`,
    value: `[0,1,2]`,
  },
  {
    name: "logical assignment, private in, numeric separators",
    text: `class A { #p = 1; static has(o: object) { return #p in o; } }
export const main = () => { let x: number | undefined; x ??= 1_000; return [x, A.has(new A()), A.has({})]; };`,
    value: `[1000,true,false]`,
  },
  {
    name: "a unique symbol and a key of it",
    text: `const s: unique symbol = Symbol("s");
class A { [s] = 1; static readonly [Symbol.species] = A; }
export const main = () => new A()[s];`,
    value: `1`,
  },
  {
    name: "function types with newlines and unions",
    text: `type F =
  | ((a: number) => void)
  | (new (a: string) => object);
const f: F = (a: number) => void a; export const main = () => typeof f;`,
    value: `"function"`,
  },
  {
    name: "an arrow function whose return type spans lines",
    text: `const f = (
  a: number,
): {
  b: number;
} => ({ b: a }); export const main = () => f(2);`,
    value: `{"b":2}`,
  },
  {
    name: "instantiation expressions",
    text: `const m = Map<string, number>;
export const main = () => new m([["a", 1]]).size;`,
    value: `1`,
  },
  {
    name: "const type parameters, variance, enum as a type",
    text: `enum E { A }
function f<const T extends readonly unknown[]>(x: T): T { return x; }
interface V<in out T> { v: T } type L = E.A;
export const main = () => f([1, "a"]).length;`,
    value: `2`,
  },
  {
    name: "an import with attributes",
    text: `import d from "./d.json" with { type: "json" };
export const main = () => d.a;`,
    files: { "d.json": '{"a": 12}' },
    value: `12`,
  },
  {
    name: "two resources of using",
    text:
      `const log: string[] = []; const r = (n: string) => ({ n, [Symbol.dispose]() { log.push(n); } });
function f() { using a = r("a"), b = r("b"); using c = null; log.push(a.n + b.n + c); return log.length; }
export const main = () => { log.length = 0; return [f(), log]; };`,
    value: `[1,["abnull","b","a"]]`,
  },
  {
    name: "errors of resources of using",
    text: `const r = (n: string) => ({ [Symbol.dispose]() { throw new Error(n); } });
export const main = () => { try { using a = r("a"); using b = r("b"); throw new Error("body"); } catch (e: any) { return [e.name, e.error.message, e.suppressed.name, e.suppressed.error.message, e.suppressed.suppressed.message]; } };`,
    value: `["SuppressedError","a","SuppressedError","b","body"]`,
  },
  {
    name: "using in loops and with early exits",
    text:
      `export const main = () => { const log: unknown[] = []; const r = (n: number) => ({ n, [Symbol.dispose]() { log.push(n); } });
for (using x of [r(1), r(2), r(3)]) { if (x.n === 2) continue; log.push("in " + x.n); }
for (const n of [4, 5]) { using x = r(n); if (n === 4) continue; break; }
return log; };`,
    value: `["in 1",1,2,"in 3",3,4,5]`,
  },
  {
    name: "using of something else",
    text:
      `export const main = () => { try { using x = 1 as any; return x; } catch (e: any) { return e.name; } };`,
    value: `"TypeError"`,
  },
  {
    name: "ticks of await using",
    text:
      `export const main = async () => { const log: string[] = []; const tick = async () => { for (let i = 0; i < 9; i++) { log.push("t" + i); await null; } }; const ticks = tick();
{ await using x = { async [Symbol.asyncDispose]() { log.push("x"); } }; await using y = { [Symbol.dispose]() { log.push("y"); } }; void [x, y]; }
log.push("after"); { await using z = null; } log.push("null"); await ticks; return log; };`,
    value: `["t0","y","t1","x","t2","t3","t4","after","t5","null","t6","t7","t8"]`,
  },
  {
    name: "await using in a loop, a generator, a function that returns",
    text:
      `const log: string[] = []; const r = (n: string) => ({ n, async [Symbol.asyncDispose]() { log.push(n); } });
async function f() { await using a = r("a"); using b = null; return "f" + a.n + b; }
export const main = async () => { log.length = 0; for (await using x of [r("1"), r("2")]) log.push("in " + x.n); log.push(await f()); return log; };`,
    value: `["in 1","1","in 2","2","a","fanull"]`,
  },
  {
    name: "using as a name",
    text:
      `const using = (x: number) => x + 1; export const main = () => { let y = using(1); y = using
(2); return y; };`,
    value: `3`,
  },
];
