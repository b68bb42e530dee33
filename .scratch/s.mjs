import { transform } from "sucrase";
const t=(c,f="a.ts")=>transform(c,{transforms:["typescript","imports"],disableESTransforms:true,filePath:f}).code;
console.log(t(`import type {T} from "./t.ts";
import def, { a as b, type X,
   c } from "./b.ts";
import * as ns from "./c.ts";
import j from "./j.json" with { type: "json" };
import "./side.ts";
export * from "./d.ts"; export * as q from "./e.ts"; export { z, y as default } from "./f.ts";
export function foo<T>(x: T): T { return b(x) as T }
export let n = 1; n++; function inc() { n += 1; ({ n } = { n: 3 }); }
export const { p, r: [s] } = ns.o;
export default class K { constructor(private v: number) {} x?: string }
const o = { b, def }; def(); ns.f(); new def(); (0, ns.g)(); b\`x\`;
enum E { A, B = "x" }
export { o as oo, E };
export type { X }
function sh(b: number) { return b }
const acts = activities<typeof import("./payment.ts")>();
{ let n = 2; n++ }
for (n of [1]) {}
using x = 1 as any;
`));
for (const bad of ["let x = ;", "const a: = 3", "namespace Foo { export const x = 1 }", "let x = 1;\nlet x = 2", "@dec class A {}","import x = require('fs')", "export = 3", "abstract class A { abstract foo(): void; declare x: number }", "const x = <T,>(a: T) => a; let y = x<string>;", "foo satisfies X", "const f = import.meta.url"]) { try { console.log(JSON.stringify(bad), t(bad)) } catch (e) { console.log(JSON.stringify(bad),"ERR", e.message) } }
