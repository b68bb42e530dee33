// Rejections that nothing handles, and those that only look like it
// (docs/dev/semantics/execution.md).
import { activities, ApplicationFailure, sleep, workflow } from "../../ts/workflow/mod.ts";
import { hop } from "../../ts/platform/hop.ts";
import type { RejectionHost } from "../../ts/executor/program/rejections.ts";
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive, makeRunner } from "./driver.ts";
import { rejectionHost } from "./rejection_host.ts";

const acts = activities<{ work(x: number): number }>();

export const cases: Case[] = [
  {
    name:
      "an unhandled rejection fails the task of its run; two runs alternating in one realm are distinguished",
    async run() {
      const bad = workflow("Bad", async () => {
        for (let i = 0;; i++) {
          await sleep(1);
          if (i === 1) void Promise.reject(new TypeError("not handled"));
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
        /unhandled promise rejection in a workflow \(TypeError: not handled\)/,
      );
      match(one.server.taskFailure!.failure.stackTrace, /:\d+:\d+/);
      equal(two.server.taskFailure, undefined);
      ok(two.outcomes.length === one.outcomes.length);
    },
  },
  {
    name:
      "a host that reports rejections one macrotask late is waited for, in a task and in a replay",
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
        if (leaves) void Promise.reject(new TypeError("not handled"));
        await sleep(1);
        return "done";
      });
      const d = await drive(w, { rejections: late });
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      leaves = true;
      equal(
        (await d.replay()).error?.message.includes("not handled"),
        true,
        "the last task of a replay",
      );
      leaves = false;
      d.server.fireTimer("2");
      await d.task();
      equal(await d.finish(), "done");
      leaves = true;
      const failing = await drive(w, { rejections: late });
      await failing.task();
      failing.server.fireTimer("1");
      await failing.task();
      match(
        failing.server.taskFailure!.failure.message,
        /unhandled promise rejection in a workflow \(TypeError: not handled\)/,
      );
    },
  },
  {
    name: "a rejection that is handled before the activation is quiet does not count",
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
    name: "promises of primitives that are not awaited do not count as unhandled rejections",
    async run() {
      const w = workflow("W", async () => {
        void acts.work(1);
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await d.task();
      d.server.failActivity("1", new ApplicationFailure("failure without a handler"));
      await d.task();
      equal(d.server.taskFailure, undefined);
      d.server.fireTimer("1");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name:
      "user promises that reject by the workflow's cancellation do not count as unhandled rejections",
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
];
