// Cancellation, shield, parallel, and what a scope leaves pending (docs/dev/semantics/scopes.md).
import {
  activities,
  ActivityFailure,
  ApplicationFailure,
  cancelled,
  CancelledFailure,
  isCancellation,
  noreply,
  on,
  parallel,
  receive,
  reply,
  shield,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number; undo(): void }>();
const waiting = activities<{ work(x: number): number }>({
  cancellationType: "waitCancellationCompleted",
});
const abandoned = activities<{ work(x: number): number }>({ cancellationType: "abandon" });
const go = signal<[number]>("go");
const end = signal("end");
const ask = update<[number], number>("ask");
const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;

export const cases: Case[] = [
  {
    name: "a cancellation rejects the blocked primitive; uncaught, the workflow is cancelled",
    async run() {
      const d = await drive(workflow("W", () => sleep("1h")));
      await d.task();
      d.server.requestCancel("enough");
      await d.task();
      deepEqual(d.commands(), ["CANCEL START_TIMER 1", "CANCEL_WORKFLOW"]);
      equal(d.server.closed?.kind, "cancelled");
      await d.checkReplay();
    },
  },
  {
    name:
      "caught, the workflow continues: cancelled() is true, finally runs, primitives need a shield",
    async run() {
      const w = workflow("W", async () => {
        const seen: unknown[] = [cancelled()];
        try {
          await sleep("1h");
        } catch (e) {
          seen.push(describeError(e), cancelled(), workflowInfo().cancelReason);
        } finally {
          seen.push(await sleep(5).catch(describeError));
          await shield(async () => {
            await acts.undo();
            seen.push("undone");
          });
        }
        return seen;
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel("enough");
      await d.task();
      deepEqual(d.commands(), ["CANCEL START_TIMER 1", "SCHEDULE_ACTIVITY 1"]);
      d.server.completeActivity("1");
      await d.task();
      const failure = "CancelledFailure: Workflow cancelled: enough";
      deepEqual(await d.finish(), [false, failure, true, "enough", failure, "undone"]);
    },
  },
  {
    name: "a cancellation reaches run and all child scopes in order of creation",
    async run() {
      const order: string[] = [];
      const note = (what: string) => (e: unknown) => {
        order.push(`${what} ${(e as Error).name}`);
        throw e;
      };
      const w = workflow("W", async () => {
        await parallel([
          () => sleep("1h").catch(note("first")),
          () => waitForSignal("x").catch(note("second")),
          () => parallel([() => sleep("2h").catch(note("nested"))]),
        ]);
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      deepEqual(order, [
        "first CancelledFailure",
        "second CancelledFailure",
        "nested CancelledFailure",
      ]);
      equal(d.server.closed?.kind, "cancelled");
      await d.checkReplay();
    },
  },
  {
    name:
      "activities: tryCancel rejects in the same task, waitCancellationCompleted on confirmation, abandon sends no request",
    async run() {
      const w = workflow("W", () =>
        shield(async () => {
          const results = await Promise.allSettled([
            acts.work(1),
            waiting.work(2),
            abandoned.work(3),
          ]);
          return results.map((r) =>
            r.status === "rejected" ? [r.reason.name, isCancellation(r.reason)] : r.value
          );
        }));
      const unshielded = workflow("U", async () => {
        const results = await Promise.allSettled([
          acts.work(1),
          waiting.work(2),
          abandoned.work(3),
        ]);
        return results.map((r) =>
          r.status === "rejected" ? [r.reason.name, isCancellation(r.reason)] : r.value
        );
      });
      const d = await drive(unshielded);
      await d.task();
      d.server.requestCancel();
      await d.task();
      deepEqual([...d.server.activities.values()].map((a) => a.cancelRequested), [
        true,
        true,
        false,
      ]);
      equal(d.server.closed, undefined);
      d.server.cancelActivity("2");
      await d.task();
      const failed = ["ActivityFailure", true];
      deepEqual(await d.finish(), [failed, failed, failed]);
      const s = await drive(w);
      await s.task();
      s.server.requestCancel();
      await s.task();
      deepEqual([...s.server.activities.values()].map((a) => a.cancelRequested), [
        false,
        false,
        false,
      ]);
    },
  },
  {
    name:
      "cancellation in receive: handlers in flight end first, queued updates fail, no message is accepted, receive rejects",
    async run() {
      const w = workflow("W", async () => {
        try {
          await receive([] as number[], [
            on(ask, async ([n], s) => {
              try {
                await acts.work(n);
              } catch {
                return reply(-1, s);
              }
              return reply(n, s);
            }),
            on(go, ([n], s) => noreply([...s, n])),
          ]);
        } catch (e) {
          return describeError(e);
        }
      });
      const d = await drive(w);
      const running = d.server.update("u1", "ask", 1);
      await d.task();
      const queued = d.server.update("u2", "ask", 2);
      d.server.signal("go", 1);
      await d.task();
      d.server.requestCancel();
      await d.task();
      equal(running.result, -1);
      equal(queued.failure?.message, "Workflow cancelled");
      equal(await d.finish(), "CancelledFailure: Workflow cancelled");
      match(d.logs[0]!.message, /ended with 1 unprocessed signal: go/);
    },
  },
  {
    name: "a shielded receive continues to take messages after the cancellation",
    async run() {
      const w = workflow(
        "W",
        () =>
          shield(() =>
            receive(0, [
              on(go, async ([n], s) => (await sleep(1), noreply(s + n))),
              on(end, (_, s) => stop(s)),
            ])
          ),
      );
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      d.server.signal("go", 4);
      d.server.signal("end");
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      equal(await d.finish(), 4);
    },
  },
  {
    name: "an async signal handler that ends by cancellation is not an error",
    async run() {
      const w = workflow(
        "W",
        () => receive(0, [on(go, (_, s) => spawnAsync(() => sleep("1h"), s))]),
      );
      const d = await drive(w);
      d.server.signal("go", 1);
      await d.task();
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed?.kind, "cancelled");
      deepEqual(d.logs, []);
      await d.checkReplay();
    },
  },
  {
    name:
      "a cancellation request in the first task applies after the run's first turn, in event order",
    async run() {
      const w = workflow("W", async () => {
        const before = cancelled();
        const result = await sleep("1h").catch((e) => (e as Error).name);
        return [before, cancelled(), result];
      });
      const together = await drive(w);
      together.server.requestCancel();
      await together.task();
      const apart = await drive(w);
      await apart.task();
      apart.server.requestCancel();
      await apart.task();
      deepEqual(await together.finish(), [false, true, "CancelledFailure"]);
      deepEqual(await apart.finish(), [false, true, "CancelledFailure"]);
    },
  },
  {
    name: "a second cancellation request has no effect",
    async run() {
      const w = workflow("W", async () => {
        await sleep("1h").catch(() => {});
        return await shield(() => sleep(1).then(() => workflowInfo().cancelReason));
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel("one");
      d.server.requestCancel("two");
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      equal(await d.finish(), "one");
    },
  },
  {
    name:
      "parallel: branches start in order, each to its first block; results settle in order; a failure does not stop other branches",
    async run() {
      const order: string[] = [];
      const w = workflow("W", async () => {
        const results = await parallel([
          async () => {
            order.push("a");
            await null;
            order.push("a after a tick");
            return await acts.work(1);
          },
          async () => {
            order.push("b");
            await sleep(1);
            throw new ApplicationFailure("b failed");
          },
          () => {
            order.push("c");
            return "plain";
          },
          () => {
            throw new TypeError("at once");
          },
        ]);
        return results.map((r) => r.ok ? r.value : describeError(r.error));
      });
      const d = await drive(w);
      await d.task();
      deepEqual(order, ["a", "a after a tick", "b", "c"]);
      deepEqual(d.commands(), ["SCHEDULE_ACTIVITY 1", "START_TIMER 1"]);
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.closed, undefined);
      d.server.completeActivity("1", 10);
      await d.task();
      deepEqual(await d.finish(), [
        10,
        "ApplicationFailure: b failed",
        "plain",
        "TypeError: at once",
      ]);
    },
  },
  {
    name:
      "parallel rejects with a cancellation instead of returning it as a result; other branches finish first",
    async run() {
      const w = workflow("W", async () => {
        const done: string[] = [];
        try {
          await parallel([
            () => sleep("1h"),
            () => shield(async () => void done.push(String(await acts.work(1)))),
          ]);
          return "not reached";
        } catch (e) {
          return [describeError(e), done];
        }
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed, undefined);
      d.server.completeActivity("1", 5);
      await d.task();
      deepEqual(await d.finish(), ["CancelledFailure: Workflow cancelled", ["5"]]);
    },
  },
  {
    name: "if all branches handle the cancellation, parallel returns their results",
    async run() {
      const w = workflow(
        "W",
        async () =>
          (await parallel([() => sleep("1h").catch(() => "handled")])).map((r) => r.ok && r.value),
      );
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      deepEqual(await d.finish(), ["handled"]);
    },
  },
  {
    name: "code of an ended branch cannot start work: its calls reject without a command",
    async run() {
      const said: string[] = [];
      const w = workflow("W", async () => {
        await parallel([async () => {
          sleep("1h").catch(() => acts.work(1)).catch((e: Error) =>
            void said.push(`${e.name}: ${e.message}`)
          );
        }]);
        await sleep(1);
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands().filter((word) => /ACTIVITY/.test(word)), []);
      match(
        said.join(),
        /^CancelledFailure: .* was called after its scope \(branch 1 of parallel in run of workflow "W"\) had ended$/,
      );
      await d.auto();
    },
  },
  {
    name:
      "losers of a race stay pending until their scope ends; then they are canceled in order of creation, with a warning",
    async run() {
      const w = workflow("W", async () => {
        const [r] = await parallel([
          async () => {
            const won = await Promise.race([
              acts.work(1),
              sleep("1h"),
              waitForSignal("never"),
              sleep("2h"),
            ]);
            await sleep(3);
            return won;
          },
        ]);
        await sleep(4);
        return r.ok && r.value;
      });
      const d = await drive(w);
      await d.task();
      d.server.completeActivity("1", "won");
      await d.task();
      deepEqual(d.commands(), ["START_TIMER 3"]);
      d.server.signal("never"); // no waiter takes it
      d.server.fireTimer("3");
      await d.task();
      deepEqual(d.commands(), ["CANCEL START_TIMER 1", "CANCEL START_TIMER 2", "START_TIMER 4"]);
      deepEqual(d.logs, [], "timers that lose a race are expected to be left");
      d.server.fireTimer("4");
      await d.task();
      equal(await d.finish(), "won");
    },
  },
  {
    name: "a pending signal waiter of an ended scope is removed and consumes nothing",
    async run() {
      const w = workflow("W", async () => {
        await parallel([() => void waitForSignal("x")]);
        return await waitForSignal("x");
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("x", 1);
      await d.task();
      equal(await d.finish(), 1);
    },
  },
  {
    name: "calls that run does not await are canceled before its closing command",
    async run() {
      const w = workflow("W", async () => {
        void acts.work(1);
        void sleep("1h");
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      deepEqual(d.commands(), [
        "CANCEL SCHEDULE_ACTIVITY 1",
        "CANCEL START_TIMER 1",
        "COMPLETE_WORKFLOW",
      ]);
      equal(await d.finish(), "done");
    },
  },
  {
    name: "floating code of a handler ends silently: its promise and its next calls reject",
    async run() {
      const seen: string[] = [];
      const w = workflow("W", () =>
        receive(0, [
          on(go, async ([n], s) => {
            void (async () => {
              try {
                await sleep("1h");
              } finally {
                seen.push(await acts.undo().then(() => "undone", describeError));
              }
            })();
            await sleep(1);
            return noreply(s + n);
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      d.server.signal("go", 2);
      await d.task();
      d.server.fireTimer("2");
      await d.task();
      equal(d.server.taskFailure, undefined);
      match(seen[0]!, /^CancelledFailure: activity "undo" was called after its scope/);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 2);
    },
  },
  {
    name: "another fiber that awaits a promise of an ended scope gets the cancellation",
    async run() {
      const w = workflow("W", async () => {
        let shared: Promise<unknown> | undefined;
        const [, second] = await parallel([
          () => {
            shared = sleep("1h");
          },
          () => shared!.catch(describeError),
        ]);
        return second.ok && second.value;
      });
      const d = await drive(w);
      await d.task();
      match(
        String(await d.finish()),
        /^CancelledFailure: sleep was cancelled: branch 1 of parallel/,
      );
    },
  },
  {
    name: "parallel([]) returns [] at once without a command",
    async run() {
      const d = await drive(workflow("W", () => parallel([])));
      await d.task();
      deepEqual(await d.finish(), []);
      deepEqual(d.allCommands(), ["COMPLETE_WORKFLOW"]);
    },
  },
  {
    name:
      "a failed activity rejects with an ActivityFailure and its cause; uncaught it fails the workflow",
    async run() {
      let caught: unknown;
      const w = workflow("W", async () => {
        try {
          await acts.work(1);
        } catch (e) {
          caught = e;
          throw e;
        }
      });
      const d = await drive(w);
      await d.task();
      d.server.failActivity(
        "1",
        new ApplicationFailure("broken", { type: "Broken", details: [{ at: 3 }] }),
      );
      await d.task();
      ok(caught instanceof ActivityFailure && caught.cause instanceof ApplicationFailure);
      deepEqual([caught.activityType, caught.cause.type, caught.cause.details], ["work", "Broken", [
        { at: 3 },
      ]]);
      equal(d.server.closed?.kind, "failed");
      equal(d.server.closed?.failure?.cause?.message, "broken");
      await d.checkReplay();
    },
  },
  {
    name: "a CancelledFailure without a cancellation fails the workflow",
    async run() {
      const d = await drive(workflow("W", async () => {
        throw new CancelledFailure("mine");
      }));
      await d.task();
      equal(d.server.closed?.kind, "failed");
      await d.checkReplay();
    },
  },
];
