// Interceptors and sinks of programs of `@temporalio/workflow`: what is called, in which order,
// with what, and what leaves the realm.
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { openSession } from "../../ts/debug/mod.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { IMPORTS, resultOf, withProgram } from "./temporal_program_support.ts";

const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

/** Notes each call before and after, in a list that the workflow's module shares. */
const NOTING = `${IMPORTS}import { calls } from "./calls.ts";
const noted = (name: string) => async (input: any, next: any) => {
  calls.push(name);
  try { return await next({ ...input, headers: { ...input.headers, [name]: wf.defaultPayloadConverter.toPayload(name) } }); }
  finally { calls.push("/" + name); }
};
const plain = (name: string) => (input: any, next: any) => { calls.push(name); return next(input); };
const all = (names: string[], wrap: any) => Object.fromEntries(names.map((name) => [name, wrap(name)]));
`;

/** What an interceptor needs is made per run, and the chain is as the list is. */
const ORDER = {
  "/app/main.ts": `${IMPORTS}import { calls } from "./calls.ts";
    export const poke = wf.defineSignal<[string]>("poke");
    export async function w(who: string) {
      const got: string[] = [];
      wf.setHandler(poke, (what) => { got.push(what); });
      wf.setHandler(wf.defineQuery("calls"), () => calls);
      await wf.sleep(1000);
      await wf.proxyActivities<any>({ startToCloseTimeout: "1 minute" }).work(who);
      return [...got, ...calls];
    }`,
  "/app/calls.ts": "export const calls: string[] = [];",
  "/app/outer.ts": `${NOTING}
    export const interceptors = () => ({
      inbound: [all(["execute", "handleSignal"], noted), { execute: plain("inner") }],
      outbound: [all(["startTimer", "scheduleActivity"], noted)],
      internals: [{
        activate(input: any, next: any) { calls.push("activate " + input.activation.jobs.map((job: any) => job.variant)); next(input); },
        concludeActivation(input: any, next: any) { calls.push("commands " + input.commands.flatMap(Object.keys)); return next(input); },
      }],
    });`,
  "/app/last.ts":
    `${NOTING}export const interceptors = () => ({ inbound: [all(["execute"], (n: string) => plain("last " + wf.workflowInfo().workflowType))] });`,
};

/** An interceptor that calls what the workflow gives it, once, when an activation is concluded. */
const CONCLUDING = {
  "/app/hook.ts": "export const hook: { concluded?: (() => void) | undefined } = {};",
  "/app/i.ts": `import { hook } from "./hook.ts";
    export const interceptors = () => ({ internals: [{
      concludeActivation(input: any, next: any) {
        const { concluded } = hook;
        hook.concluded = undefined;
        concluded?.();
        return next(input);
      },
    }] });`,
};

function concluded(scopes: typeof SCOPES[number], cached: boolean): Case {
  const main = `${IMPORTS}import { hook } from "./hook.ts";
    const { work } = wf.proxyActivities<any>({ startToCloseTimeout: "1 minute", allowEagerDispatch: false });
    export async function w() {
      const got: string[] = [];
      hook.concluded = () => {
        work("hook").then((result: string) => got.push(result));
        void Promise.resolve().then(() => work("reaction")).then((result) => got.push(result));
      };
      wf.setHandler(wf.defineQuery("got"), () => got);
      wf.setHandler(wf.defineQuery("calls"), () => void (hook.concluded = () => void work("never")));
      await wf.sleep(1000);
      await wf.condition(() => got.length === 2);
      return got;
    }`;
  const options = { interceptors: "/app/i.ts", scopes, ...(cached ? {} : { cacheSize: 0 }) };
  return {
    name:
      `interceptors: what is called when an activation is concluded leaves with the next one (${scopes}, ${
        cached ? "cached" : "without a cache"
      })`,
    async run() {
      const history = await withProgram({ "/app/main.ts": main, ...CONCLUDING }, async (h) => {
        const run = h.start("w");
        const { server } = run;
        const task = async (bytes: Uint8Array) => {
          const outcome = await h.realm.runTask(readWorkflowTask(bytes));
          server.report(outcome);
          equal(run.failure, "");
          return outcome;
        };
        await task(server.openTask({ sticky: true }));
        deepEqual([server.timers.size, server.activities.size], [1, 0]);
        // Queries do not carry them: neither one in a separate task nor one with a task.
        await task(server.queryTask("got", [], cached));
        deepEqual(server.queryAnswers["query"], { ok: true, value: [], message: "" });
        await task(server.queryTask("calls", [], cached));
        match(
          server.queryAnswers["query"]!.message,
          /SCHEDULE_ACTIVITY is not allowed while a query is handled: query handlers cannot schedule work/,
        );
        for (const id of [...server.timers.keys()]) server.fireTimer(id);
        const { notEager } = await task(
          server.openTask({ sticky: cached, queries: { q: { type: "got", args: [] } } }),
        );
        deepEqual(server.queryAnswers["q"], { ok: true, value: [], message: "" });
        deepEqual([...server.activities.keys()], ["1", "2"]);
        deepEqual(notEager, ["1", "2"]);
        server.completeActivity("2", "of the reaction");
        server.completeActivity("1", "of the hook");
        await task(server.openTask({ sticky: cached }));
        deepEqual(server.closed?.result, ["of the hook", "of the reaction"]);
        const { verdict, error } = await h.realm.replay("wf", server.history());
        equal(verdict, "ok", error?.message);
        // A debug session shows them in the task that sends them.
        const session = await openSession(server.history(), { realm: h.realm });
        equal(session.problem, undefined);
        const shown = session.tasks.map(({ eventId }) =>
          session.goTo(eventId).commands.map(({ kind }) => kind)
        );
        deepEqual(shown, [["StartTimer"], ["ScheduleActivity", "ScheduleActivity"], [
          "CompleteWorkflow",
        ]]);
        return server.history();
      }, options);
      if (!cached) return;
      // Where code and history part, the line is the one that was on when the command was given.
      const other = main.replace('work("hook")', 'wf.sleep(5).then(() => "hook")');
      await withProgram({ "/app/main.ts": other, ...CONCLUDING }, async (h) => {
        const { verdict, error } = await h.realm.replay("wf", history);
        equal(verdict, "nondeterminism");
        match(error?.location ?? "", /main\.ts:\d+/);
      }, options);
    },
  };
}

export const cases: Case[] = [
  ...SCOPES.map((scopes): Case => ({
    name:
      `interceptors: the first module's are outermost; headers, activations and commands (${scopes})`,
    run: () =>
      withProgram(ORDER, async (h) => {
        const run = h.start("w", { args: ["ada"] });
        await run.task();
        equal(run.failure, "");
        run.server.signal("poke", "hello");
        for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
        await run.task();
        const scheduled = run.server.events.map(({ attributes }) => attributes)
          .find(({ case: name }) => name === "activityTaskScheduledEventAttributes")!;
        const { header } = scheduled.value as {
          header: { fields: { [name: string]: { metadata: object; data: Uint8Array } } };
        };
        deepEqual(
          Object.entries(header.fields).map((
            [name, payload],
          ) => [name, jsonPayloadConverter.fromPayload(payload as never)]),
          [["scheduleActivity", "scheduleActivity"]],
        );
        run.server.completeActivity("1", "done");
        await run.task();
        equal(run.failure, "");
        deepEqual(run.server.closed?.result, [
          ...[
            "hello",
            "activate initializeWorkflow",
            "execute",
            "inner",
            "last w",
            "startTimer",
            "commands startTimer",
          ],
          ...[
            "activate signalWorkflow,fireTimer",
            "handleSignal",
            "/startTimer",
            "/handleSignal",
            "scheduleActivity",
          ],
          ...["commands scheduleActivity", "activate resolveActivity", "/scheduleActivity"],
        ]);
        const { verdict, error } = await h.realm.replay("wf", run.server.history());
        equal(verdict, "ok", error?.message);
      }, { interceptors: ["/app/outer.ts", "/app/last.ts"], scopes }),
  })),
  {
    name: "interceptors: updates and queries, their validators, arguments that are changed",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}export const add = wf.defineUpdate<number, [number]>("add");
          export async function w() {
            let sum = 0;
            wf.setHandler(add, async (n) => sum += n, { validator(n) { if (n > 100) throw new Error("too many: " + n); } });
            wf.setHandler(wf.defineQuery<number, [number]>("plus"), (n: number) => sum + n);
            await wf.condition(() => sum >= 20);
            return sum;
          }`,
        "/app/i.ts": `export const interceptors = () => ({ inbound: [{
          async handleUpdate(input: any, next: any) { return await next({ ...input, args: [input.args[0] * 2] }) + 1000; },
          validateUpdate(input: any, next: any) { next({ ...input, args: [input.args[0] + 1] }); },
          async handleQuery(input: any, next: any) { return [input.queryName, await next(input)]; },
        }] });`,
      }, async (h) => {
        const run = h.start("w");
        await run.task();
        const refused = run.server.update("u-1", "add", 100);
        const taken = run.server.update("u-2", "add", 5);
        await run.task();
        match(refused.failure?.message ?? "", /too many: 101/);
        equal(run.failure, "");
        deepEqual(taken.result, 1010);
      }, { interceptors: "/app/i.ts" }),
  },
  {
    name:
      "interceptors: commands cannot be changed when they are concluded, and something else than a function is refused",
    async run() {
      const main = `${IMPORTS}export async function w() { await wf.sleep(1000); }`;
      const failure = (interceptors: string) =>
        withProgram({ "/app/main.ts": main, "/app/i.ts": interceptors }, async (h) => {
          const run = h.start("w");
          await run.task();
          return run.failure;
        }, { interceptors: "/app/i.ts" });
      match(
        await failure(
          "export const interceptors = () => ({ internals: [{ concludeActivation: () => ({ commands: [] }) }] });",
        ),
        /an interceptor changed the commands in concludeActivation\(\), which is not supported here; .*outbound interceptor/,
      );
      match(
        await failure("export const interceptors = 5;").catch((error: Error) => error.message),
        /Failed to initialize workflows interceptors: expected a function, but got: '5'/,
      );
    },
  },
  ...SCOPES.flatMap((scopes) => [true, false].map((cached) => concluded(scopes, cached))),
  {
    name:
      "interceptors: what a promise wakes when an activation is concluded throws in the next one, and a rejection without a handler fails this one",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}import { hook } from "./hook.ts";
          export async function later() {
            await Promise.race([wf.sleep(1000), new Promise<void>((resolve) => { hook.concluded = resolve; })]);
            throw new TypeError("behind the hook");
          }
          export async function now() {
            hook.concluded = () => void Promise.reject(new TypeError("without a handler"));
            await wf.sleep(1000);
          }`,
        ...CONCLUDING,
      }, async (h) => {
        const later = h.start("later");
        await later.task();
        equal(later.failure, "");
        for (const id of [...later.server.timers.keys()]) later.server.fireTimer(id);
        await later.task();
        equal(later.failure, "behind the hook");
        const now = h.start("now");
        await now.task();
        match(now.failure, /without a handler/);
      }, { interceptors: "/app/i.ts" }),
  },
  ...SCOPES.map((scopes): Case => ({
    name:
      `random streams: named ones are apart from the run's own, and are put around code (${scopes})`,
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          export async function plain() { return [Math.random(), Math.random(), wf.uuid4()]; }
          export async function streams() {
            const a = wf.getRandomStream("a");
            const drawn = [a.random(), wf.getRandomStream("b").random()];
            const within = await a.with(async () => { await null; return [Math.random(), wf.workflowRandom.random()]; });
            return { drawn, within, own: [Math.random(), wf.uuid4()], a: a.random(), bytes: [...a.fill(new Uint8Array(3))], id: a.uuid4() };
          }
          export async function replayed() {
            const a = wf.getRandomStream("a");
            return [a.random(), wf.getRandomStream("b").random(), a.random(), a.random()];
          }`,
      }, async (h) => {
        // The same run id, and so the same seed.
        const of = async (type: string) => {
          const run = h.start(type, { runId: "0000000b-0000-4000-8000-000000000000" });
          await run.task();
          equal(run.failure, "");
          h.realm.evict(run.server.runId);
          // deno-lint-ignore no-explicit-any
          return run.server.closed!.result as any;
        };
        const [first, second, uuid] = await of("plain");
        const [a1, b1, a2, a3] = await of("replayed");
        const { drawn, within, own, a } = await of("streams");
        deepEqual(drawn, [a1, b1]);
        deepEqual(within, [a2, first]);
        deepEqual(own, [second, uuid]);
        equal(a, a3);
      }, { scopes }),
  })),
  {
    name:
      "sinks: calls come in order and before the outcome, with the run's info; what they throw fails nothing",
    async run() {
      const heard: unknown[] = [];
      let ended = false;
      const sinks = {
        notes: {
          add: {
            fn(info: { workflowType: string; unsafe: object }, ...args: unknown[]) {
              heard.push([info.workflowType, info.unsafe, ...args]);
            },
          },
          again: {
            fn: (_: unknown, text: string) => void heard.push(`again ${text}`),
            callDuringReplay: true,
          },
          bad: {
            fn() {
              throw new Error("no paper");
            },
          },
          slow: {
            fn: () =>
              new Promise<void>((resolve) => setTimeout(() => resolve(void (ended = true)), 50)),
          },
        },
      };
      const text = `${IMPORTS}const { notes, other } = wf.proxySinks<any>();
        export async function w() {
          const list = [1];
          notes.add("a", list); list.push(2);
          notes.bad(); other.thing();
          await wf.sleep(1000);
          notes.add("b"); notes.again("b"); notes.slow();
        }`;
      await withProgram({ "/app/main.ts": text }, async (h) => {
        const run = h.start("w");
        await run.task();
        equal(run.failure, "");
        deepEqual(heard.splice(0), [[
          "w",
          { isReplaying: false, isReplayingHistoryEvents: false },
          "a",
          [1],
        ]]);
        deepEqual(
          h.logs.map((
            { level, message, fields },
          ) => [level, message, fields["ifaceName"], fields["fnName"]]),
          [
            ["error", "Workflow referenced an unregistered external sink", "other", "thing"],
            ["error", "External sink function threw an error", "notes", "bad"],
          ].sort(([, a], [, b]) =>
            h.logs.findIndex(({ message }) => message === a) -
            h.logs.findIndex(({ message }) => message === b)
          ),
        );
        // Not in memory any more: what is replayed is silent, but for functions that ask for it.
        h.realm.evict(run.server.runId);
        for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
        equal(ended, false);
        await run.task();
        equal(ended, true, "the outcome came before the call had ended");
        deepEqual(heard.splice(0), [[
          "w",
          { isReplaying: false, isReplayingHistoryEvents: false },
          "b",
        ], "again b"]);
        equal((await h.realm.replay("wf", run.server.history())).verdict, "ok");
        deepEqual(heard, ["again b"]);
      }, { sinks });
    },
  },
  {
    name: "interceptors: internals.dispose is called when a run leaves memory",
    run: async () => {
      const heard: unknown[] = [];
      await withProgram({
        "/app/main.ts": `${IMPORTS}export async function w() { await wf.sleep(1000); }`,
        "/app/i.ts": `${IMPORTS}const { notes } = wf.proxySinks<any>();
          export const interceptors = () => ({ internals: [{ dispose(input: any, next: any) { notes.add("disposed"); next(input); } }] });`,
      }, async (h) => {
        const run = h.start("w");
        await run.task();
        deepEqual(heard, []);
        h.realm.evict(run.server.runId);
        for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
        await run.task();
        equal(run.failure, "");
        deepEqual(heard.includes("disposed"), true);
      }, {
        interceptors: "/app/i.ts",
        sinks: {
          notes: {
            add: {
              fn: (_: unknown, what: string) => void heard.push(what),
              callDuringReplay: true,
            },
          },
        },
      });
    },
  },
  {
    name: "failureExceptionTypes: errors of these classes fail the workflow, of others the task",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          class Expected extends Error {}
          const failing = (failureExceptionTypes: any[], error: () => Error) => {
            const fn = async () => { throw error(); };
            wf.setWorkflowOptions({ failureExceptionTypes }, fn);
            return fn;
          };
          export const expected = failing([Expected], () => new Expected("e"));
          export const any = failing([Error], () => new RangeError("r"));
          export const other = failing([Expected], () => new Error("o"));`,
      }, async (h) => {
        const end = async (type: string) => {
          const run = h.start(type);
          await run.task();
          return [run.failure === "", run.server.closed?.failure?.message];
        };
        deepEqual(await end("expected"), [true, "e"]);
        deepEqual(await end("any"), [true, "r"]);
        deepEqual(await end("other"), [false, undefined]);
      }),
  },
  {
    name:
      "failureErrorTypes: errors of classes with these names, or derived from them, fail runs of the type",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          class Expected extends Error {}
          class Derived extends Expected {}
          const hostile = Object.defineProperty({}, "constructor", { get() { throw new Error("no"); } });
          export async function ordered() { throw new Derived("d"); }
          export async function ranged() { throw new RangeError("r"); }
          export async function typed() { throw new TypeError("t"); }
          export async function odd() { throw hostile; }
          export async function handled() {
            wf.setHandler(wf.defineSignal("go"), () => { throw new Expected("s"); });
            await wf.condition(() => false);
          }`,
      }, async (h) => {
        const end = async (type: string, options: { signals?: boolean } = {}) => {
          const run = h.start(type);
          if (options.signals === true) run.server.signal("go");
          await run.task();
          return [run.failure === "", run.server.closed?.failure?.message];
        };
        deepEqual(await end("ordered"), [true, "d"]);
        deepEqual(await end("handled", { signals: true }), [true, "s"]);
        deepEqual(await end("ranged"), [true, "r"]);
        deepEqual(await end("typed"), [false, undefined], "RangeError is of another type");
        deepEqual(await end("odd"), [false, undefined]);
      }, {
        runOptions: {
          ...{ namespace: "default", identity: "test", stickyQueue: "sticky" },
          failureErrorTypes: { "*": ["Expected"], ranged: ["RangeError"], typed: ["RangeError"] },
        },
      }),
  },
  {
    name:
      "logs: interceptors add attributes; a logger's sink gets all of them, and the lines of start and end",
    async run() {
      const sources = {
        "/app/main.ts": `${IMPORTS}export async function w() {
          wf.log.info("hello", { own: 1 });
          wf.proxySinks<any>().defaultWorkerLogger.warn("old", { way: 1 });
          return 1;
        }`,
        "/app/i.ts":
          'export const interceptors = () => ({ outbound: [{ getLogAttributes: (input: any, next: any) => next({ ...input, tenant: "t" }) }] });',
      };
      await withProgram(sources, async (h) => {
        await resultOf(h, "w");
        deepEqual(h.logs.map(({ level, message, fields }) => [level, message, fields]), [
          ["debug", "Workflow started", { tenant: "t", sdkComponent: "worker" }],
          ["info", "hello", { tenant: "t", own: 1 }],
          ["warn", "old", { way: 1 }],
          ["debug", "Workflow completed", { tenant: "t", sdkComponent: "worker" }],
        ]);
      }, { interceptors: "/app/i.ts" });
      const lines: unknown[] = [];
      const line = (level: string) => ({
        fn: (
          _: unknown,
          message: string,
          { runId: _id, ...attributes }: { [name: string]: unknown },
        ) => void lines.push([level, message, attributes]),
      });
      const levels = Object.fromEntries(
        ["trace", "debug", "info", "warn", "error"].map((level) => [level, line(level)]),
      );
      const { "/app/main.ts": main } = sources;
      await withProgram({ "/app/main.ts": main }, (h) => resultOf(h, "w"), {
        sinks: { __temporal_logger: levels },
      });
      const usual = {
        sdkComponent: "workflow",
        namespace: "default",
        taskQueue: "q",
        workflowId: "wf",
        workflowType: "w",
      };
      deepEqual(lines, [
        ["debug", "Workflow started", { ...usual, sdkComponent: "worker" }],
        ["info", "hello", { ...usual, own: 1 }],
        ["warn", "old", { way: 1 }],
        ["debug", "Workflow completed", { ...usual, sdkComponent: "worker" }],
      ]);
    },
  },
];
