// Programs of `@temporalio/workflow` in worker realms: loaded, guarded and cached as native ones
// are, in the sandbox of the official SDK, with separate modules for each run.
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, inBrowser } from "./realm_host.ts";
import {
  failureOf,
  IMPORTS,
  one,
  refusals,
  resultOf,
  withProgram,
} from "./temporal_program_support.ts";

/** Both ways in which scopes follow async functions, where the runtime has both. */
const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

export const cases: Case[] = [
  {
    name:
      "temporal programs: a module may have workflows of both kinds; native modules are shared, the others evaluated for each run",
    run: () =>
      withProgram({
        "/app/main.ts": `${API}import { sleep as pause, workflowInfo } from "@temporalio/workflow";
          import { list } from "./state.ts";
          export const native = workflow("Native", async () => { await sleep(1000); return "native"; });
          export async function temporal(n: number): Promise<string> { list.push(n); await pause("1 second"); return workflowInfo().workflowType + list.join(); }
          export class Helper {}
          export const constant = 1;`,
        "/app/state.ts": "export const list: number[] = [];",
      }, async (h) => {
        deepEqual([...h.realm.workflowTypes].sort(), ["Native", "temporal"]);
        equal(h.realm.takesAnyType, false);
        equal(await resultOf(h, "Native"), "native");
        equal(await resultOf(h, "temporal", 1), "temporal1");
        equal(
          await resultOf(h, "temporal", 2),
          "temporal2",
          "a run sees what another run has left in a module",
        );
        const run = h.start("temporal", { args: [3] });
        await run.auto();
        equal((await h.realm.replay("wf", run.server.history())).verdict, "ok");
        match(await failureOf(h, "Helper"), /workflow type "Helper" is not known to this worker/);
      }),
  },
  {
    name:
      "temporal programs: a function of a module that imports neither package is a workflow; of a native module it is not",
    async run() {
      await withProgram(
        {
          "/app/main.ts": "export async function hello(name: string) { return `Hello, ${name}!`; }",
        },
        async (h) => {
          deepEqual([...h.realm.workflowTypes], ["hello"]);
          equal(await resultOf(h, "hello", "Temporal"), "Hello, Temporal!");
        },
      );
      await withProgram({
        "/app/main.ts": `${API}export function price(n: number) { return n * 2; }
          export const w = workflow("W", async () => price(4));`,
      }, (h) => {
        deepEqual([...h.realm.workflowTypes], ["W"]);
        return Promise.resolve();
      });
    },
  },
  {
    name: "temporal programs: npm packages are evaluated for each run, ES modules and CommonJS",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}import { next } from "counter"; import old from "old-counter";
          import json from "./config.json";
          export async function count() { json.n++; return [next(), next(), old.next(), old.kind, json.n]; }`,
        "/app/config.json": '{ "n": 1 }',
        "/app/node_modules/counter/package.json":
          '{ "name": "counter", "type": "module", "exports": { "workflow": "./workflow.js", "default": "./node.js" } }',
        "/app/node_modules/counter/workflow.js": "let n = 0; export const next = () => ++n;",
        "/app/node_modules/counter/node.js": 'import "node:fs"; export const next = () => 0;',
        "/app/node_modules/old-counter/package.json":
          '{ "name": "old-counter", "main": "./lib/index.js" }',
        "/app/node_modules/old-counter/lib/index.js":
          'var root = Function("return this")(); var wf = require("@temporalio/workflow"); var n = 0; root.seen = 1;' +
          "module.exports = { next: function () { return ++n; }, kind: typeof global.setTimeout + typeof wf.sleep + typeof process + root.seen + __filename };",
      }, async (h) => {
        for (let i = 0; i < 2; i++) {
          deepEqual(await resultOf(h, "count"), [
            1,
            2,
            1,
            "functionfunctionundefined1/index.js",
            2,
          ]);
        }
      }),
  },
  {
    name: "temporal programs: each run has its own time, randomness, timers and globals",
    run: () =>
      withProgram(
        one(
          `export async function seeded() { return [Math.random(), wf.uuid4(), Date.now(), new Date().getHours(), new Date(0).toISOString()]; }
          export async function timers() {
            const seen: string[] = [];
            clearTimeout(setTimeout(() => seen.push("cleared"), 500));
            await new Promise<void>((resolve) => setTimeout((text: string) => { seen.push(text); resolve(); }, 1000, "one"));
            await wf.sleep(2000);
            return seen;
          }
          export async function globals() {
            const before = [typeof leak, (globalThis as any).leak];
            (globalThis as any).leak = "mine";
            global.other = 1;
            return [...before, leak, other, "leak" in globalThis, globalThis === global];
          }`,
        ),
        async (h) => {
          const runId = "aaaaaaaa-0000-4000-8000-000000000001";
          const seeded = async () => {
            const run = h.start("seeded", { runId });
            return await run.auto();
          };
          const first = await seeded();
          h.realm.evict(runId);
          deepEqual(await seeded(), first);
          deepEqual(await resultOf(h, "timers"), ["one"]);
          for (let i = 0; i < 2; i++) {
            deepEqual(await resultOf(h, "globals"), ["undefined", null, "mine", 1, true, true]);
          }
        },
      ),
  },
  {
    name: "temporal programs: a patch at the top level of a module throws, as in the official SDK",
    run: () =>
      withProgram(
        one(
          `const errors: string[] = [];
          for (const call of [wf.patched, wf.deprecatePatch]) {
            try { call("early"); } catch (e) { errors.push((e as Error).name + ": " + (e as Error).message); }
          }
          export async function early() { return [...errors, wf.patched("late")]; }`,
        ),
        async (h) => {
          const refused = "IllegalStateError: Patches cannot be used before Workflow starts";
          deepEqual(await resultOf(h, "early"), [refused, refused, true]);
        },
      ),
  },
  {
    name:
      "temporal programs: assert, url and util, as globals and for import; deep imports of the official packages",
    run: () =>
      withProgram({
        "/app/main.ts": `import { sleep } from "@temporalio/workflow/lib/workflow";
          import { msToNumber } from "@temporalio/common/lib/time";
          import { ApplicationFailure } from "@temporalio/common";
          import { ApplicationFailure as Same } from "@temporalio/workflow";
          import check, { strictEqual } from "assert"; import { URL as Url } from "node:url"; import { TextEncoder as Encoder } from "util";
          import type { Context } from "@temporalio/activity";
          export type Used = Context;
          export async function all() {
            await sleep("1s");
            assert(true); check.ok(1); strictEqual(1, 1);
            check.deepStrictEqual({ a: [1, new Map([[1, { b: 2 }]]), new Set([{ c: 3 }])], d: new Date(5) }, { a: [1, new Map([[1, { b: 2 }]]), new Set([{ c: 3 }])], d: new Date(5) });
            check.throws(() => { throw new TypeError("no"); }, TypeError);
            await check.rejects(Promise.reject(new Error("gone")), /gone/);
            const failed: string[] = [];
            for (const fn of [() => assert(false, "said"), () => check.deepEqual([1], [2]), () => check.throws(() => {}), () => check.match("a", /b/)]) {
              try { fn(); failed.push("passed"); } catch (e) { failed.push((e as Error).name); }
            }
            for (const fn of [() => strictEqual(6, 7), () => check.deepStrictEqual("a longer text", 'it"s')]) {
              try { fn(); } catch (e) { failed.push((e as Error).message); }
            }
            return [...failed, new Url("https://a/b?c=1").searchParams.get("c"), new Encoder().encode("é").length, msToNumber("2m"), ApplicationFailure === Same];
          }`,
      }, async (h) => {
        const failed = [
          ...["AssertionError", "AssertionError", "AssertionError", "AssertionError"],
          "Expected values to be strictly equal:\n\n6 !== 7\n",
          "Expected values to be strictly deep-equal:\n+ actual - expected\n\n+ 'a longer text'\n- 'it\"s'",
        ];
        deepEqual(await resultOf(h, "all"), [...failed, "1", 2, 120_000, true]);
      }),
  },
  {
    name: "temporal programs: a default export takes every type without a function",
    run: () =>
      withProgram(
        one(
          `export default async function (...args: unknown[]) { return [wf.workflowInfo().workflowType, ...args]; }
          export async function own() { return "own"; }`,
        ),
        async (h) => {
          deepEqual([...h.realm.workflowTypes], ["own"]);
          equal(h.realm.takesAnyType, true);
          equal(await resultOf(h, "own"), "own");
          deepEqual(await resultOf(h, "anything", 1), ["anything", 1]);
        },
      ),
  },
  {
    name:
      "temporal programs: what cannot be imported is refused when they are loaded, by name, file and line",
    async run() {
      deepEqual(
        await refusals({
          "/app/main.ts": `import { sleep } from "@temporalio/workflow";
            import { proxySinksOrSo } from "@temporalio/workflow";
            import { nothing } from "@temporalio/common/lib/time";
            import { heartbeat } from "@temporalio/activity";
            import { Client } from "@temporalio/client";
            import fs from "node:fs";
            import { inspect } from "util";
            import x from "left-pad";
            import { gone } from "./other.ts";
            export async function w() { await sleep(1); return [proxySinksOrSo, nothing, heartbeat, Client, fs, inspect, x, gone]; }`,
          "/app/other.ts": "export const here = 1;",
        }).then((found) => found.map((each) => each.split(":").slice(0, 2).join(":"))),
        [
          "/app/main.ts:4 builtin-import @temporalio/activity",
          "/app/main.ts:5 builtin-import @temporalio/client",
          "/app/main.ts:6 builtin-import node",
          "/app/main.ts:8 not-found left-pad",
        ],
      );
      const names = await refusals({
        "/app/main.ts": `import { sleep } from "@temporalio/workflow";
          import { proxySinksOrSo } from "@temporalio/workflow";
          import { nothing } from "@temporalio/common/lib/time";
          import { inspect } from "util";
          import { gone } from "./other.ts";
          export async function w() { await sleep(1); return [proxySinksOrSo, nothing, inspect, gone]; }`,
        "/app/other.ts": "export const here = 1;",
      });
      deepEqual(names.map((each) => each.split(":").slice(0, 2).join(":")), [
        "/app/main.ts:2 missing-export proxySinksOrSo",
        "/app/main.ts:3 missing-export nothing",
        "/app/main.ts:4 builtin-import inspect",
        "/app/main.ts:5 missing-export gone",
      ]);
      match(
        names[0]!,
        /imports "proxySinksOrSo" from "@temporalio\/workflow", which does not export it/,
      );
    },
  },
  {
    name:
      "temporal programs: types that TypeScript exports again are left out; require() in a module is a dependency",
    run: () =>
      withProgram({
        "/app/main.ts":
          `${IMPORTS}import { make } from "./lib.ts"; import old = require("./old.cjs");
          export { Shape } from "./shapes.ts"; export * from "./shapes.ts";
          export async function w() { return make(old.n); }`,
        "/app/lib.ts":
          'import { Shape } from "./shapes.ts"; export { Shape } from "./shapes.ts"; export const make = (n: number): Shape => ({ n });',
        "/app/shapes.ts": "export interface Shape { n: number }",
        "/app/old.cjs": "exports.n = 3;",
      }, async (h) => {
        deepEqual([...h.realm.workflowTypes], ["w"]);
        deepEqual(await resultOf(h, "w"), { n: 3 });
      }),
  },
  {
    name:
      "temporal programs: a module that throws is refused when it is loaded; one that needs a run for it is left to its runs",
    async run() {
      const [found] = await refusals({
        "/app/main.ts":
          `${IMPORTS}export async function w() {}\n\nthrow new TypeError("not here");`,
      });
      match(found!, /\/app\/main\.ts:4 evaluation : fails while it is loaded: TypeError: not here/);
      await withProgram(
        one(`const { workflowType } = wf.workflowInfo();
          const table: { [type: string]: { answer: number } } = { w: { answer: 42 } };
          const { answer } = table[workflowType]!;
          const drawn = Math.random(), at = Date.now();
          wf.setHandler(wf.defineQuery("drawn"), () => drawn);
          export async function w() { await wf.sleep(1); return [answer, drawn > 0, at === wf.workflowInfo().runStartTime.getTime()]; }
          export async function other() {}`),
        async (h) => {
          deepEqual([...h.realm.workflowTypes], ["w", "other"]);
          deepEqual(await resultOf(h, "w"), [42, true, true]);
          match(await failureOf(h, "other"), /answer|undefined/);
        },
      );
    },
  },
  {
    name:
      "temporal programs: what modules add to built-in objects is there for each run; what they replace is refused",
    async run() {
      await withProgram(
        one(`(BigInt.prototype as any).toJSON = function () { return this + "n"; };
          if (!(Array.prototype as any).secondOrSo) Object.defineProperty(Array.prototype, "secondOrSo", { value() { return this[1]; } });
          Object.defineProperty(Array.prototype, "lastOf", { configurable: true, value() { return this[this.length - 1]; } });
          Object.defineProperties(Map.prototype, { sizeOf: { configurable: true, value() { return this.size; } } });
          Reflect.defineProperty(Set.prototype, "sizeOf", { configurable: true, value() { return this.size; } });
          (Array.prototype as any).__defineGetter__("first", function () { return this[0]; });
          const define = () => Object.defineProperty(Array.prototype, "fromARun", { value: 1 });
          const added = () => [([1, 2] as any).lastOf(), (new Map([[1, 1]]) as any).sizeOf(), (new Set([1]) as any).sizeOf(), ([7] as any).first];
          export async function w() { return [JSON.stringify({ n: 5n }), ([1, 2] as any).secondOrSo(), ...added()]; }
          export async function defines() { try { define(); return "defined"; } catch (e) { return (e as Error).name; } }`),
        async (h) => {
          for (let i = 0; i < 2; i++) {
            deepEqual(await resultOf(h, "w"), ['{"n":"5n"}', 2, 2, 1, 1, 7]);
          }
          // Built-in objects are frozen for everything else.
          deepEqual(await resultOf(h, "defines"), "TypeError");
        },
      );
      const [found] = await refusals(
        one("JSON.stringify = () => '';\nexport async function w() {}"),
      );
      match(found!, /\/app\/main\.ts:\d evaluation JSON\.stringify: replaces JSON\.stringify/);
    },
  },
  {
    name: "temporal programs: log lines and console are the run's, and silent on replay",
    run: () =>
      withProgram(
        one(`console.log("loaded");
          export async function w() { console.warn("careful", { n: 1 }); wf.log.info("said", { k: 2 }); await wf.sleep(1); return 1; }`),
        async (h) => {
          const run = h.start("w");
          await run.auto();
          await h.realm.replay("wf", run.server.history());
          deepEqual(
            h.logs.map((
              { level, message, workflowType, fields },
            ) => [level, message, workflowType, fields]),
            [["info", "loaded", "w", {}], ["warn", 'careful {"n":1}', "w", {}], [
              "info",
              "said",
              "w",
              { k: 2 },
            ]],
          );
        },
      ),
  },
  {
    name: "temporal programs: code that does not yield is stopped, and the thread is replaced",
    run: () =>
      withProgram(
        one(`export async function spins() { await wf.sleep(1); for (let i = 0; i < 5e9; i++); }
          export async function fine() { await wf.sleep(1); return "fine"; }`),
        async (h) => {
          const run = h.start("spins");
          await run.task();
          run.server.fireTimer("1");
          await run.task();
          match(run.failure, /ran for .* without yielding/);
          equal(await resultOf(h, "fine"), "fine");
        },
        // Long enough for a first task on a busy machine.
        { watchdogMs: 1500 },
      ),
  },
  ...SCOPES.map((scopes): Case => ({
    name: `temporal programs: AsyncLocalStorage and scopes follow async functions, ${scopes}`,
    run: () =>
      withProgram(
        one(
          `const storage = new AsyncLocalStorage<string>(), other = new wf.AsyncLocalStorage<number>();
          const ticks = async (n: number) => { for (let i = 0; i < n; i++) await undefined; };
          export async function w() {
            const seen: unknown[] = [storage.getStore()];
            const say = (text: string) => seen.push(text + ":" + storage.getStore() + ":" + other.getStore());
            await Promise.all(["a", "b"].map((name, i) => storage.run(name, async () => {
              say("start"); await ticks(i + 1); say("later");
              await other.run(i, () => wf.CancellationScope.cancellable(async () => { await wf.sleep(10); say("scope"); }));
              storage.exit(() => say("exit"));
              await new Promise<void>((resolve) => setTimeout(() => { say("timer"); resolve(); }, 5));
            })));
            say("end");
            const bound = storage.run("bound", () => AsyncLocalStorage.bind(() => storage.getStore()));
            return [...seen, bound()];
          }
          export async function cancelled() {
            const seen: string[] = [];
            try {
              await wf.CancellationScope.withTimeout(1000, async () => { await Promise.resolve(); await wf.condition(() => false); });
            } catch (e) { seen.push(wf.isCancellation(e) ? "cancelled" : "failed"); }
            return seen;
          }`,
        ),
        async (h) => {
          const expected = [
            null,
            "start:a:undefined",
            "start:b:undefined",
            "later:a:undefined",
            "later:b:undefined",
          ];
          const result = await resultOf(h, "w") as unknown[];
          deepEqual(result.slice(0, 5), expected);
          deepEqual(result.slice(5, -2).map(String).sort(), [
            ...[
              "exit:undefined:undefined",
              "exit:undefined:undefined",
              "scope:a:0",
              "scope:b:1",
              "timer:a:undefined",
              "timer:b:undefined",
            ],
          ]);
          deepEqual(result.slice(-2), ["end:undefined:undefined", "bound"]);
          deepEqual(await resultOf(h, "cancelled"), ["cancelled"]);
        },
        { scopes },
      ),
  })),
  {
    name:
      "temporal programs: several modules give their workflows to one realm; one name for two of them is refused",
    async run() {
      const sources = {
        "/app/a.ts":
          `${IMPORTS}export * from "./shared.ts"; export async function a() { return "a"; }`,
        "/app/b.ts":
          `${IMPORTS}export * from "./shared.ts"; export async function b() { return "b"; }`,
        "/app/shared.ts": "export async function both() { return 'both'; }",
        "/app/c.ts": `${IMPORTS}export async function a() { return "another"; }`,
      };
      await withProgram(sources, async (h) => {
        deepEqual([...h.realm.workflowTypes].sort(), ["a", "b", "both"]);
        deepEqual([await resultOf(h, "a"), await resultOf(h, "b"), await resultOf(h, "both")], [
          "a",
          "b",
          "both",
        ]);
      }, { workflows: ["/app/a.ts", "/app/b.ts"] });
      let message = "";
      await withProgram(sources, () => Promise.resolve(), { workflows: ["/app/a.ts", "/app/c.ts"] })
        .catch((e: Error) => message = e.message);
      match(message, /two workflows are named "a": export a of \S*a\.ts, export a of \S*c\.ts/);
    },
  },
  {
    name: "temporal programs: a failed task names the line of the program",
    run: () =>
      withProgram(
        one(
          `interface Gone {\n  n: number;\n}\nexport async function w(x: Gone): Promise<void> {\n  await wf.sleep(1);\n  throw new TypeError("here");\n}`,
        ),
        async (h) => {
          const run = h.start("w");
          await run.task();
          run.server.fireTimer("1");
          await run.task();
          const { failure } = run.server.taskFailure!;
          equal(failure.message, "here");
          match(failure.stackTrace, /w \(.*\/app\/main\.ts:7:\d+\)/);
          // In a bundle nothing is known to be ours.
          if (!inBrowser) ok(!/ts\/compat|realm/.test(failure.stackTrace), failure.stackTrace);
        },
      ),
  },
];
