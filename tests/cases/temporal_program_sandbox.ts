// The names that programs of `@temporalio/workflow` find, and the ways out of a run that they do
// not.
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { one, resultOf, withProgram } from "./temporal_program_support.ts";

/** Names that the official sandbox has, by what `typeof` says of them. */
const PRESENT = {
  function:
    "AbortController Array AsyncLocalStorage BigInt Date Error FinalizationRegistry Function Map Promise Proxy RegExp Set Symbol " +
    "TextDecoder TextEncoder URL URLSearchParams Uint8Array WeakMap WeakRef WeakSet assert clearTimeout decodeURIComponent escape eval " +
    "parseInt setTimeout",
  object: "Atomics Intl JSON Math Reflect console global globalThis",
} as const;

/** Those that a runtime has, and the official sandbox has not. */
const ABSENT =
  "AbortSignal Blob BroadcastChannel Buffer Bun CompressionStream Crypto CustomEvent DOMException Deno Event EventSource " +
  "EventTarget File FormData Headers MessageChannel MessagePort Performance ReadableStream Request Response SubtleCrypto WebSocket Worker " +
  "XMLHttpRequest addEventListener alert atob btoa caches cancelAnimationFrame clearImmediate clearInterval close crypto exports fetch " +
  "importScripts indexedDB localStorage location module name navigator performance postMessage process queueMicrotask reportError " +
  "requestAnimationFrame require scheduler self sessionStorage setImmediate setInterval structuredClone window";

/**
 * Ways out of a run, and what becomes of them: a message, or (a function of two runs' results) that
 * they are harmless.
 */
const WAYS_OUT: readonly (readonly [statement: string, RegExp])[] = [
  ["process.exit(1)", /process is not defined in workflow code: pass what you need/],
  ["process.env.HOME", /process is not defined/],
  ['fetch("https://example.com")', /fetch is not defined in workflow code: .*activity/],
  [
    "crypto.getRandomValues(new Uint8Array(4))",
    /crypto is not defined in workflow code: use uuid4\(\)/,
  ],
  ["performance.now()", /performance is not defined .*Date\.now\(\)/],
  ["setInterval(() => {}, 1)", /setInterval is not defined .*sleep\(\)/],
  ["setImmediate(() => {})", /setImmediate is not defined/],
  ["queueMicrotask(() => {})", /queueMicrotask is not defined/],
  ["structuredClone({})", /structuredClone is not defined/],
  ["Buffer.from('x')", /Buffer is not defined .*Uint8Array/],
  ["new Worker('x')", /Worker is not defined/],
  ["postMessage(1)", /postMessage is not defined/],
  ["localStorage.x", /localStorage is not defined/],
  ["navigator.userAgent", /navigator is not defined/],
  ["(globalThis as any).process.exit(1)", /Cannot read|undefined/],
  ["(globalThis as any).fetch('x')", /not a function|undefined/],
  ["new WeakRef({})", /WeakRef cannot be used in workflow code/],
  ["new FinalizationRegistry(() => {})", /FinalizationRegistry cannot be used/],
  ["(0, eval)('1 + 1')", /eval\(\) is not available in workflow code/],
  ["new Function('return 1')()", /Function\(\) is not available/],
  ["(async () => {}).constructor('return 1')()", /AsyncFunction\(\) is not available/],
  ["new SharedArrayBuffer(8)", /SharedArrayBuffer/],
  ["Atomics.wait(new Int32Array(4), 0, 0, 1)", /Atomics\.wait\(\) is not available/],
  ["new WebAssembly.Module(new Uint8Array(8))", /WebAssembly\.Module/],
  [
    "AbortController.prototype.constructor.constructor('return 1')",
    /Function\(\) is not available/,
  ],
  ["(Array.prototype as any).leak = 1", /not extensible|Cannot add|read.only/i],
  ["(Object as any).assign = null", /read.only|Cannot assign/i],
  ["Math.random = () => 4", /read.only|Cannot assign/i],
  ["Date.now = () => 4", /read.only|Cannot assign/i],
  ["(wf as any).sleep = null", /read.only|Cannot assign|not extensible|getter/i],
  ["(wf.ApplicationFailure as any).leak = 1", /not extensible|Cannot add/i],
  ["(wf.ParentClosePolicy as any).ABANDON = 1", /read.only|Cannot assign/i],
];

/** Facts about the machine, and traces of other runs: what a run finds in their place. */
const HARMLESS: readonly (readonly [expression: string, expected: unknown])[] = [
  ["Intl.DateTimeFormat().resolvedOptions().timeZone", "UTC"],
  ["Intl.DateTimeFormat().resolvedOptions().locale", "en-US"],
  ["new Date(0).getTimezoneOffset()", 0],
  ["new Date(0).getHours()", 0],
  ["new Date(2020, 0, 1).toISOString()", "2020-01-01T00:00:00.000Z"],
  ["(1234.5).toLocaleString()", "1,234.5"],
  ["'b'.localeCompare('a')", 1],
  ["typeof (RegExp as any).$1", "undefined"],
  ["Date.now() - Date.now()", 0],
  ["new Date().getTime() - Date.now()", 0],
  ["Object.keys(globalThis).length", 0],
  ["(function () { return typeof (this as any)?.process; }).call(undefined)", "undefined"],
  ["typeof (globalThis as any).gc", "undefined"],
  ["globalThis.Object === Object && globalThis.Math === Math", true],
  ["Object.getPrototypeOf(globalThis) === Object.prototype", true],
  ["typeof (console as any)._stdout", "undefined"],
  ["[...'ba'].sort().join('')", "ab"],
  ["JSON.stringify(new (class X { a = 1 })())", '{"a":1}'],
];

export const cases: Case[] = [
  {
    name:
      "temporal programs: the names of the official sandbox are there, and no others, in every runtime",
    run: () =>
      withProgram(
        one(
          `export async function present() { return [${
            Object.entries(PRESENT).flatMap(([kind, names]) =>
              names.split(" ").map((name) => `typeof ${name} === "${kind}" ? "" : "${name}"`)
            ).join()
          }].filter((name) => name !== ""); }
        export async function absent() { return [${
            ABSENT.split(" ").map((name) => `typeof ${name} === "undefined" ? "" : "${name}"`)
              .join()
          }].filter((name) => name !== ""); }
        export async function onGlobal() { return ${
            JSON.stringify(ABSENT.split(" "))
          }.filter((name) => name in globalThis || (globalThis as any)[name] !== undefined); }
        export async function development() { return [process.env.NODE_ENV, process["env"]["NODE_ENV"]]; }`,
        ),
        async (h) => {
          deepEqual(await resultOf(h, "present"), []);
          deepEqual(await resultOf(h, "absent"), []);
          deepEqual(await resultOf(h, "onGlobal"), []);
          deepEqual(await resultOf(h, "development"), ["development", "development"]);
        },
      ),
  },
  {
    name: "temporal programs: ways out of a run are blocked, by name where there is one",
    run: () =>
      withProgram(
        one(
          WAYS_OUT.map(([statement], i) =>
            `export async function out${i}() { ${statement}; return "out"; }`
          ).join("\n"),
        ),
        async (h) => {
          for (const [i, [statement, expected]] of WAYS_OUT.entries()) {
            const run = h.start(`out${i}`);
            equal(await run.auto(), undefined, statement);
            match(run.failure, expected, statement);
          }
        },
      ),
  },
  {
    name:
      "temporal programs: what would say something of the machine or of another run says the same everywhere",
    run: () =>
      withProgram(
        one(
          `export async function harmless(): Promise<unknown[]> { return [${
            HARMLESS.map(([expression]) => expression).join(",\n")
          }]; }`,
        ),
        async (h) => {
          const found = await resultOf(h, "harmless") as unknown[];
          for (const [i, [expression, expected]] of HARMLESS.entries()) {
            equal(found[i], expected, expression);
          }
        },
      ),
  },
];
