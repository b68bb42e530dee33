// Ways out of a run, for workflows of both kinds: each is blocked by name, or returns the same in
// every run, on replay and in every runtime. docs/dev/realms.md shows this table. realm_guard.ts
// and temporal_program_sandbox.ts test the realm's own table of globals.
import { equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";
import { one, refusals, withProgram } from "./temporal_program_support.ts";

/**
 * What becomes of an attempt: an error with these words, this value, or a warning about this name
 * when the module is loaded.
 */
type Outcome = RegExp | string | number | boolean | null | { readonly warned: string };

export interface Escape {
  /** What it is after. */
  readonly topic: string;
  readonly code: string;
  readonly native: Outcome;
  /** In programs of `@temporalio/workflow`; absent: the same. */
  readonly temporal?: Outcome;
}

const NO_CODE = /(?:Async)?(?:Generator)?Function\(\) is not available in workflow code/;
const START = Date.UTC(2026, 0, 1) + 1000;
const FROZEN =
  /read.only|not extensible|Cannot (?:add|delete|redefine|assign)|can't (?:define|delete|redefine|set|assign)|immutable/;

const rows:
  readonly (readonly [topic: string, code: string, native: Outcome, temporal?: Outcome])[] = [
    ["clock", "Reflect.apply(Date.now, undefined, [])", START],
    [
      "clock",
      "Reflect.construct(Object.getPrototypeOf(class extends Date {}), []).getTime()",
      START,
    ],
    ["clock", "Date.prototype.constructor().slice(0, 24)", "Thu Jan 01 2026 00:00:01"],
    ["clock", "new Intl.DateTimeFormat('en-US', { timeStyle: 'medium' }).format()", "12:00:01 AM"],
    [
      "clock",
      "typeof (globalThis as any).Temporal?.Now?.instant === 'function' ? (globalThis as any).Temporal.Now.instant().epochMilliseconds : START",
      START,
    ],
    ["randomness", "Math.random() === Math.random()", false],
    ["randomness", "Object.getOwnPropertyDescriptor(Math, 'random')!.value.call(null) < 1", true],
    ["randomness", "Object.keys([1, 2].sort(() => Math.random() - 0.5)).length", 2],
    [
      "network",
      "Reflect.get(globalThis, 'fetch')('http://localhost')",
      /fetch\(\) is not available/,
      /not a function/,
    ],
    [
      "network",
      "new (Object.getOwnPropertyDescriptor(globalThis, 'WebSocket') as any).value('ws://x')",
      /WebSocket/,
      /undefined|null/,
    ],
    ["timers", "typeof Reflect.get(globalThis, 'setImmediate')", "function", "undefined"],
    [
      "timers",
      "[setTimeout('globalThis.leak = 1' as any, 1), await api.sleep(5), typeof (globalThis as any).leak][2]",
      /setTimeout\(\) is not available/,
      /callback is not a function/,
    ],
    [
      "process",
      "Reflect.ownKeys(globalThis).includes('process') && Object.keys((globalThis as any).process).length",
      0,
      false,
    ],
    [
      "process",
      "(globalThis as any).process?.constructor?.constructor('return 1')()",
      /process\.constructor|Function\(\) is not available/,
      null,
    ],
    ["process", "(console as any).constructor.constructor('return process')()", NO_CODE],
    ["code", "[].constructor.constructor('return process')()", NO_CODE],
    ["code", "(function () {}).constructor('return process')()", NO_CODE],
    ["code", "(async function* () {}).constructor('yield 1')()", NO_CODE],
    ["code", "Object.getPrototypeOf(async function* () {}).constructor('yield 1')", NO_CODE],
    ["code", "(class { static m() {} }).m.constructor('return 1')()", NO_CODE],
    [
      "code",
      "Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get!.constructor('return 1')()",
      NO_CODE,
    ],
    ["code", "(() => {}).bind(null).constructor('return 1')()", NO_CODE],
    ["code", "new Proxy(() => {}, {}).constructor('return 1')()", NO_CODE],
    ["code", "Reflect.construct((() => {}).constructor as any, ['return 1'], class {})", NO_CODE],
    ["code", "Promise.resolve().then.constructor('return 1')()", NO_CODE],
    ["code", "api.sleep.constructor('return 1')()", NO_CODE],
    ["code", "Symbol.prototype[Symbol.toPrimitive].constructor('return 1')()", NO_CODE],
    ["code", "Function.prototype.constructor('return 1')()", NO_CODE],
    ["code", "['1'].map(eval as any)", /eval\(\) is not available/],
    ["code", "Reflect.apply(eval, undefined, ['1'])", /eval\(\) is not available/],
    [
      "modules",
      "typeof Reflect.get(globalThis, 'require') + typeof Reflect.get(globalThis, 'module')",
      "undefinedundefined",
    ],
    ["prototypes", "(([] as any).__proto__.leak = 1)", FROZEN],
    ["prototypes", "({} as any).__defineGetter__.call(Object.prototype, 'leak', () => 1)", FROZEN],
    [
      "prototypes",
      "Object.setPrototypeOf(Array.prototype, { leak: 1 })",
      /immutable|not extensible|prototype/i,
    ],
    ["prototypes", "Reflect.defineProperty(Promise.prototype, 'then', { value: null })", false],
    [
      "prototypes",
      "Reflect.set(Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())), 'leak', 1)",
      false,
    ],
    [
      "prototypes",
      "Reflect.defineProperty(Uint8Array.prototype.__proto__, 'length', { get: () => 1 })",
      false,
    ],
    ["prototypes", "Reflect.deleteProperty(Function.prototype, 'call')", false],
    ["prototypes", "Reflect.set(Intl, 'DateTimeFormat', null)", false],
    ["prototypes", "Reflect.set(JSON, 'parse', null) || Reflect.set(Reflect, 'get', null)", false],
    ["shared state", "Reflect.set(api.sleep, 'leak', 1) || Reflect.set(api, 'leak', 1)", false],
    [
      "shared state",
      "((s: any) => Object.isFrozen(s) && Object.isFrozen(s.raw) && !Reflect.set(s, 'leak', 1))`template`",
      true,
    ],
    [
      "shared state",
      "Reflect.set(Object(Symbol.for('x')), 'leak', 1) && (Symbol.for('x') as any).leak === undefined",
      true,
    ],
    ["shared state", "Symbol.keyFor(Symbol.for('x'))", "x"],
    ["shared state", "[/(a)/g].map((r) => [r.test('aa'), r.lastIndex].join())[0]!", "true,1"],
    ["shared state", "shared.test('aa') + ',' + shared.lastIndex", { warned: "shared" }, "true,1"],
    ["shared state", "count()", { warned: "counter" }, 1],
    [
      "shared state",
      "/(secret)/.test('secret') && ['$1', '$&', 'lastMatch', 'input', 'leftContext', '$_'].map((k) => typeof (RegExp as any)[k]).join()",
      "undefined,undefined,undefined,undefined,undefined,undefined",
    ],
    [
      "stacks",
      "Reflect.set(Error, 'prepareStackTrace', (_: unknown, sites: unknown) => sites)",
      false,
    ],
    ["stacks", "((Error as any).captureStackTrace?.({}), typeof new Error('x').stack)", "string"],
    [
      "stacks",
      "(function f(): any { return Reflect.get(f, 'caller') ?? null; })()",
      /caller|strict/i,
    ],
    ["stacks", "(function (this: any) { return typeof this; })()", "undefined"],
    ["stacks", "(function () { return Reflect.get(arguments, 'callee'); })()", /callee|strict/i],
    ["locale", "Date.parse('2020-06-01T00:00')", Date.UTC(2020, 5, 1)],
    [
      "locale",
      "new Date(0).toLocaleString(undefined, { timeZoneName: 'short' }).endsWith('UTC')",
      true,
    ],
    [
      "locale",
      "new Date(0).toLocaleTimeString([], { timeZone: 'Asia/Tokyo', hour: 'numeric' })",
      "9 AM",
    ],
    [
      "locale",
      "[1234.5].toLocaleString() + (12n).toLocaleString() + 'I'.toLocaleLowerCase([])",
      "1,234.512i",
    ],
    [
      "locale",
      "new Intl.NumberFormat().resolvedOptions().locale + new Intl.ListFormat().resolvedOptions().locale",
      "en-USen-US",
    ],
    ["locale", "['ä', 'z', 'a'].sort(new Intl.Collator().compare).join('')", "aäz"],
    ["collected", "typeof Reflect.get(globalThis, 'WeakRef')", "undefined", "function"],
    [
      "collected",
      "new (Reflect.get(globalThis, 'WeakRef') as any)({}).deref()",
      /not a constructor/,
      /WeakRef cannot be used/,
    ],
    [
      "collected",
      "new (Reflect.get(globalThis, 'FinalizationRegistry') as any)(() => {})",
      /not a constructor/,
      /FinalizationRegistry cannot be used/,
    ],
    [
      "threads",
      "new (Reflect.get(globalThis, 'SharedArrayBuffer') as any)(8)",
      /SharedArrayBuffer/,
    ],
    [
      "threads",
      "(Atomics as any).waitAsync?.(new Int32Array(4), 0, 0)",
      /Atomics\.waitAsync\(\) is not available/,
    ],
    [
      "threads",
      "Reflect.get(WebAssembly, 'Instance') ? new (WebAssembly as any).Instance({}) : 0",
      /WebAssembly\.Instance/,
    ],
    [
      "threads",
      "typeof (ArrayBuffer.prototype as any).transfer === 'function' ? new ArrayBuffer(8).transfer(4).byteLength : 4",
      4,
    ],
    ["microtasks", "await new Promise((r) => Promise.resolve().then(() => r('later')))", "later"],
    ["microtasks", "await { then: (r: any) => r('thenable') }", "thenable"],
    ["measuring", "typeof (globalThis as any).performance?.now?.()", "number", "undefined"],
    [
      "measuring",
      "(console as any).memory === undefined && (globalThis as any).gc === undefined",
      true,
    ],
    [
      "code",
      "(() => { try { return (null as any).x; } catch (e: any) { return e.constructor.constructor('return 1')(); } })()",
      NO_CODE,
    ],
    [
      "code",
      "(() => { const f = (): any => f() + 1; try { return f(); } catch (e: any) { return e.constructor.constructor('return 1')(); } })()",
      NO_CODE,
    ],
    [
      "code",
      "Object.getOwnPropertyDescriptor(Map, Symbol.species)!.get!.constructor('return 1')()",
      NO_CODE,
    ],
    [
      "code",
      "(new URL('http://a/').searchParams as any).keys().next.constructor('return 1')()",
      NO_CODE,
    ],
    [
      "code",
      "(new AbortController().signal as any).addEventListener.constructor('return 1')()",
      NO_CODE,
    ],
    [
      "code",
      "structuredClone([1]).constructor.constructor('return 1')()",
      NO_CODE,
      /structuredClone is not defined/,
    ],
    [
      "clock",
      "new Intl.DateTimeFormat('en-US', { timeStyle: 'medium' }).formatToParts().map((p) => p.value).join('')",
      "12:00:01 AM",
    ],
    [
      "clock",
      "Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format')!.get!.call((Intl as any).DateTimeFormat('en-US', { timeStyle: 'medium' }))()",
      "12:00:01 AM",
    ],
    ["clock", "(new AbortController().signal.constructor as any).timeout(1)", /timeout/],
    [
      "clock",
      "await new Promise((r) => { const c = new AbortController(); c.signal.addEventListener('abort', (e) => r(e.timeStamp)); c.abort(); })",
      START,
    ],
    ["clock", "new Event('x').timeStamp", START, /Event is not defined/],
    ["clock", "(globalThis as any).performance?.timeOrigin", 0, null],
    ["randomness", "(URL as any).createObjectURL({})", /createObjectURL/],
    ["process", "(globalThis as any)[Symbol.for('temporalex.compat.run')] === undefined", true],
    [
      "process",
      "Reflect.ownKeys(globalThis).filter((key) => typeof key === 'symbol' && Symbol.keyFor(key) !== undefined).map(String).join()",
      "",
    ],
    ["shared state", "Reflect.set(console, 'leak', 1)", false],
    [
      "shared state",
      "[[].values(), ''[Symbol.iterator](), new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g)].some((o) => Reflect.set(Object.getPrototypeOf(o), 'leak', 1))",
      false,
    ],
    [
      "shared state",
      "[new Intl.Segmenter().segment('a'), new Intl.Segmenter().segment('a')[Symbol.iterator]()].some((o) => Reflect.set(Object.getPrototypeOf(o), 'leak', 1))",
      false,
    ],
    [
      "shared state",
      "Reflect.set(Object.getPrototypeOf(new URLSearchParams('a=1').keys()), 'leak', 1)",
      false,
    ],
    [
      "shared state",
      "Reflect.set(Object.getPrototypeOf(Object.getPrototypeOf(new AbortController().signal)), 'leak', 1)",
      false,
    ],
    [
      "shared state",
      "Reflect.set(Object.getPrototypeOf(new TextEncoder()), 'leak', 1) || Reflect.set(URL, 'leak', 1)",
      false,
    ],
    ["shared state", "Reflect.set(RegExp, 'input', 'leak')", false],
    [
      "shared state",
      "((globalThis as any).Iterator?.from?.({ next() {} }) === undefined) || Reflect.set(Object.getPrototypeOf((globalThis as any).Iterator.from({ next() {} })), 'leak', 1) === false",
      true,
    ],
    ["stacks", "Reflect.set(Error, 'stackTraceLimit', 1)", false],
    [
      "stacks",
      "(await (async () => { await null; return new Error('x'); })()).stack!.includes('node:internal')",
      false,
    ],
    [
      "stacks",
      "[...'abc'].map((_, i) => new Error('x').stack!.length === new Error('x').stack!.length || i).length",
      3,
    ],
    ["threads", "Atomics.wait(new Int32Array(4), 0, 0, 1)", /Atomics\.wait\(\) is not available/],
    ["threads", "await (WebAssembly as any).compile(new Uint8Array(8))", /WebAssembly\.compile/],
    ["threads", "(WebAssembly as any).validate(new Uint8Array(8))", /WebAssembly\.validate/],
    [
      "threads",
      "new (WebAssembly as any).Memory({ initial: 1, maximum: 1, shared: true })",
      /WebAssembly\.Memory/,
    ],
    [
      "microtasks",
      "await new Promise((r) => queueMicrotask(() => r('later')))",
      "later",
      /queueMicrotask is not defined/,
    ],
    ["locale", "(globalThis as any).Temporal?.Now?.timeZoneId?.() ?? 'UTC'", "UTC"],
    [
      "locale",
      "new Intl.RelativeTimeFormat().format(1, 'day') + new Intl.PluralRules().select(1)",
      "in 1 dayone",
    ],
    [
      "locale",
      "new Date(0).toLocaleDateString(undefined, { dateStyle: 'full' })",
      "Thursday, January 1, 1970",
    ],
    ["values", "JSON.stringify({ a: (JSON as any).rawJSON?.('1') ?? 1 })", '{"a":1}'],
    ["memory", "new TextEncoder().encode('a').buffer.byteLength", 1],
    ["memory", "new ArrayBuffer(2 ** 53)", /RangeError|[Ii]nvalid|allocation/],
  ];

/** Statements with which a module is refused when it is loaded, and the code of the problem. */
const REFUSED: readonly (readonly [statement: string, problem: string])[] = [
  ["await import('node:fs')", "builtin-import"],
  ["await import(String('./other.js'))", "dynamic-import"],
  ["return import.meta.url", "import-meta"],
  ["return (import.meta as any).dirname", "import-meta"],
];

/** The rows, as docs/dev/realms.md has them. */
export const ESCAPES: readonly Escape[] = rows.map(([topic, code, native, temporal]) => ({
  topic,
  code,
  native,
  ...(temporal !== undefined && { temporal }),
}));

const attempts = (escape: Escape): string => escape.code.replaceAll("START", String(START));

const NATIVE = `${API}const shared = /a/g;
const counter = { n: 0 };
const count = () => { counter.n++; return counter.n; };
const attempts = [
${ESCAPES.map((escape) => `  async () => (${attempts(escape)}),`).join("\n")}
];
export const w = workflow("Attempt", async (n: number) => { const value = await attempts[n]!(); return value === undefined ? null : value; });
`;

const TEMPORAL = `const api = wf;
const shared = /a/g;
const counter = { n: 0 };
const count = () => { counter.n++; return counter.n; };
const attempts = [
${ESCAPES.map((escape) => `  async () => (${attempts(escape)}),`).join("\n")}
];
export async function Attempt(n: number) { const value = await attempts[n]!(); return value === undefined ? null : value; }
`;

/** Twice in two runs: the second one must not see the first. */
async function wrongOnes(h: RealmHarness, kind: "native" | "temporal"): Promise<string> {
  const wrong: string[] = [];
  for (const [i, escape] of ESCAPES.entries()) {
    const expected = kind === "temporal" && "temporal" in escape ? escape.temporal : escape.native;
    if (typeof expected === "object" && expected !== null && "warned" in expected) {
      if (
        !h.realm.warnings.some(({ code, name }) =>
          code === "module-state" && name === expected.warned
        )
      ) {
        wrong.push(`${kind} ${escape.code}: no warning of ${expected.warned}`);
      }
      continue;
    }
    for (let run = 0; run < 2; run++) {
      const each = h.start("Attempt", { args: [i] });
      const value = await each.auto();
      const found = each.failure === "" ? value : `failed: ${each.failure}`;
      const fits = expected instanceof RegExp
        ? each.failure !== "" && expected.test(each.failure)
        : Object.is(found, expected);
      if (!fits) {
        wrong.push(
          `${kind} ${escape.code}: ${JSON.stringify(found)} instead of ${String(expected)}`,
        );
      }
    }
  }
  return wrong.join("\n");
}

export const cases: Case[] = [
  {
    name: "escapes of a module are rejected at loading with their line, in modules of both kinds",
    async run() {
      for (const [statement, problem] of REFUSED) {
        for (
          const text of [
            `import { workflow } from "temporalex/workflow";\nexport const w = workflow("W", async () => { ${statement}; });`,
            `import * as wf from "@temporalio/workflow";\nexport async function w() { ${statement}; }`,
          ]
        ) {
          const found = await refusals({ "/app/main.ts": text });
          equal(
            found.map((line) => line.split(" ").slice(0, 2).join(" ")).join(),
            `/app/main.ts:2 ${problem}`,
            statement,
          );
        }
      }
    },
  },
  {
    name: "escapes of a native run are blocked or return the same everywhere",
    run: () => withRealm(NATIVE, async (h) => equal(await wrongOnes(h, "native"), "")),
  },
  {
    name: "escapes of a run of @temporalio/workflow are blocked or return the same everywhere",
    run: () => withProgram(one(TEMPORAL), async (h) => equal(await wrongOnes(h, "temporal"), "")),
  },
];
