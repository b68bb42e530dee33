// TypeScript modules with the value that the official bundler's compiler gives their `main()` (swc
// with target es2017; TypeScript's where swc's own output fails). Classes and their fields.
import type { TypeScriptShape } from "./typescript_shape.ts";

export const CLASS_SHAPES: readonly TypeScriptShape[] = [
  {
    name: "a class with parameter properties",
    text:
      `class A { constructor(private readonly a: string, public b = 2) {} show() { return this.a + this.b; } }
export const main = () => new A("x").show();`,
    value: `"x2"`,
  },
  {
    name: "a field that reads a parameter property",
    text: `class R { t = "t_" + this.n; constructor(private readonly n: string) {} }
export const main = () => new R("1").t;`,
    value: `"t_1"`,
  },
  {
    name: "a parameter property in a derived class",
    text: `class Base { constructor(protected readonly id: string) {} label = "L:" + this.id; }
class Sub extends Base { extra = this.label + "!"; constructor(id: string, public readonly n = 3) { super(id); } twice = this.n * 2; }
export const main = () => { const s = new Sub("x"); return [s.label, s.extra, s.twice, Object.keys(s)]; };`,
    value: `["L:x","L:x!",6,["id","label","n","extra","twice"]]`,
  },
  {
    name: "parameter properties with destructuring and defaults next to them",
    text:
      `class A { sum = this.a + 1; constructor(public a: number, { b, c = 4 }: { b: number; c?: number }, ...rest: number[]) { this.sum += b + c + rest.length; } }
export const main = () => new A(1, { b: 2 }, 7, 8).sum;`,
    value: `10`,
  },
  {
    name: "a private field that reads a parameter property",
    text:
      `class A { #x = this.n * 2; constructor(readonly n: number) {} get x() { return this.#x; } }
export const main = () => new A(4).x;`,
    value: `8`,
  },
  {
    name: "a field with an arrow function next to a parameter property",
    text: `class A { f = () => this.n + 1; constructor(private n: number) {} }
export const main = () => { const { f } = new A(1); return f(); };`,
    value: `2`,
  },
  {
    name: "fields without values next to parameter properties",
    text: `class A { x?: string; y = 1; constructor(public n: number) {} }
export const main = () => { const a = new A(1); return [Object.keys(a).sort(), "x" in a, a.y]; };`,
    value: `[["n","x","y"],true,1]`,
  },
  {
    name: "a declared field",
    text: `class A { x = 1; }
class B extends A { declare x: number; y = this.x; }
export const main = () => { const b = new B(); return [b.x, b.y]; };`,
    value: `[1,1]`,
  },
  {
    name: "a field declared again in a derived class",
    text: `class A { x = 1; }
class B extends A { x!: number; }
export const main = () => new B().x ?? "undefined";`,
    value: `"undefined"`,
  },
  {
    name: "an outer name that a constructor's parameter hides",
    text: `const n = "outer";
class A { x = n; y = this.m + n; constructor(public m: string, n: string) { this.x += n; } }
export const main = () => { const a = new A("m", "inner"); return [a.x, a.y]; };`,
    value: `["outerinner","mouter"]`,
  },
  {
    name: "a field that calls super's method, next to a parameter property",
    text: `class A { hi() { return "hi"; } }
class B extends A { x = super.hi() + this.n; constructor(public n: number) { super(); } }
export const main = () => new B(1).x;`,
    value: `"hi1"`,
  },
  {
    name: "a class expression with a parameter property",
    text: `const K = class { x = this.n + 1; constructor(readonly n: number) {} };
export const main = () => [new K(1).x, K.name];`,
    value: `[2,"K"]`,
  },
  {
    name: "a class in a function with a parameter property",
    text:
      `function make(k: number) { return class Inner { x = this.n + k; constructor(readonly n: number) {} }; }
export const main = () => [new (make(1))(10).x, new (make(2))(10).x];`,
    value: `[11,12]`,
  },
  {
    name: "a static field and a static block next to a parameter property",
    text:
      `class A { static count = 10; static { A.count++; } x = A.count + this.n; constructor(readonly n: number) {} }
export const main = () => new A(1).x;`,
    value: `12`,
  },
  {
    name: "a field whose name is a string or a number, next to a parameter property",
    text: `class A { "a b" = this.n; 7 = this.n + 1; constructor(readonly n: number) {} }
export const main = () => { const a = new A(1); return [a["a b"], a[7]]; };`,
    value: `[1,2]`,
  },
  {
    name: "a field whose name is computed, next to a parameter property",
    text: `const key = "k";
class A { [key] = this.n + 1; constructor(readonly n: number) {} }
export const main = () => (new A(1) as any).k;`,
    value: `2`,
  },
  {
    name: "statements before super()",
    text: `class A { constructor(readonly n: number) {} }
class B extends A { x = this.m + this.n; constructor(readonly m: number) { const twice = m * 2; super(twice); } }
export const main = () => new B(2).x;`,
    value: `6`,
  },
  {
    name: "super() in a condition",
    text: `class A { n: number; constructor(n: number) { this.n = n; } }
class B extends A { x = this.m + this.n; constructor(readonly m: number) { if (m > 1) { super(1); } else { super(2); } } }
export const main = () => [new B(1).x, new B(2).x];`,
    value: `[3,3]`,
  },
  {
    name: "order of side effects of fields and parameter properties",
    text:
      `const log: string[] = []; const note = <T,>(s: string, v: T): T => { log.push(s); return v; };
class A { a = note("a", 1); constructor(readonly p = note("p", 2)) { log.push("body " + this.p); } b = note("b", this.p); } export const main = () => { log.length = 0; const x = new A(); return [log, x.b]; };`,
    value: `[["p","a","b","body 2"],2]`,
  },
  {
    name: "a parameter property that a setter of the base class does not see",
    text: `class A { set p(v: number) { this.seen = v; } seen = 0; }
class B extends A { constructor(public p: number) { super(); } }
export const main = () => { const b = new B(3); return [b.seen, Object.keys(b).sort()]; };`,
    value: `[0,["p","seen"]]`,
  },
  {
    name: "a constructor with overloads",
    text:
      `class A { x = this.n; constructor(n: number); constructor(n: string); constructor(public n: any) {} }
export const main = () => [new A(1).x, new A("s").x];`,
    value: `[1,"s"]`,
  },
  {
    name: "a nested class in a field's value",
    text:
      `class A { Inner = class { y = this.k; constructor(readonly k: number) {} }; z = new this.Inner(this.n).y; constructor(readonly n: number) {} }
export const main = () => new A(5).z;`,
    value: `5`,
  },
  {
    name: "a constructor that returns another object",
    text:
      `class A { x = this.n; constructor(readonly n: number) { if (n < 0) return { n: 0, x: "other" } as any; } }
export const main = () => [new A(-1).x, new A(1).x];`,
    value: `["other",1]`,
  },
  {
    name: "a private constructor with a parameter property",
    text:
      `class A { static of(n: number) { return new A(n); } private constructor(public readonly n: number) {} readonly m = this.n * 3; }
export const main = () => A.of(2).m;`,
    value: `6`,
  },
  {
    name: "an override parameter property",
    text: `class A { constructor(protected n: number) {} }
class B extends A { m = this.n; constructor(protected override n: number) { super(1); } }
export const main = () => (new B(2) as any).m;`,
    value: `2`,
  },
  {
    name: "a getter, a setter, a private method next to a parameter property",
    text:
      `class A { v = this.#twice(); #twice() { return this.n * 2; } get w() { return this.v; } set w(x: number) { this.v = x; } constructor(private n: number) {} }
export const main = () => { const a = new A(4); a.w += 1; return a.w; };`,
    value: `9`,
  },
  {
    name: "an abstract class",
    text:
      `abstract class A { abstract area(): number; abstract readonly name: string; show() { return this.name + this.area(); } }
class B extends A { readonly name = "b"; constructor(private r: number) { super(); } area() { return this.r; } }
export const main = () => new B(2).show();`,
    value: `"b2"`,
  },
  {
    name: "a generic class with an index signature",
    text: `class A<T> { [key: string]: unknown; v: T; constructor(v: T) { this.v = v; } }
export const main = () => Object.entries(new A(1));`,
    value: `[["v",1]]`,
  },
  {
    name: "a class that implements an interface",
    text: `interface Shape { area(): number }
class Sq implements Shape { constructor(private s: number) {} area(): number { return this.s ** 2; } }
export const main = () => new Sq(3).area();`,
    value: `9`,
  },
  {
    name: "definite assignment",
    text: `let x!: number;
function set() { x = 3; }
export const main = () => { set(); return x; };`,
    line: 2,
    value: `3`,
    rejected: { "shared": "declared at the top level and assigned inside a function" },
  },
  {
    name: "a class with optional members and generics in its heritage",
    text: `class A<T> { v?: T; m?(): void; }
class B extends A<string> implements Iterable<number> { *[Symbol.iterator](): IterableIterator<number> { yield 1; } }
export const main = () => [[...new B()], "v" in new B()];`,
    value: `[[1],true]`,
  },
  {
    name: "an anonymous default class with a parameter property",
    text: `export default class { x = this.n + 1; constructor(readonly n: number) {} }
export const main = () => 1;`,
    value: `1`,
  },
  {
    name: "super() in an arrow function",
    text: `class A { constructor(readonly n: number) {} }
class B extends A { x = this.m + this.n; constructor(readonly m: number) { const go = () => super(m * 2); go(); } }
export const main = () => new B(2).x;`,
    value: `6`,
  },
  {
    name: "super() within an expression",
    text: `class A { constructor(readonly n: number) {} }
class B extends A { x = this.m + this.n; constructor(readonly m: number) { const self = [super(5)]; (self[0] as any).y = 1; } }
export const main = () => { const b = new B(2); return [b.x, (b as any).y]; };`,
    value: `[7,1]`,
  },
  {
    name: "super() after a line without a semicolon",
    text: `const noop = () => undefined
class A { constructor(readonly n: number) {} }
class B extends A {
  x = this.m + this.n
  constructor(readonly m: number) {
    noop()
    super(5), noop()
  }
}
export const main = () => new B(2).x`,
    value: `7`,
  },
  {
    name: "a class within a constructor that calls super()",
    text:
      `class A { y = this.n; constructor(readonly n: number) { class C extends Object { constructor() { super(); } } void new C(); } }
export const main = () => new A(2).y;`,
    value: `2`,
  },
  {
    name: "the text of an assignment that is not a parameter property",
    text:
      `class A { readonly k: string = ";this.n = n;"; x = 1; constructor(readonly n: number) { this.k += n; } }
class B { n = 0; m = this.n; constructor(n: number) {this.n = n;} }
export const main = () => [new A(1).k, new B(2).n, new B(2).m];`,
    value: `[";this.n = n;1",2,0]`,
  },
  {
    name: "field initializers over several lines, with parentheses and comments",
    text: `class A {
  a /* = */ = /* x */ (
    this.n +
      1
  ) // end
  b: number[] = [
    this.a,
  ]
  c
  d = ((this.n))
  constructor(readonly n: number) {}
}
export const main = () => { const a = new A(1); return [a.a, a.b, "c" in a, a.d]; };`,
    value: `[2,[2],true,1]`,
  },
  {
    name: "a directive in a constructor with a parameter property",
    text: `class A { x = this.n; constructor(readonly n: any) { "use strict"; } }
export const main = () => new A(1).x;`,
    value: `1`,
  },
  {
    name: "a parameter property that is named by a keyword of TypeScript",
    text:
      `class A { x = [this.type, this.readonly]; constructor(public type: string, readonly readonly = 1) {} }
export const main = () => new A("t").x;`,
    value: `["t",1]`,
  },
];
