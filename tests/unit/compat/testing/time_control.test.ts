// Time of a test server whose workers are other programs: skipped while a result is waited for,
// never while one of them has a task.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "../../../../ts/client/mod.ts";
import { ObservedCalls } from "../../../../ts/compat/testing/observed_calls.ts";
import { SkippingClock } from "../../../../ts/compat/testing/skipping_clock.ts";
import { EndlessSkipError, TimeControl } from "../../../../ts/compat/testing/time_control.ts";
import { startDevServer } from "../../../../ts/dev/server.ts";
import { Connection } from "../../../../ts/grpc/mod.ts";
import { silentLogger } from "../../../../ts/base/logger.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import { until } from "../../../support/until.ts";

const DAY = 86_400_000;
const clock = new SkippingClock();
let calls!: ObservedCalls;
const server = await startDevServer({
  port: 0,
  namespaces: ["default"],
  storeOf: () => undefined,
  logger: silentLogger,
  clock,
  around: (service) => calls = new ObservedCalls(service),
});
const time = new TimeControl(clock, server.namespaces.engines[0]!, calls);
const service = await Connection.connect({ address: `127.0.0.1:${server.port}` });
const client = new Client({ service, taskQueue: "time" });
const worker = await Worker.create({
  service,
  taskQueue: "time",
  logger: silentLogger,
  workflows: new URL("./modules/time_workflows.ts", import.meta.url),
  activities: {
    async slow(ms: number) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return clock.nowMs();
    },
    async sleeps(ms: number) {
      await time.sleep(ms);
      return "activity";
    },
    fails() {
      throw new Error("again");
    },
  },
});
const running = worker.run();
after(async () => {
  await worker.shutdown();
  await running;
  await service.close();
  time.close();
  await server.close();
});

const skipped = async (type: string, args: unknown[] = []) => {
  const id = `${type}-${crypto.randomUUID()}`;
  const handle = await client.start(type, { id, args });
  const from = clock.nowMs();
  const result = await time.skipping(id, () => handle.result());
  return { result, days: (clock.nowMs() - from) / DAY };
};

test("a workflow that sleeps for a month completes at once", async () => {
  const { result, days } = await skipped("sleeper", [30 * DAY]);
  assert.equal(result, "slept");
  assert.ok(days >= 30 && days < 31, `${days}`);
});

test("retries of an activity and timers between activities are skipped", async () => {
  const { result, days } = await skipped("retried");
  assert.equal(result, "failed");
  assert.ok(days >= 3 && days < 4, `${days}`);
});

test("time follows the wall clock while a worker runs an activity", async () => {
  const { result, days } = await skipped("racing", [300, DAY]);
  assert.equal(result, "activity");
  assert.ok(days < 0.5, `${days}`);
});

test("sleep in a test moves time while an activity runs, so another timer may fire first", async () => {
  const from = clock.nowMs();
  assert.equal((await skipped("sleepRace", [2 * DAY, DAY])).result, "timer");
  // The activity continues.
  await until(
    "the activity's sleep",
    () => clock.nowMs() >= from + 2 * DAY && calls.busyTasks === 0,
  );
});

test("time is not skipped unless a test waits for a result, and sleep moves it", async () => {
  const handle = await client.start("sleeper", { id: "waits", args: [10 * DAY] });
  const from = clock.nowMs();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(clock.nowMs() - from < DAY);
  await time.sleep(11 * DAY);
  assert.ok(clock.nowMs() - from >= 11 * DAY);
  assert.equal(await handle.result(), "slept");
});

test("a workflow that never ends is reported as such", async () => {
  const id = "endless";
  const handle = await client.start("endless", { id });
  await assert.rejects(time.skipping(id, () => handle.result()), (error) => {
    assert.ok(error instanceof EndlessSkipError, String(error));
    assert.match(
      error.message,
      /workflow "endless" was not reached within .* years of skipped time/,
    );
    return true;
  });
  await handle.terminate("enough");
});
