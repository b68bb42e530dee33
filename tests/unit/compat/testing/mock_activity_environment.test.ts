// MockActivityEnvironment, as tests of projects of the official SDK use it.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  activityInfo,
  ApplicationFailure,
  CancelledFailure,
  Context,
  heartbeat,
  log,
  sleep,
} from "../../../../ts/compat/activity/mod.ts";
import { ActivityCancellationDetails } from "../../../../ts/compat/common/mod.ts";
import { defaultActivityInfo, MockActivityEnvironment } from "../../../../ts/compat/testing/mod.ts";
import { DefaultLogger, type LogEntry } from "../../../../ts/compat/worker/mod.ts";

test("an activity runs in a context, with the info that the test gives", async () => {
  const env = new MockActivityEnvironment({ attempt: 2 });
  const info = await env.run(
    async (name: string) =>
      `${name} ${activityInfo().attempt} ${Context.current().info.activityId}`,
    "a",
  );
  assert.equal(info, "a 2 test");
  assert.equal(defaultActivityInfo.attempt, 1);
  assert.throws(() => activityInfo(), /Activity context not initialized/);
});

test("heartbeats are events", async () => {
  const env = new MockActivityEnvironment();
  const beats: unknown[] = [];
  env.on("heartbeat", (details: unknown) => beats.push(details));
  await env.run(async () => {
    heartbeat(1);
    heartbeat({ two: 2 });
    await Promise.resolve();
  });
  assert.deepEqual(beats, [1, { two: 2 }]);
});

test("cancel() reaches sleep, signal and details; later activities start canceled", async () => {
  const env = new MockActivityEnvironment(undefined, { logger: new DefaultLogger("ERROR") });
  env.on(
    "heartbeat",
    () => env.cancel("CANCELLED", new ActivityCancellationDetails({ paused: true })),
  );
  const waits = async () => {
    heartbeat();
    await sleep("1 hour");
  };
  await assert.rejects(
    env.run(waits),
    (error) => error instanceof CancelledFailure && error.message === "CANCELLED",
  );
  assert.equal(env.context.cancellationSignal.aborted, true);
  assert.equal(env.context.cancellationDetails?.paused, true);
  await assert.rejects(env.run(() => sleep(10)), CancelledFailure);
});

test("run rejects with the error of the activity, which is logged", async () => {
  const lines: LogEntry[] = [];
  const env = new MockActivityEnvironment({}, {
    logger: new DefaultLogger("INFO", (entry) => lines.push(entry)),
  });
  const fails = async () => {
    log.info("about to");
    await Promise.resolve();
    throw ApplicationFailure.nonRetryable("no", "No");
  };
  await assert.rejects(
    env.run(fails),
    (error) => error instanceof ApplicationFailure && error.type === "No",
  );
  assert.deepEqual(lines.map(({ level, message }) => `${level} ${message}`), [
    "INFO about to",
    "WARN Activity failed",
  ]);
  assert.equal(lines[0]!.meta?.["activityId"], "test");
});

test("interceptors wrap the activity", async () => {
  const env = new MockActivityEnvironment({}, {
    interceptors: [
      (ctx) => ({
        inbound: {
          execute: async (input, next) => `${ctx.info.activityType}: ${await next(input)}`,
        },
      }),
    ],
  });
  assert.equal(await env.run(async (n: number) => n + 1, 1), "unknown: 2");
});
