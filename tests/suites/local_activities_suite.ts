// Local activities end to end: run within the workflow task, tried again there or behind a timer,
// held over task heartbeats, cancelled, limited. The same tests run on the embedded engine (memory
// and file) and on a Temporal cluster.
import assert from "node:assert/strict";
import {
  activityContext,
  activityInfo,
  completeAsync,
  heartbeat,
  sleep as activitySleep,
} from "../../ts/activity/mod.ts";
import { type Client, WorkflowFailedError } from "../../ts/client/mod.ts";
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "../../ts/converter/mod.ts";
import {
  isCancellation,
  localActivities,
  type LocalActivityOptions,
  parallel,
  publishState,
  query,
  signal,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import type { OnService, Setting } from "../support/services.ts";
import { until } from "../support/until.ts";

interface Acts {
  work(input: string): Promise<string>;
}

const acts = localActivities<Acts>();
const calls = workflow(
  "Calls",
  async (input: string, options: LocalActivityOptions) => await acts.work.with(options)(input),
);
const chain = workflow("Chain", async () => {
  const first = await acts.work("1");
  const [a, b] = await parallel([() => acts.work("2"), () => acts.work("3")]);
  return [first, a, b].map((part) => JSON.stringify(part)).join(" ") + await acts.work("4");
});
const go = signal<[string]>("go");
const state = query<string>("state");
const concurrent = workflow("Concurrent", {
  messages: { state },
  queries: { state: (published: string) => published },
  async run(options: LocalActivityOptions) {
    publishState("calling");
    const [result, signalled] = await parallel([
      () => acts.work.with(options)("concurrent"),
      async () => {
        const said = await waitForSignal(go);
        publishState(said);
        return said;
      },
    ]);
    return [result, signalled];
  },
});
const stopped = workflow("Stopped", async (options: LocalActivityOptions) => {
  try {
    return await acts.work.with(options)("stopped");
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}, ${isCancellation(error)}`;
  }
});
const all = [calls, chain, concurrent, stopped];

async function eventTypes(client: Client, workflowId: string): Promise<string[]> {
  const history = await client.getHandle(undefined, workflowId).fetchHistory();
  return history.events.map(({ attributes }) => attributes.case ?? "?");
}

/**
 * Heartbeats of a workflow task are sent after 80 % of it. A server next to other programs needs
 * more than a second for them at times, and then the task and its activities are repeated.
 */
const heartbeatTask = ({ embedded }: Setting) => (embedded ? "1s" : "3s");

const count = (events: readonly string[], name: string) =>
  events.filter((event) => event.startsWith(name)).length;

export function localActivitiesSuite(onService: OnService): void {
  onService(
    "local activities run within the workflow task, in sequence and concurrently",
    async ({ client, work, id }) => {
      const seen: unknown[] = [];
      const signals: AbortSignal[] = [];
      const keys = new Set<string>();
      const work1 = async (input: string) => {
        const {
          isLocal,
          attempt,
          activityType,
          workflowType,
          startToCloseTimeoutMs,
          idempotencyKey,
        } = activityInfo();
        seen.push({
          isLocal,
          attempt,
          activityType,
          workflowType,
          startToCloseTimeoutMs,
          key: idempotencyKey.replace(/[0-9a-f]{40}$/, "*"),
        });
        keys.add(idempotencyKey);
        signals.push(activityContext().cancelled);
        heartbeat("not recorded");
        await activitySleep(1);
        return `did ${input}`;
      };
      await work({ workflows: all, activities: { work: work1 } }, async () => {
        const workflowId = id("chain");
        const handle = await client.start(chain, { id: workflowId });
        assert.match(JSON.stringify(await handle.result()), /did 1.*did 2.*did 3.*did 4/);
        const events = await eventTypes(client, workflowId);
        assert.equal(count(events, "markerRecorded"), 4);
        assert.equal(count(events, "activityTask"), 0);
        assert.equal(count(events, "workflowTaskCompleted"), 1);
        const same = {
          isLocal: true,
          attempt: 1,
          activityType: "work",
          workflowType: "Chain",
          startToCloseTimeoutMs: 30_000,
        };
        assert.ok(signals.every(({ aborted }) => !aborted), "no activity was canceled");
        const key = `${workflowId}/${handle.runId}/local-*`;
        assert.deepEqual(seen, [1, 2, 3, 4].map(() => ({ ...same, key })));
        assert.equal(keys.size, 4);
      });
    },
  );

  onService(
    "a local activity is retried in the worker, and fails with the last attempt's cause",
    async (setting) => {
      const { client, work, id } = setting;
      let attempts = 0;
      const activities = {
        work(input: string) {
          attempts++;
          if (input === "final") throw ApplicationFailure.nonRetryable("no", { type: "Final" });
          if (input === "async") completeAsync();
          if (attempts < 3 || input === "never") {
            throw new ApplicationFailure(
              `attempt ${activityInfo().attempt}`,
              { type: "Bad" },
            );
          }
          return Promise.resolve(`attempt ${attempts}`);
        },
      };
      const run = async (input: string, options: LocalActivityOptions) => {
        attempts = 0;
        return await client.execute(calls, { id: id(`retry-${input}`), args: [input, options] });
      };
      const failure = async (input: string, options: LocalActivityOptions) => {
        const error = await run(input, options).then(
          (result) => assert.fail(`it completed with ${result}`),
          (e) => e as Error,
        );
        assert.ok(error instanceof WorkflowFailedError, String(error));
        assert.ok(error.cause instanceof ActivityFailure, String(error.cause));
        return error.cause;
      };
      await work({ workflows: all, activities }, async () => {
        const retry = { initialInterval: 5, backoffCoefficient: 1 };
        assert.equal(await run("again", { retry }), "attempt 3");
        const last = await failure("never", { retry: { ...retry, maximumAttempts: 2 } });
        assert.deepEqual([attempts, last.activityType, (last.cause as Error).message], [
          2,
          "work",
          "attempt 2",
        ]);
        assert.equal(
          ((await failure("final", { retry })).cause as ApplicationFailure).type,
          "Final",
        );
        assert.equal(attempts, 1);
        await failure("never", { retry: { ...retry, nonRetryableErrorTypes: ["bad"] } });
        assert.equal(attempts, 1);
        assert.match(
          ((await failure("async", {})).cause as Error).message,
          /cannot be completed from outside/,
        );
      });
    },
  );

  onService(
    "a retry beyond the threshold waits in a timer of the workflow",
    async ({ client, work, id }) => {
      const seen: unknown[] = [];
      const activities = {
        work() {
          const { attempt, activityId, idempotencyKey, scheduledTime } = activityInfo();
          seen.push({ activityId, idempotencyKey, at: scheduledTime!.getTime() });
          if (attempt < 3) throw new Error("not yet");
          return Promise.resolve(`attempt ${attempt}`);
        },
      };
      await work({ workflows: all, activities }, async () => {
        const workflowId = id("backoff");
        const options = {
          retry: { initialInterval: 300, backoffCoefficient: 1 },
          localRetryThreshold: 100,
        };
        assert.equal(
          await client.execute(calls, { id: workflowId, args: ["x", options] }),
          "attempt 3",
        );
        const events = await eventTypes(client, workflowId);
        assert.equal(count(events, "timerFired"), 2);
        assert.equal(count(events, "markerRecorded"), 3);
        assert.equal(seen.length, 3);
        assert.deepEqual(seen[1], seen[0]);
        assert.deepEqual(seen[2], seen[0]);
      });
    },
  );

  for (const cachedWorkflows of [1000, 0]) {
    const cache = cachedWorkflows > 0 ? "" : ", without a cache";
    onService(
      `one that takes longer than a workflow task is held over heartbeats, and runs once${cache}`,
      async (setting) => {
        const { client, work, id } = setting;
        let ran = 0;
        const workflowId = id(`long-${cachedWorkflows}`);
        const activities = {
          async work(input: string) {
            ran++;
            await until(
              "two heartbeats",
              async () => count(await eventTypes(client, workflowId), "workflowTaskCompleted") >= 2,
            );
            return `did ${input}`;
          },
        };
        await work({ workflows: all, activities, cachedWorkflows }, async () => {
          const handle = await client.start(calls, {
            id: workflowId,
            args: ["long", {}],
            taskTimeout: heartbeatTask(setting),
          });
          assert.equal(await handle.result(), "did long");
          assert.equal(ran, 1);
          const events = await eventTypes(client, workflowId);
          assert.equal(count(events, "markerRecorded"), 1);
          assert.ok(count(events, "workflowTaskCompleted") >= 3, events.join());
        });
      },
    );
  }

  onService(
    "attempts in later workflow tasks are reported to the service",
    async (setting) => {
      const { client, work, id } = setting;
      const activities = {
        async work(input: string) {
          const { attempt } = activityInfo();
          // The third attempt lasts until a heartbeat has completed the first workflow task.
          if (attempt === 3) {
            await until(
              "a heartbeat",
              async () =>
                count(await eventTypes(client, id("metered")), "workflowTaskCompleted") > 0,
            );
          }
          if (attempt < 8) throw new Error("not yet");
          return input;
        },
      };
      await work({ workflows: all, activities }, async () => {
        const retry = { initialInterval: 1, backoffCoefficient: 1 };
        const handle = await client.start(calls, {
          id: id("metered"),
          args: ["x", { retry }],
          taskTimeout: heartbeatTask(setting),
        });
        assert.equal(await handle.result(), "x");
        const { events } = await handle.fetchHistory();
        const counts = events.map(({ attributes }) =>
          attributes.case === "workflowTaskCompletedEventAttributes"
            ? attributes.value.meteringMetadata?.nonfirstLocalActivityExecutionAttempts ?? 0
            : 0
        );
        const later = counts.reduce((sum, count) => sum + count, 0);
        // Attempts 4 to 8 began in later tasks; those of the first task are not counted.
        assert.ok(later >= 5 && later < 7, counts.join());
      });
    },
  );

  onService(
    "running activities are canceled according to their type, and a canceled workflow continues to its end",
    async (setting) => {
      const { client, work, id } = setting;
      const ends: string[] = [];
      let ran = 0;
      const activities = {
        async work() {
          ran++;
          const { cancelled } = activityContext();
          await Promise.race([
            new Promise((resolve) => cancelled.addEventListener("abort", resolve)),
            // Longer than two heartbeats.
            new Promise((resolve) => setTimeout(resolve, setting.embedded ? 2500 : 7500)),
          ]);
          ends.push(cancelled.aborted ? activityContext().cancelReason! : "ran on");
          return "its own end";
        },
      };
      await work({ workflows: all, activities }, async () => {
        const run = async (cancellationType: LocalActivityOptions["cancellationType"]) => {
          const before = ran;
          const handle = await client.start(stopped, {
            id: id(`stop-${cancellationType}`),
            args: [{ cancellationType }],
            taskTimeout: heartbeatTask(setting),
          });
          // Before that it would never run. The request comes with the task after a heartbeat.
          await until("it runs", () => ran > before);
          await handle.cancel();
          return await handle.result();
        };
        assert.equal(await run("tryCancel"), "ActivityFailure: Activity cancelled, true");
        await until("the activity was canceled", () => ends.length === 1);
        assert.equal(await run("waitCancellationCompleted"), "its own end");
        assert.equal(await run("abandon"), "ActivityFailure: Activity cancelled, true");
        await until("it ran to its end", () => ends.length === 3);
        assert.deepEqual(ends, ["CANCELLED", "CANCELLED", "ran on"]);
      });
    },
  );

  onService(
    "timeouts of one attempt, of all attempts, and of the wait for a slot apply",
    async ({ client, work, id }) => {
      const told: string[] = [];
      const begun: string[] = [];
      const activities = {
        async work(input: string) {
          const context = activityContext();
          const { cancelled } = context;
          begun.push(input);
          if (input === "fails") throw new Error("no");
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, 1500);
            cancelled.addEventListener("abort", () => {
              clearTimeout(timer);
              told.push(`${input}: ${context.cancelReason}`);
              resolve();
            });
          });
          return input;
        },
      };
      await work({ workflows: all, activities, maxConcurrentLocalActivities: 1 }, async () => {
        const failure = async (input: string, options: LocalActivityOptions) => {
          const run = client.execute(calls, { id: id(`limit-${input}`), args: [input, options] });
          const error = await run.then(
            (result) => assert.fail(`it completed with ${result}`),
            (e) => e as WorkflowFailedError,
          );
          assert.ok(error.cause instanceof ActivityFailure, String(error.cause));
          return error.cause.cause as Error;
        };
        const one = await failure("start", {
          startToClose: 100,
          retry: { maximumAttempts: 2, initialInterval: 5 },
        });
        assert.ok(
          one instanceof TimeoutFailure && one.timeoutType === "START_TO_CLOSE",
          String(one),
        );
        const whole = await failure("close", { startToClose: "1m", scheduleToClose: 200 });
        assert.ok(
          whole instanceof TimeoutFailure && whole.timeoutType === "SCHEDULE_TO_CLOSE",
          String(whole),
        );
        assert.deepEqual(told, ["start: TIMED_OUT", "start: TIMED_OUT", "close: TIMED_OUT"]);
        // Another attempt would start too late: the failure itself is reported.
        const last = await failure("fails", {
          scheduleToClose: 300,
          retry: { initialInterval: 200, backoffCoefficient: 5 },
        });
        assert.equal(last.message, "no");
        const long = client.execute(calls, { id: id("holds the place"), args: ["holds", {}] });
        // A cluster may hand out the later of two workflows first.
        await until("the place is taken", () => begun.includes("holds"));
        const queued = await failure("queued", { scheduleToStart: 300 });
        assert.ok(
          queued instanceof TimeoutFailure && queued.timeoutType === "SCHEDULE_TO_START",
          String(queued),
        );
        assert.equal(await long, "holds");
      });
    },
  );

  onService("startToClose is limited by scheduleToClose", async ({ client, work, id }) => {
    const seen: unknown[] = [];
    const activities = {
      work(input: string) {
        const { attempt, startToCloseTimeoutMs, scheduleToCloseTimeoutMs } = activityInfo();
        seen.push([input, attempt, startToCloseTimeoutMs, scheduleToCloseTimeoutMs]);
        if (input === "longer" && attempt === 1) throw new Error("again");
        return Promise.resolve(input);
      },
    };
    const retry = { initialInterval: 50 };
    await work({ workflows: all, activities }, async () => {
      for (
        const [input, options] of [
          ["one", { startToClose: "5s" }],
          ["all", { scheduleToClose: "5s" }],
          ["shorter", { startToClose: "2s", scheduleToClose: "5s" }],
          ["longer", { startToClose: "5s", scheduleToClose: "2s", retry }],
        ] as const
      ) await client.execute(calls, { id: id(input), args: [input, options] });
    });
    assert.deepEqual(seen, [
      ["one", 1, 5000, undefined],
      ["all", 1, 5000, 5000],
      ["shorter", 1, 2000, 5000],
      ["longer", 1, 2000, 2000],
      ["longer", 2, 2000, 2000],
    ]);
  });

  onService(
    "queries and signals during a local activity are handled with the next task heartbeat",
    async (setting) => {
      const { client, work, id } = setting;
      let release!: (value: string) => void;
      const activities = { work: () => new Promise<string>((resolve) => (release = resolve)) };
      await work({ workflows: all, activities }, async () => {
        const handle = await client.start(concurrent, {
          id: id("concurrent"),
          args: [{}],
          taskTimeout: heartbeatTask(setting),
        });
        assert.equal(await handle.query(state), "calling");
        await handle.signal(go, "said");
        await until("the signal is taken", async () => await handle.query(state) === "said");
        release("done");
        assert.deepEqual(await handle.result(), [{ ok: true, value: "done" }, {
          ok: true,
          value: "said",
        }]);
      });
    },
  );

  onService(
    "a worker without the activity fails the task with its name, and a worker with it continues",
    async ({ client, work, id }) => {
      const failures: string[] = [];
      const events = {
        workflowTaskFailed: ({ message }: { message: string }) => void failures.push(message),
      };
      const handle = await work(
        { workflows: all, activities: { other() {} }, events },
        async () => {
          const started = await client.start(calls, {
            id: id("lacks"),
            args: ["x", {}],
            taskTimeout: "1s",
          });
          await until("the task has failed", () => failures.length > 0);
          return started;
        },
      );
      assert.match(failures[0]!, /this worker has no local activity "work"; it has other/);
      await work({
        workflows: all,
        activities: { work: (input: string) => Promise.resolve(input) },
      }, async () => {
        assert.equal(await handle.result(), "x");
      });
    },
  );

  onService(
    "a stopping worker gives running activities its grace period, then another worker runs them",
    async (setting) => {
      const { client, work, id } = setting;
      let ran = 0;
      const activities = {
        async work(input: string) {
          ran++;
          await activitySleep(1200);
          return input;
        },
      };
      const begin = async (name: string, shutdownGraceMs: number) =>
        await work({ workflows: all, activities, shutdownGraceMs }, async () => {
          const before = ran;
          const handle = await client.start(calls, {
            id: id(name),
            args: [name, {}],
            taskTimeout: heartbeatTask(setting),
          });
          await until("it runs", () => ran > before);
          return handle;
        });
      // The worker has stopped when these complete.
      const graced = await begin("graced", 60_000);
      assert.equal((await graced.describe()).status, "COMPLETED");
      assert.equal(ran, 1);
      const given = await begin("given", 0);
      assert.equal((await given.describe()).status, "RUNNING");
      assert.equal(ran, 2);
      await work(
        { workflows: all, activities },
        async () => assert.equal(await given.result(), "given"),
      );
      assert.equal(ran, 3);
    },
  );
}
