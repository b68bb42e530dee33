// How workflow code runs (docs/dev/semantics/execution.md): turns, promises between fibers,
// foreign awaits, unhandled rejections, eviction.
import {
  activities,
  ApplicationFailure,
  now,
  on,
  parallel,
  receive,
  reply,
  select,
  sideEffect,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { hop } from "../../ts/platform/hop.ts";
import { liveHandles } from "../../ts/core/handle.ts";
import type { RejectionHost } from "../../ts/executor/program/rejections.ts";
import { current } from "../../ts/executor/program/current.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive, makeRunner } from "./driver.ts";
import { rejectionHost } from "./rejection_host.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");

export const cases: Case[] = [
  {
    name: "one hop drains a 100,000-deep await chain",
    async run() {
      let depth = 0;
      const chain = async (n: number): Promise<void> => {
        for (let i = 0; i < n; i++) {
          await null;
          depth++;
        }
      };
      void chain(100_000);
      await hop();
      equal(depth, 100_000);
    },
  },
  {
    name: "hops that wait at once resolve in order",
    async run() {
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => hop().then(() => void order.push(n))));
      deepEqual(order, [1, 2, 3]);
    },
  },
  {
    name: "one awaiter is resumed at a time, in the order of events, however deep its continuation goes",
    async run() {
      const order: string[] = [];
      const w = workflow("W", async () => {
        const one = async (name: string, p: Promise<unknown>) => {
          await p;
          for (let i = 0; i < 50; i++) await null;
          order.push(name);
        };
        await Promise.all([one("first", acts.work(1)), one("second", acts.work(2)), one("third", sleep(1))]);
        return order;
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      d.server.completeActivity("2");
      d.server.completeActivity("1");
      await d.task();
      deepEqual(order, ["third", "second", "first"]);
    },
  },
  {
    name: "Promise.all, race, any and allSettled over primitives are deterministic",
    async run() {
      const w = workflow("W", async () => {
        const all = await Promise.all([acts.work(1), sleep(1).then(() => "slept")]);
        const race = await Promise.race([acts.work(2), sleep("1h").then(() => "late")]);
        const any = await Promise.any([acts.work(3), acts.work(4)]);
        const settled = await Promise.allSettled([acts.work(5), acts.work(6)]);
        return [all, race, any, settled.map((s) => s.status)];
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      d.server.completeActivity("1", 1);
      await d.task();
      d.server.completeActivity("2", 2);
      await d.task();
      d.server.failActivity("3", new ApplicationFailure("no"));
      d.server.completeActivity("4", 4);
      await d.task();
      d.server.completeActivity("6", 6);
      d.server.failActivity("5", new ApplicationFailure("no"));
      await d.task();
      deepEqual(await d.finish(), [[1, "slept"], 2, 4, ["rejected", "fulfilled"]]);
    },
  },
  {
    name: "shared promises, latches, async generators and for await between fibers are legal",
    async run() {
      const w = workflow("W", async () => {
        let open!: (value: string) => void;
        const latch = new Promise<string>((resolve) => (open = resolve));
        const shared = acts.work(1);
        async function* numbers() {
          for (let i = 0; i < 3; i++) {
            await sleep(1);
            yield i;
          }
        }
        const results = await parallel([
          async () => [await latch, await shared],
          async () => {
            let sum = 0;
            for await (const n of numbers()) sum += n;
            open("opened");
            return sum;
          },
          async () => await shared,
        ]);
        return results.map((r) => r.ok && r.value);
      });
      const d = await drive(w);
      deepEqual(await d.auto({ work: () => 9 }), [["opened", 9], 3, 9]);
    },
  },
  {
    name: "code woken by another fiber's promise counts as that fiber's",
    async run() {
      const roles: (string | undefined)[] = [];
      const w = workflow("W", async () => {
        let open!: () => void;
        const latch = new Promise<void>((resolve) => (open = resolve));
        await parallel([
          async () => {
            await latch;
            roles.push(current.fiber?.label);
          },
          async () => {
            await sleep(1);
            open();
          },
        ]);
      });
      const d = await drive(w);
      await d.auto();
      ok(roles[0]?.startsWith("branch 2 of parallel"), String(roles[0]));
    },
  },
  {
    name: "a foreign await deadlocks: the task fails at once and names the last call of each fiber",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        await new Promise(() => {}); // as good as a fetch: nothing of the workflow can wake it
        return await acts.work(1);
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      const { message } = d.server.taskFailure!.failure;
      match(message, /^DEADLOCK: the workflow waits, but on nothing that could ever wake it/);
      match(message, /run of workflow "W" \(its last call: sleep at .*:\d+:\d+/);
    },
  },
  {
    name: "a foreign await in a handler, before any primitive, is a deadlock too",
    async run() {
      const w = workflow("W", () => receive(0, [on(go, async (_, s) => (await new Promise(() => {}), stop(s)))]));
      const d = await drive(w);
      await d.task();
      equal(d.server.taskFailure, undefined, "an idle receive is no deadlock");
      d.server.signal("go", 1);
      await d.task();
      match(d.server.taskFailure!.failure.message, /handler of signal "go" \(it has called no primitive yet\)/);
    },
  },
  {
    name: "a fiber that waits for another fiber's promise is no deadlock",
    async run() {
      const w = workflow("W", async () => {
        let open!: () => void;
        const latch = new Promise<void>((resolve) => (open = resolve));
        await parallel([() => latch, async () => {
          await sleep(1);
          open();
        }]);
        return "done";
      });
      const d = await drive(w);
      equal(await d.auto(), "done");
    },
  },
  {
    name: "a primitive called when no turn is active fails, and the task fails and names the line",
    async run() {
      let wake!: () => void;
      const w = workflow("W", async () => {
        const host = new Promise<void>((resolve) => (wake = resolve));
        await Promise.race([host.then(() => sleep(1)), waitForSignal(end)]);
        return "not reached by the signal";
      });
      const d = await drive(w);
      await d.task();
      wake(); // a host callback, between two tasks
      await hop();
      d.server.signal("end");
      await d.task();
      const { message } = d.server.taskFailure!.failure;
      match(message, /sleep was called at .*:\d+:\d+.* while no turn of a workflow is active/);
    },
  },
  {
    name: "a primitive called by host code throws and touches no run",
    async run() {
      let error: unknown;
      try {
        now();
      } catch (e) {
        error = e;
      }
      match(
        (error as Error).message,
        /^now was called at .*while no turn of a workflow is active: either this is not workflow code/,
      );
      equal((error as Error).name, "OutsideTurnError");
    },
  },
  {
    name: "an unhandled rejection fails the task of its run; two runs alternating in one realm are told apart",
    async run() {
      const bad = workflow("Bad", async () => {
        for (let i = 0;; i++) {
          await sleep(1);
          if (i === 1) void Promise.reject(new TypeError("nobody listens"));
        }
      });
      const good = workflow("Good", async () => {
        for (;;) await sleep(1);
      });
      const runner = await makeRunner([bad, good]);
      const one = await drive(bad, { runner, runId: "aaaaaaaa-2222-4333-8444-555555555555" });
      const two = await drive(good, { runner, runId: "bbbbbbbb-2222-4333-8444-555555555555" });
      await one.task();
      await two.task();
      for (let i = 1; i <= 3 && one.server.taskFailure === undefined; i++) {
        one.server.fireTimer(String(i));
        two.server.fireTimer(String(i));
        await Promise.all([one.task(), two.task()]);
      }
      match(
        one.server.taskFailure!.failure.message,
        /a promise of the workflow was rejected and nothing handled it \(TypeError: nobody listens\)/,
      );
      match(one.server.taskFailure!.failure.stackTrace, /:\d+:\d+/);
      equal(two.server.taskFailure, undefined);
      ok(two.outcomes.length === one.outcomes.length);
    },
  },
  {
    name: "a host that reports rejections one macrotask late is waited for, in a task and in a replay",
    async run() {
      // Chromium does so by itself; Node and Deno, which have setImmediate, report at once.
      const late: RejectionHost = !("setImmediate" in globalThis) ? rejectionHost : {
        listen: (listener) =>
          rejectionHost.listen({
            unhandled(promise, reason) {
              void hop().then(() => listener.unhandled(promise, reason));
              return true;
            },
            handled: (promise) => listener.handled(promise),
          }),
      };
      let leaves = false;
      const w = workflow("W", async () => {
        await sleep(1);
        if (leaves) void Promise.reject(new TypeError("nobody listens"));
        await sleep(1);
        return "done";
      });
      const d = await drive(w, { rejections: late });
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      leaves = true;
      equal((await d.replay()).error?.message.includes("nobody listens"), true, "the last task of a replay");
      leaves = false;
      d.server.fireTimer("2");
      await d.task();
      equal(await d.finish(), "done");
      leaves = true;
      const failing = await drive(w, { rejections: late });
      await failing.task();
      failing.server.fireTimer("1");
      await failing.task();
      match(failing.server.taskFailure!.failure.message, /nothing handled it \(TypeError: nobody listens\)/);
    },
  },
  {
    name: "the trace of a replay says from which task on which signals were buffered, and when they were not any more",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        const n = await waitForSignal(go);
        await sleep(1);
        return n;
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("go", 7);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      equal(await d.finish(), 7);
      const { trace, events, activations } = await d.replay({ record: true, trace: true });
      equal(events, d.server.events.length);
      equal(activations, 4);
      deepEqual(trace!.buffered, [{ from: 1, value: { go: 1 } }, { from: 2, value: {} }]);
    },
  },
  {
    name: "buffered signals go to whoever has waited longest, not to a select that asks for them later",
    async run() {
      const w = workflow("W", async () => {
        const results = await parallel([
          async () => [await waitForSignal(go), await select([on(go, ([n]) => n)])],
          () => waitForSignal(go),
          () => waitForSignal(go),
        ]);
        return results.map((r) => r.ok && r.value);
      });
      const d = await drive(w);
      await d.task();
      for (const n of [1, 2, 3, 4]) d.server.signal("go", n);
      await d.task();
      deepEqual(await d.finish(), [[1, 4], 2, 3]);
    },
  },
  {
    name: "signals that came before the first turn go to the waiters of that turn in the order of their asking",
    async run() {
      const w = workflow("W", async () => {
        const first = waitForSignal(go);
        const second = waitForSignal(go);
        const third = select([on(go, ([n]) => n)]);
        return [await first, await second, await third];
      });
      const d = await drive(w);
      for (const n of [1, 2, 3]) d.server.signal("go", n);
      await d.task();
      deepEqual(await d.finish(), [1, 2, 3]);
    },
  },
  {
    name: "a start that names a parent alone, as older servers do, names no root",
    async run() {
      const w = workflow("W", () => {
        const { parent, root } = workflowInfo();
        return Promise.resolve([parent, root ?? "none"]);
      });
      const parent = { workflowId: "p", runId: "pr" };
      const root = { workflowId: "g", runId: "gr" };
      const alone = await drive(w, { started: { parentWorkflowExecution: parent } });
      await alone.task();
      deepEqual(await alone.finish(), [parent, "none"]);
      const both = await drive(w, { started: { parentWorkflowExecution: parent, rootWorkflowExecution: root } });
      await both.task();
      deepEqual(await both.finish(), [parent, root]);
    },
  },
  ...[1, 2, 10].map((depth): Case => ({
    name: `what the function of sideEffect leaves in microtasks is its own, ${depth} deep, and the turn goes on with its own`,
    async run() {
      const w = workflow("W", async () => {
        const own = sideEffect(() => {
          let left = Promise.resolve();
          for (let i = 0; i < depth; i++) left = left.then(() => {});
          left.then(() => void acts.work(1)).catch(() => {});
          return 7;
        });
        await sleep(1);
        return own;
      });
      const d = await drive(w);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /^work was called in the function of sideEffect|activity "?work"?.* in the function of sideEffect/,
      );
    },
  })),
  {
    name: "the turn that called sideEffect may use the API again at once, also in microtasks",
    async run() {
      const w = workflow("W", async () => {
        const before = Promise.resolve();
        const own = sideEffect(() => 7);
        await before;
        await null;
        await sleep(1);
        return own;
      });
      const d = await drive(w);
      equal(await d.auto(), 7);
    },
  },
  {
    name: "a deadlock that a second look does not find again is told as it was found first",
    async run() {
      let looks = 0;
      const w = workflow("W", async () => {
        if (looks++ === 0) await new Promise(() => {});
        await sleep(1);
      });
      const d = await drive(w);
      const outcome = await d.task();
      equal(outcome.response?.$case, "failed");
      equal(looks, 2);
      match(d.server.taskFailure!.failure.message, /^DEADLOCK/);
    },
  },
  {
    name: "a divergence names the line of the command that differs, not of another of the same task",
    async run() {
      let changed = false;
      const first = () => sleep(1);
      const second = () => acts.work(2);
      const third = () => sleep(3);
      const w = workflow("W", async () => {
        await Promise.all([first(), ...(changed ? [second()] : []), third()]);
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      d.server.fireTimer("2");
      await d.task();
      changed = true;
      const { verdict, error } = await d.replay();
      equal(verdict, "nondeterminism");
      match(error!.location, /^second /);
    },
  },
  {
    name: "of several misuses in one turn the first fails the task, whatever workflow code catches",
    async run() {
      const w = workflow("W", async () => {
        sideEffect(() => {
          for (const use of [() => sleep(1), () => acts.work(1)]) {
            try {
              void use();
            } catch {
              // The task fails nevertheless.
            }
          }
          return 1;
        });
        return "done";
      });
      const d = await drive(w);
      await d.task();
      match(d.server.taskFailure!.failure.message, /^sleep was called in the function of sideEffect/);
    },
  },
  {
    name: "code that runs between turns, while the result is encoded, has no fiber to use the API with",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        return { toJSON: () => (void sleep(1), "encoded") };
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      match(d.server.taskFailure!.failure.message, /sleep was called/);
    },
  },
  {
    name: "a rejection that is handled before the activation is quiet is none",
    async run() {
      const w = workflow("W", async () => {
        const p = Promise.reject(new TypeError("handled in time"));
        await sleep(0);
        await null;
        try {
          await p;
        } catch (e) {
          return (e as Error).message;
        }
      });
      const d = await drive(w);
      await d.task();
      equal(await d.finish(), "handled in time");
    },
  },
  {
    name: "promises of primitives that nobody awaits are no unhandled rejections",
    async run() {
      const w = workflow("W", async () => {
        void acts.work(1);
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await d.task();
      d.server.failActivity("1", new ApplicationFailure("nobody cares"));
      await d.task();
      equal(d.server.taskFailure, undefined);
      d.server.fireTimer("1");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name: "user promises that end by the workflow's cancellation are no unhandled rejections",
    async run() {
      const w = workflow("W", async () => {
        const helper = (async () => {
          await acts.work(1);
        })();
        await sleep("1h");
        await helper;
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      equal(d.server.taskFailure, undefined);
      equal(d.server.closed?.kind, "cancelled");
    },
  },
  {
    name: "eviction drops and never rejects: finally does not run, and the next task replays",
    async run() {
      const ran: string[] = [];
      const w = workflow("W", async () => {
        try {
          await sleep("1h");
          ran.push("woken");
        } finally {
          ran.push("finally");
        }
        return "done";
      });
      const d = await drive(w);
      await d.task();
      const before = liveHandles();
      d.parts.runner.evict(d.server.runId);
      equal(liveHandles(), before - 1);
      await hop();
      deepEqual(ran, []);
      d.server.fireTimer("1");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name: "a sync handler that leaves microtasks behind keeps its slot for them",
    async run() {
      const labels: (string | undefined)[] = [];
      const w = workflow("W", () =>
        receive(0, [
          on(go, ([n], s) => {
            void (async () => {
              await null;
              await null;
              labels.push(current.fiber?.label);
            })();
            return stop(s + n);
          }),
        ]));
      const d = await drive(w);
      d.server.signal("go", 2);
      await d.task();
      deepEqual(labels, ['handler of signal "go"']);
    },
  },
  {
    name: "the slot is empty between activations, and host code never sees a fiber",
    async run() {
      const d = await drive(workflow("W", () => sleep("1h")));
      await d.task();
      equal(current.fiber, undefined);
      equal(current.run, undefined);
      equal(current.closure, undefined);
    },
  },
  {
    name: "update handlers of one task run in the order of arrival, each to its end before the next",
    async run() {
      const ask = update<[number], number>("ask");
      const w = workflow("W", () =>
        receive([] as number[], [
          on(ask, async ([n], s) => {
            for (let i = 0; i < 10 - n; i++) await null;
            return reply(s.length, [...s, n]);
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const updates = [1, 2, 3].map((n) => d.server.update(`u${n}`, "ask", n));
      await d.task();
      deepEqual(updates.map((u) => u.result), [0, 1, 2]);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [1, 2, 3]);
    },
  },
];
