// How workflow code runs (docs/dev/semantics/execution.md): turns, promises between fibers,
// slots, eviction.
import {
  activities,
  ApplicationFailure,
  on,
  parallel,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { hop } from "../../ts/platform/hop.ts";
import { liveHandles } from "../../ts/core/handle.ts";
import { current } from "../../ts/executor/program/current.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

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
    name: "concurrent hops resolve in order",
    async run() {
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => hop().then(() => void order.push(n))));
      deepEqual(order, [1, 2, 3]);
    },
  },
  {
    name:
      "one awaiter is resumed at a time, in the order of events, however deep its continuation goes",
    async run() {
      const order: string[] = [];
      const w = workflow("W", async () => {
        const one = async (name: string, p: Promise<unknown>) => {
          await p;
          for (let i = 0; i < 50; i++) await null;
          order.push(name);
        };
        await Promise.all([
          one("first", acts.work(1)),
          one("second", acts.work(2)),
          one("third", sleep(1)),
        ]);
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
    name: "code resumed by another fiber's promise runs as part of that fiber",
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
    name: "a start with a parent but no root, as from older servers, has no root",
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
      const both = await drive(w, {
        started: { parentWorkflowExecution: parent, rootWorkflowExecution: root },
      });
      await both.task();
      deepEqual(await both.finish(), [parent, root]);
    },
  },
  {
    name:
      "eviction discards code without rejecting: finally does not run, and the next task replays",
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
    name:
      "update handlers of one task run in the order of arrival, each to its end before the next",
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
