// Values that history remembers, and what primitives put on the wire
// (docs/dev/semantics/values.md).
import {
  activities,
  deprecatePatch,
  log,
  now,
  patched,
  random,
  sideEffect,
  sleep,
  type TaskPriority,
  uuid4,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();

export const cases: Case[] = [
  {
    name: "sleep: 0 has no timer, fractions are rounded up, negative and NaN throw a RangeError",
    async run() {
      const errors: string[] = [];
      const w = workflow("W", async () => {
        await sleep(0);
        for (const bad of [-1, NaN, Infinity, "soon"]) {
          try {
            await sleep(bad);
          } catch (e) {
            errors.push((e as Error).name);
          }
        }
        await sleep(1.2);
        await sleep("1.5s", { summary: "a nap" });
      });
      const d = await drive(w);
      await d.auto();
      deepEqual(errors.slice(0, 4), ["RangeError", "RangeError", "RangeError", "RangeError"]);
      const started = d.server.events.flatMap((e) =>
        e.attributes.case === "timerStartedEventAttributes" ? [e.attributes.value] : []
      );
      deepEqual(
        started.map((t) => [Number(t.startToFireTimeout!.seconds), t.startToFireTimeout!.nanos]),
        [[0, 2e6], [1, 5e8]],
      );
    },
  },
  {
    name: "activity defaults: start to close 30 s, nothing else; options and overrides on the wire",
    async run() {
      const full = activities<{ pay(): void }>({
        prefix: "shop.",
        startToClose: "1m",
        scheduleToClose: "10m",
        scheduleToStart: "5m",
        heartbeat: "5s",
        retry: {
          initialInterval: "2s",
          backoffCoefficient: 3,
          maximumInterval: "1m",
          maximumAttempts: 5,
          nonRetryableErrorTypes: ["Bad"],
        },
        taskQueue: "other",
      });
      const w = workflow("W", async () => {
        await acts.work(1);
        await full.pay();
        await full.pay.with({ startToClose: 500, activityId: "mine", summary: "paying" })();
        await acts.work.with({ scheduleToClose: "1h" })(2);
      });
      const d = await drive(w);
      await d.auto({ work: () => 0, "shop.pay": () => undefined });
      const scheduled = d.server.events.flatMap((e) =>
        e.attributes.case === "activityTaskScheduledEventAttributes" ? [e.attributes.value] : []
      );
      const seconds = (x: { seconds: bigint; nanos: number } | undefined) =>
        x === undefined ? 0 : Number(x.seconds) + x.nanos / 1e9;
      deepEqual(
        scheduled.map((a) => [
          a.activityId,
          a.activityType!.name,
          a.taskQueue?.name,
          seconds(a.startToCloseTimeout),
          seconds(a.scheduleToCloseTimeout),
          seconds(a.scheduleToStartTimeout),
          seconds(a.heartbeatTimeout),
          a.retryPolicy?.maximumAttempts ?? 0,
        ]),
        [
          ["1", "work", "q", 30, 0, 0, 0, 0],
          ["2", "shop.pay", "other", 60, 600, 300, 5, 5],
          ["mine", "shop.pay", "other", 0.5, 600, 300, 5, 5],
          ["4", "work", "q", 30, 3600, 0, 0, 0],
        ],
      );
      const retry = scheduled[1]!.retryPolicy!;
      deepEqual([
        seconds(retry.initialInterval),
        retry.backoffCoefficient,
        seconds(retry.maximumInterval),
        retry.nonRetryableErrorTypes,
      ], [
        2,
        3,
        60,
        ["Bad"],
      ]);
    },
  },
  {
    name: "the priority of an activity is on the wire; without one it is the workflow's",
    async run() {
      const low = activities<{ work(n: number): number }>({ priority: { priorityKey: 5 } });
      const shared = { priorityKey: 2, fairnessKey: "shop-é", fairnessWeight: 0.5 };
      const errors: string[] = [];
      const w = workflow("W", async () => {
        for (const bad of [{ priorityKey: 0 }, { key: 1 }, { fairnessWeight: 2000 }, 7]) {
          try {
            acts.work.with({ priority: bad as TaskPriority });
          } catch (e) {
            errors.push((e as Error).message);
          }
        }
        await acts.work(1);
        await low.work(2);
        await low.work.with({ priority: shared })(3);
        await low.work.with({ summary: "as before" })(4);
      });
      const d = await drive(w);
      await d.auto({ work: () => 0 });
      const priorities = d.server.events.flatMap(({ attributes }) =>
        attributes.case === "activityTaskScheduledEventAttributes"
          ? [attributes.value.priority]
          : []
      );
      const fields = priorities.map((priority) =>
        priority && [priority.priorityKey, priority.fairnessKey, priority.fairnessWeight]
      );
      deepEqual(fields, [undefined, [5, "", 0], [2, "shop-é", 0.5], [5, "", 0]]);
      deepEqual(errors.slice(0, 4), [
        "priority.priorityKey must be a whole number from 1 to 2147483647, not 0",
        'priority has no option "key"; known options: priorityKey, fairnessKey, fairnessWeight',
        "priority.fairnessWeight must be a finite number from 0.001 to 1000, not 2000",
        "priority must be an object of its options, not 7",
      ]);
    },
  },
  {
    name: "now, random and uuid4 are the same on replay, and now moves with the tasks",
    async run() {
      const w = workflow("W", async () => {
        const first = [now(), random(), uuid4()];
        await sleep("1s");
        return [first, [now(), random(), uuid4()]];
      });
      const d = await drive(w);
      const [a, b] = await d.auto() as [[number, number, string], [number, number, string]];
      equal(b[0] - a[0], 1000);
      ok(a[1] >= 0 && a[1] < 1 && a[1] !== b[1]);
      match(a[2], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const other = await drive(w, { runId: "00000000-2222-4333-8444-555555555555" });
      const [c] = await other.auto() as [[number, number, string]];
      ok(c[1] !== a[1] && c[2] !== a[2]);
    },
  },
  {
    name: "sideEffect: a throw, a promise or an API call in it fails the task",
    async run() {
      const failure = async (fn: () => unknown) => {
        const d = await drive(workflow("W", async () => {
          try {
            sideEffect(fn as () => number);
          } catch {
            // it does not help
          }
        }));
        await d.task();
        return d.server.taskFailure?.failure.message ?? "";
      };
      equal(
        await failure(() => {
          throw new Error("broken");
        }),
        "broken",
      );
      match(await failure(async () => 1), /returned a promise; use an activity/);
      match(await failure(() => random()), /random was called in the function of sideEffect/);
    },
  },
  {
    name: "patched: true live, false for histories without it, remembered only when true",
    async run() {
      let version = 1;
      const w = workflow("W", async () => {
        const seen: boolean[] = [];
        if (version > 1) seen.push(patched("p"));
        await sleep(1);
        if (version > 1) seen.push(patched("p"));
        return seen;
      });
      const old = await drive(w, { cached: false });
      await old.task();
      version = 2;
      old.server.fireTimer("1");
      await old.task();
      // Replaying the first task returns false; the second is live and returns true.
      deepEqual(old.server.closed?.result, [false, true]);
      equal((await old.replay()).verdict, "ok");
      const fresh = await drive(w);
      await fresh.task();
      deepEqual(fresh.commands(), ["SET_PATCH_MARKER", "START_TIMER 1"]);
      fresh.server.fireTimer("1");
      await fresh.task();
      deepEqual(await fresh.finish(), [true, true]);
    },
  },
  {
    name: "deprecatePatch: histories with and without the marker replay",
    async run() {
      let code = (): unknown => patched("p");
      const w = workflow("W", async () => {
        code();
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await d.auto();
      code = () => deprecatePatch("p");
      equal((await d.replay()).verdict, "ok");
      code = () => undefined;
      const removed = await d.replay();
      equal(removed.verdict, "nondeterminism");
      const bare = await drive(w);
      await bare.auto();
      code = () => deprecatePatch("p");
      equal((await bare.replay()).verdict, "ok");
    },
  },
  {
    name: "workflowInfo has the run's facts, including the memo",
    async run() {
      const w = workflow("W", async () => {
        const i = workflowInfo();
        const first = i.historyLength;
        await sleep(1);
        return {
          ids: [
            i.workflowType,
            i.workflowId,
            i.runId,
            i.firstExecutionRunId,
            i.continuedFromRunId,
            i.namespace,
            i.taskQueue,
          ],
          numbers: [
            i.attempt,
            first,
            workflowInfo().historyLength,
            i.taskTimeoutMs,
            i.runTimeoutMs,
          ],
          memo: i.memo,
          rest: [
            i.continueAsNewSuggested,
            i.cancelReason === undefined,
            i.parent === undefined,
            i.cronSchedule,
            i.historySizeBytes > 0,
          ],
        };
      });
      const d = await drive(w, { memo: { team: "blue" } });
      const id = d.server.runId;
      deepEqual(await d.auto(), {
        ids: ["W", "wf", id, id, "", "default", "q"],
        numbers: [1, 3, 8, 10000, 0],
        memo: { team: "blue" },
        rest: [false, true, true, "", true],
      });
    },
  },
  {
    name: "log is structured, silent on replay, and knows the run",
    async run() {
      const w = workflow("W", async () => {
        log.info("one", { n: 1 });
        await sleep(1);
        log.debug("two");
        log.warn("three");
        log.error("four");
      });
      const d = await drive(w, { cached: false });
      await d.auto();
      deepEqual(
        d.logs.map((l) => [l.level, l.message, l.fields, l.source, l.workflowType, l.workflowId]),
        [
          ["info", "one", { n: 1 }, "workflow", "W", "wf"],
          ["debug", "two", {}, "workflow", "W", "wf"],
          ["warn", "three", {}, "workflow", "W", "wf"],
          ["error", "four", {}, "workflow", "W", "wf"],
        ],
      );
    },
  },
];
