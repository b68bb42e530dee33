// Local activities in virtual time: their sleeps, back-offs, limits and task heartbeats take none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityInfo, sleep as activitySleep } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { ActivityFailure, TimeoutFailure } from "../../../ts/converter/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  localActivities,
  type LocalActivityOptions,
  now,
  parallel,
  sleep,
  workflow,
} from "../../../ts/workflow/mod.ts";

const START = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;

interface Acts {
  work(input: string): Promise<string>;
}

const acts = localActivities<Acts>({ startToClose: "2h" });
const timed = workflow("Timed", async (input: string, options: LocalActivityOptions) => {
  const began = now();
  const result = await acts.work.with(options)(input);
  return [result, now() - began];
});
const concurrent = workflow("Concurrent", async () => {
  const began = now();
  await parallel([() => acts.work("slow"), () => sleep("10m")]);
  return now() - began;
});
const workflows = [timed, concurrent];

async function inVirtualTime(
  activities: object,
  body: (env: TestEnvironment) => Promise<void>,
): Promise<void> {
  const env = await TestEnvironment.create({ startTime: START, logger: silentLogger });
  try {
    const began = performance.now();
    await env.runWorker({ workflows, activities }, () => body(env));
    assert.ok(performance.now() - began < 60_000, "time did not pass by itself");
  } finally {
    await env.dispose();
  }
}

test("a local activity sleeps for an hour over task heartbeats that take no virtual time", () => {
  let ran = 0;
  const work = async (input: string) => {
    ran++;
    await activitySleep("1h");
    return input;
  };
  return inVirtualTime({ work }, async (env) => {
    assert.deepEqual(await env.client.execute(timed, { id: "sleeps", args: ["x", {}] }), [
      "x",
      HOUR,
    ]);
    assert.equal(ran, 1);
    assert.equal(await env.client.execute(concurrent, { id: "concurrent" }), HOUR);
  });
});

test("backoffs within the task and with timers are skipped, and an activity's dates use the same clock", () => {
  const seen: unknown[] = [];
  const work = (input: string) => {
    const { attempt, scheduledTime, startedTime } = activityInfo();
    seen.push([attempt, (startedTime!.getTime() - scheduledTime!.getTime()) / 1000]);
    if (attempt < 4) throw new Error("not yet");
    return Promise.resolve(input);
  };
  return inVirtualTime({ work }, async (env) => {
    const retry = { initialInterval: "20s", backoffCoefficient: 2 };
    const [result] = await env.client.execute(timed, { id: "backs off", args: ["x", { retry }] });
    assert.equal(result, "x");
    // 20 s and 40 s in the worker, 80 s in a timer.
    assert.deepEqual(seen, [[1, 0], [2, 20], [3, 60], [4, 140]]);
    const { events } = await env.client.getHandle(undefined, "backs off").fetchHistory();
    assert.equal(
      events.filter(({ attributes }) => attributes.case === "timerFiredEventAttributes").length,
      1,
    );
  });
});

test("timeouts are skipped in virtual time", () => {
  const work = async () => {
    await activitySleep("3h");
    return "late";
  };
  return inVirtualTime({ work }, async (env) => {
    const options = { startToClose: "30m", retry: { maximumAttempts: 2 } };
    const handle = await env.client.start(timed, { id: "limits", args: ["x", options] });
    const error = await handle.result().then(() => assert.fail("it completed"), (e) => e as Error);
    assert.ok(
      error.cause instanceof ActivityFailure && error.cause.cause instanceof TimeoutFailure,
      String(error.cause),
    );
    assert.equal(Math.round((env.now() - START) / 60_000), 60);
  });
});

test("advance runs local activities", () => {
  const work = async (input: string) => {
    await activitySleep("1h");
    return input;
  };
  return inVirtualTime({ work }, async (env) => {
    const handle = await env.client.start(timed, { id: "advanced", args: ["x", {}] });
    await env.advance("59m");
    assert.equal((await handle.describe()).status, "RUNNING");
    await env.advance("2m");
    assert.equal((await handle.describe()).status, "COMPLETED");
  });
});
