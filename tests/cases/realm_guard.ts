// The determinism guard as a table: what workflow code may try, and what becomes of it, in every
// runtime. Each attempt is one run of one realm; attempts that are stopped fail their
// task with a DeterminismError that names what was used.
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, inBrowser, withRealm } from "./realm_host.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

/** [code, what the error names] */
const STOPPED: readonly (readonly [string, RegExp])[] = [
  // timers
  ["setTimeout(() => {}, 1)", /^setTimeout\(\) .*use sleep\(\)/],
  ["setInterval(() => {}, 1)", /^setInterval\(\) .*sleep/],
  ["setImmediate(() => {})", /^setImmediate\(\) .*sleep/],
  ["requestAnimationFrame(() => {})", /^requestAnimationFrame\(\)/],
  ["requestIdleCallback(() => {})", /^requestIdleCallback\(\)/],
  ["globalThis.setTimeout.call(null, () => {}, 1)", /^setTimeout\.call/],
  ["AbortSignal.timeout(1)", /^AbortSignal\.timeout\(\) .*sleep/],
  ["scheduler.postTask(() => {})", /^scheduler\.postTask .*sleep/],
  ["Atomics.wait(new Int32Array(4), 0, 0, 1)", /^Atomics\.wait\(\) .*sleep/],
  ["Atomics.waitAsync(new Int32Array(4), 0, 0)", /^Atomics\.waitAsync\(\)/],
  // the world outside
  ["await fetch('http://localhost')", /^fetch\(\) .*activity/],
  ["new XMLHttpRequest()", /^new XMLHttpRequest\(\) .*activity/],
  ["new WebSocket('ws://localhost')", /^new WebSocket\(\)/],
  ["new EventSource('/x')", /^new EventSource\(\)/],
  ["new RTCPeerConnection()", /^new RTCPeerConnection\(\)/],
  ["new Request('http://localhost')", /^new Request\(\)/],
  ["await new Response('x').text()", /^new Response\(\)/],
  ["new Headers({ a: 'b' })", /^new Headers\(\)/],
  ["await Response.json({}).json()", /^Response\.json/],
  ["indexedDB.open('x')", /^indexedDB\.open .*state/],
  ["localStorage.getItem('x')", /^localStorage\.getItem/],
  ["sessionStorage.x", /^sessionStorage\.x/],
  ["await caches.open('x')", /^caches\.open/],
  ["alert('x')", /^alert\(\)/],
  ["prompt('x')", /^prompt\(\)/],
  // the process and the machine
  ["process.env.HOME", /^process\.env\.HOME .*argument/],
  ["process.exit(1)", /^process\.exit/],
  ["process.nextTick(() => {})", /^process\.nextTick/],
  ["process.hrtime()", /^process\.hrtime/],
  ["process.cwd()", /^process\.cwd/],
  ["process.binding('fs')", /^process\.binding/],
  ["process.getBuiltinModule('fs')", /^process\.getBuiltinModule/],
  ["process.memoryUsage().rss", /^process\.memoryUsage/],
  ["Deno.readTextFileSync('x')", /^Deno\.readTextFileSync/],
  ["Deno.env.get('HOME')", /^Deno\.env/],
  ["Bun.file('x')", /^Bun\.file/],
  ["navigator.userAgent", /^navigator\.userAgent/],
  ["navigator.hardwareConcurrency", /^navigator\.hardwareConcurrency/],
  ["await navigator.locks.request('x', () => {})", /^navigator\.locks/],
  ["location.href", /^location\.href/],
  ["importScripts('x')", /^importScripts\(\)/],
  // other threads and pages
  ["new Worker('x')", /^new Worker\(\)/],
  ["new SharedWorker('x')", /^new SharedWorker\(\)/],
  ["new MessageChannel()", /^new MessageChannel\(\) .*signals/],
  ["new BroadcastChannel('x')", /^new BroadcastChannel\(\)/],
  ["postMessage('x')", /^postMessage\(\)/],
  ["addEventListener('message', () => {})", /^addEventListener\(\)/],
  ["dispatchEvent(new Event('x'))", /^dispatchEvent\(\)/],
  ["close()", /^close\(\)/],
  ["reportError(new Error())", /^reportError\(\)/],
  ["new SharedArrayBuffer(8)", /^new SharedArrayBuffer\(\)/],
  // completed by the test at some time
  ["await new Blob(['x']).text()", /^new Blob\(\)/],
  ["new File(['x'], 'x').lastModified", /^new File\(\)/],
  ["new FileReader()", /^new FileReader\(\)/],
  ["new FormData()", /^new FormData\(\)/],
  ["new ReadableStream()", /^new ReadableStream\(\)/],
  ["new WritableStream()", /^new WritableStream\(\)/],
  ["new TransformStream()", /^new TransformStream\(\)/],
  ["new CompressionStream('gzip')", /^new CompressionStream\(\)/],
  ["new TextDecoderStream()", /^new TextDecoderStream\(\)/],
  ["URL.createObjectURL({})", /^URL\.createObjectURL\(\)/],
  ["await crypto.subtle.digest('SHA-256', new Uint8Array())", /^crypto\.subtle .*activity/],
  ["new SubtleCrypto()", /^new SubtleCrypto\(\)/],
  ["await WebAssembly.compile(new Uint8Array())", /^WebAssembly\.compile\(\)/],
  ["await WebAssembly.instantiate(new Uint8Array())", /^WebAssembly\.instantiate\(\)/],
  ["new WebAssembly.Module(new Uint8Array())", /^new WebAssembly\.Module\(\)/],
  ["new WebAssembly.Memory({ initial: 1 })", /^new WebAssembly\.Memory\(\)/],
  // measuring
  ["performance.mark('x')", /^performance\.mark\(\)/],
  ["performance.measure('x')", /^performance\.measure\(\)/],
  ["new PerformanceObserver(() => {})", /^new PerformanceObserver\(\)/],
  ["performance.eventLoopUtilization()", /^performance\.eventLoopUtilization\(\)/],
  // code from text, which would reach modules
  ["eval('1 + 1')", /^eval\(\)/],
  ["(0, eval)(\"import('node:fs')\")", /^eval\(\)/],
  ["new Function('return process')()", /^Function\(\)/],
  ["Function('a', 'return a')(1)", /^Function\(\)/],
  ["(() => {}).constructor(\"return import('node:fs')\")()", /^Function\(\)/],
  ["Object.getPrototypeOf(async () => {}).constructor('return 1')()", /^AsyncFunction\(\)/],
  ["(async () => {}).constructor(\"return import('node:fs')\")()", /^AsyncFunction\(\)/],
  ["(function* () {}).constructor('yield 1')()", /^GeneratorFunction\(\)/],
  ["(async function* () {}).constructor('yield 1')()", /^AsyncGeneratorFunction\(\)/],
  ["globalThis.constructor.constructor('return this')().Function('x')", /^Function\(\)/],
  ["Math.max.constructor('return 1')()", /^Function\(\)/],
  ["Reflect.construct(Function, ['return 1'])", /^Function\(\)/],
  ["Date.constructor('return 1')()", /^Function\(\)/],
  ["new (Object.getPrototypeOf(Date.prototype.getTime).constructor)('return 1')", /^Function\(\)/],
  ["new ShadowRealm()", /^new ShadowRealm\(\)/],
  // blocked things cannot be replaced, either
  ["fetch.mock = 1", /^fetch\.mock/],
  ["Object.defineProperty(process, 'env', { value: {} })", /^process\.env/],
  ["delete process.env", /^process\.env/],
];

/** [code, expected value] */
const now = Date.UTC(2026, 0, 1) + 1000;
const iso = new Date(now).toISOString();
const ANSWERED: readonly (readonly [string, unknown])[] = [
  // time is workflow time, by every way to it
  ["Date.now()", now],
  ["+new Date()", now],
  ["new Date().toISOString()", iso],
  ["Date()", "Thu Jan 01 2026 00:00:01 GMT+0000 (Coordinated Universal Time)"],
  ["new Date('2020').constructor.now()", now],
  ["new Date(0).constructor === Date", true],
  ["Date.prototype.constructor.now()", now],
  ["Object.getPrototypeOf(new Date()).constructor.now()", now],
  ["structuredClone(new Date(0)).constructor.now()", now],
  ["Reflect.construct(Date, []).getTime()", now],
  ["new (class extends Date {})().getTime()", now],
  ["new (Date.bind(null))().getTime()", now],
  ["performance.now()", now],
  ["performance.timeOrigin", 0],
  ["new Event('x').timeStamp", now],
  ["new CustomEvent('x').timeStamp", now],
  ["new Intl.DateTimeFormat('en-US', { dateStyle: 'short' }).format()", "1/1/26"],
  ["new Intl.DateTimeFormat('en-US', { dateStyle: 'short' }).formatToParts().length", 5],
  ["[undefined].map(new Intl.DateTimeFormat('en-US', { dateStyle: 'short' }).format)[0]", "1/1/26"],
  ["Intl.DateTimeFormat.prototype.constructor === Intl.DateTimeFormat", true],
  [
    "typeof Temporal === 'undefined' ? undefined : Temporal.Now.instant().epochMilliseconds ?? 0",
    "now or no Temporal",
  ],
  // one time zone and one locale
  ["new Date(0).getTimezoneOffset()", 0],
  ["new Date(2020, 0, 1).getTime()", Date.UTC(2020, 0, 1)],
  ["new Date('2020-01-01T00:00').getTime()", Date.UTC(2020, 0, 1)],
  ["new Date('Jan 1, 2020').getTime()", Date.UTC(2020, 0, 1)],
  ["Date.parse('2020-06-01T12:00:00.5')", Date.UTC(2020, 5, 1, 12, 0, 0, 500)],
  ["Date.parse('Wed, 01 Jan 2020 00:00:00 GMT+0200')", Date.UTC(2019, 11, 31, 22)],
  ["Date.parse('not a date')", NaN],
  ["String(new Date(NaN))", "Invalid Date"],
  ["new Date(0).toString()", "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"],
  ["new Date(0).getHours() + new Date(0).getDay() * 100", 400],
  [
    "(() => { const d = new Date(0); d.setHours(5); d.setFullYear(1999); return d.toISOString() })()",
    "1999-01-01T05:00:00.000Z",
  ],
  ["new Date(0).toLocaleString()", "1/1/1970, 12:00:00 AM"],
  ["new Date(0).toLocaleTimeString('xx')", "12:00:00 AM"],
  ["new Date(0).toLocaleDateString('de')", "1.1.1970"],
  ["Intl.DateTimeFormat().resolvedOptions().timeZone", "UTC"],
  ["Intl.DateTimeFormat().resolvedOptions().locale", "en-US"],
  ["new Intl.NumberFormat().resolvedOptions().locale", "en-US"],
  ["new Intl.Collator('xx').resolvedOptions().locale", "en-US"],
  ["(1234.5).toLocaleString()", "1,234.5"],
  ["1234n.toLocaleString('de')", "1.234"],
  ["[1234.5, new Date(0)].toLocaleString()", "1,234.5,1/1/1970, 12:00:00 AM"],
  ["['b', 'a', 'B'].sort((x, y) => x.localeCompare(y)).join('')", "abB"],
  ["'I'.toLocaleLowerCase()", "i"],
  // digits that the language leaves to the engine
  [
    "[0.1, 123.456, -255.5, 2 ** 60, 255, NaN].map((x) => x.toString(36)).join()",
    "0.3lllllllllm,3f.gez4w97ry,-73.i,8rc4kbdvss1s,73,NaN",
  ],
  [
    "[(0.1).toString(), (0.1).toString(undefined), (255).toString(16), Object(0.5).toString(2)].join()",
    "0.1,0.1,ff,0.1",
  ],
  ["(() => { try { return (1.5).toString(37) } catch (e) { return e.name } })()", "RangeError"],
  // gone, or there in a shape that says nothing
  ["typeof WeakRef + typeof FinalizationRegistry", "undefinedundefined"],
  [
    "typeof global + typeof gc + typeof window + typeof document",
    "undefinedundefinedundefinedundefined",
  ],
  [
    "typeof Buffer + typeof require + typeof module + typeof exports + typeof __dirname",
    "undefined".repeat(5),
  ],
  ["'Buffer' in globalThis || 'WeakRef' in globalThis", false],
  ["self === globalThis", true],
  ["typeof fetch + typeof process + typeof Deno", "functionobjectobject"],
  ["({}) instanceof Blob || ({}) instanceof WebSocket", false],
  ["typeof process !== 'undefined' && process.versions?.node", undefined],
  ["process.env.NODE_ENV", "production"],
  ["'require' in process", false],
  ["Function('return this')() === globalThis", true],
  ["(() => {}) instanceof Function && (() => {}).constructor === Function", true],
  ["clearTimeout(1)", undefined],
  ["RegExp.$1 ?? (/(x)/.test('x'), RegExp.$1)", undefined],
  ["Error.prepareStackTrace === Error.prepareStackTrace", true],
  ["Object.keys(WebAssembly).length", 0],
  ["typeof performance.memory", "undefined"],
  // what stays
  ["await new Promise((r) => queueMicrotask(() => r('micro')))", "micro"],
  ["structuredClone(new Map([[1, { a: [1n] }]])).get(1).a[0] === 1n", true],
  ["new TextDecoder().decode(new TextEncoder().encode('h\\u00e9'))", "h\u00e9"],
  ["atob(btoa('x')) + new URL('a?b=1', 'http://h/').searchParams.get('b')", "x1"],
  ["(() => { const c = new AbortController(); c.abort(); return c.signal.aborted })()", true],
  [
    "(() => { const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++); t.dispatchEvent(new Event('x')); return n })()",
    1,
  ],
  ["await Array.fromAsync?.([1, Promise.resolve(2)]).then((a) => a.length) ?? 2", 2],
  ["[3, 1, 2].sort().concat([...new Set([1, 1])]).join('')", "1231"],
  ["JSON.stringify({ d: new Date(0) })", '{"d":"1970-01-01T00:00:00.000Z"}'],
  // frozen built-ins do not stand in the way of ordinary code
  [
    "(() => { const e = new Error('a'); e.name = 'Mine'; e.message = 'b'; return String(e) })()",
    "Mine: b",
  ],
  [
    "(() => { const c = {}; for (const w of ['constructor', 'toString', 'x', 'x']) c[w] = (Object.hasOwn(c, w) ? c[w] : 0) + 1; return JSON.stringify(c) })()",
    '{"constructor":1,"toString":1,"x":2}',
  ],
  [
    "(() => { class A extends Error { constructor() { super('m'); this.name = 'A' } } return new A().toString() })()",
    "A: m",
  ],
  ["(() => { const f = () => 1; f.toString = () => 'f'; return String(f) })()", "f"],
  [
    // As tslib's __generator makes one; `Iterator` is not in every engine.
    "(() => { let n = 0; const g = Object.create((typeof Iterator === 'function' ? Iterator : Object).prototype); g.next = () => ({ done: n > 1, value: n++ }); g[Symbol.iterator] = function () { return this; }; return [...g].join() })()",
    "0,1",
  ],
];

const REFUSED =
  /read.only|not extensible|Cannot (?:add property|delete|redefine)|can't (?:define|delete|redefine|set)|can't be deleted|immutable/;

/** [code, expected error, in the words of V8 or SpiderMonkey]: things that nothing global takes. */
const FROZEN: readonly (readonly [string, RegExp])[] = [
  "globalThis.left = 1",
  "Array.prototype.mine = 1",
  "Object.prototype.toString = () => 'x'",
  "Date.now = () => 1",
  "globalThis.Date = class {}",
  "Math.random = () => 4",
  "delete globalThis.Date",
  "Object.defineProperty(globalThis, 'fetch', { value: () => {} })",
  "Promise.prototype.then = null",
  "Object.getPrototypeOf(Object.getPrototypeOf([].values()))[Symbol.iterator] = null",
  "Error.prepareStackTrace = () => ''",
  "Object.setPrototypeOf(Object.prototype.constructor.getPrototypeOf(function* () {}), null)",
].map((code) => [code, REFUSED]);

const table = (rows: readonly (readonly [string, unknown])[]): string =>
  `${API}const attempts = [\n${rows.map(([code]) => `  async () => (${code}),`).join("\n")}\n];
export const w = workflow("Attempt", async (n) => { const value = await attempts[n](); return Object.is(value, NaN) ? "NaN" : value; });\n`
    .replaceAll("delete process.env", "Reflect.deleteProperty(process, 'env')")
    .replaceAll("Atomics.wait(", "Atomics['wait'](");

export const cases: Case[] = [
  {
    name: "guard: blocked APIs throw with their name and an alternative",
    run: () =>
      withRealm(table(STOPPED), async (h) => {
        const wrong: string[] = [];
        for (const [i, [code, expected]] of STOPPED.entries()) {
          const run = h.start("Attempt", { args: [i] });
          await run.task();
          if (!expected.test(run.failure)) {
            wrong.push(`${code}: ${run.failure || JSON.stringify(run.server.closed?.result)}`);
          } else {
            equal(run.server.taskFailure!.failure.failureInfo.case, "applicationFailureInfo", code);
            const info = run.server.taskFailure!.failure.failureInfo.value as { type: string };
            equal(info.type, "DeterminismError", code);
            match(run.failure, / is not available in workflow code: /, code);
          }
        }
        equal(wrong.join("\n"), "");
      }),
  },
  {
    name: "guard: the virtualized calls and their values",
    run: () =>
      withRealm(table(ANSWERED), async (h) => {
        const wrong: string[] = [];
        for (const [i, [code, expected]] of ANSWERED.entries()) {
          const run = h.start("Attempt", { args: [i] });
          await run.task();
          const value = run.failure === "" ? run.server.closed?.result : `failed: ${run.failure}`;
          const wanted = Number.isNaN(expected) ? "NaN" : expected;
          const accepted = wanted === "now or no Temporal"
            ? value === now || value === undefined
            : Object.is(value, wanted);
          if (!accepted) {
            wrong.push(`${code}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`);
          }
        }
        equal(wrong.join("\n"), "");
      }),
  },
  {
    name: "guard: globals do not change after modules are loaded",
    run: () =>
      withRealm(table(FROZEN), async (h) => {
        const wrong: string[] = [];
        for (const [i, [code, expected]] of FROZEN.entries()) {
          const run = h.start("Attempt", { args: [i] });
          await run.task();
          if (!expected.test(run.failure)) {
            wrong.push(`${code}: ${run.failure || JSON.stringify(run.server.closed?.result)}`);
          }
        }
        equal(wrong.join("\n"), "");
      }),
  },
  {
    name: "guard: catching the error does not hide it; in a query only the query fails",
    run: () =>
      withRealm(
        `${API}export const w = workflow("W", { queries: { peek: () => fetch("x"), ok: () => 1, rnd: () => Math.random() }, async run() {
          await sleep(1);
          try { setTimeout(() => {}, 1) } catch {}
          await sleep(1);
        } });`,
        async (h) => {
          const run = h.start("W");
          await run.task();
          const ask = async (type: string) => {
            run.server.report(
              await h.realm.runTask(readWorkflowTask(run.server.queryTask(type, [], true))),
            );
            return run.server.queryAnswers["query"]!;
          };
          match((await ask("peek")).message, /fetch\(\) is not available/);
          match(
            (await ask("rnd")).message,
            /Math\.random\(\) .*a query does not run again on replay/,
          );
          equal((await ask("ok")).value, 1);
          run.server.fireTimer("1");
          await run.task();
          match(run.failure, /setTimeout\(\) is not available/);
        },
      ),
  },
  {
    name: "guard: sideEffect may read host time, randomness, environment and machine",
    run: () =>
      withRealm(
        `${API}export const w = workflow("W", async () => {
          const real = sideEffect(() => [Date.now(), new Date().getTime(), performance.now(), Math.random(), crypto.randomUUID(), ${
          inBrowser ? "1" : "typeof process.env.PATH"
        }]);
          await sleep(1);
          return [real, Date.now(), Math.random()];
        });`,
        async (h) => {
          const before = Date.now();
          const results = [];
          for (let i = 0; i < 2; i++) {
            const run = h.start("W", { runId: "11111111-1111-4111-8111-111111111111" });
            results.push(
              await run.auto() as [
                [number, number, number, number, string, string],
                number,
                number,
              ],
            );
            equal(run.failure, "");
          }
          const [[first, workflowTime, seeded], [second, , seededAgain]] = results as [
            typeof results[0],
            typeof results[0],
          ];
          ok(
            first[0] >= before - 1000 && first[0] <= Date.now() + 1000,
            "Date.now() in sideEffect",
          );
          ok(Math.abs(first[1] - first[0]) < 1000, "new Date() in sideEffect");
          ok(Math.abs(first[2] - first[0]) < 60_000, "performance.now() in sideEffect");
          ok(first[3] !== second[3] && first[4] !== second[4], "entropy in sideEffect");
          equal(workflowTime, now + 1000);
          equal(seeded, seededAgain, "the seed is the run's");
        },
      ),
  },
];
