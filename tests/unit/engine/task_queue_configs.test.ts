// Limits of task queues: kept in the store, applied to activities of workflows and standalone ones,
// and shown by DescribeTaskQueue.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { VirtualClock } from "../../../ts/engine/clock.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { RateLimitSource } from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { UpdateTaskQueueConfigRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { typedService } from "../../../ts/service/typed.ts";

type Update = MessageInitShape<typeof UpdateTaskQueueConfigRequestSchema>;
const ACTIVITY = 2;
const namespace = "default";
const taskQueue = { name: "limited" };

async function opened({ path }: { path?: string } = {}) {
  const clock = new VirtualClock();
  const place = path === undefined ? { store: new MemoryStore() } : { path };
  const engine = await EmbeddedEngine.open({ ...place, clock, remoteWorkers: true });
  const service = typedService(engine);
  const update = (more: Update) =>
    service.updateTaskQueueConfig({
      namespace,
      taskQueue: taskQueue.name,
      taskQueueType: ACTIVITY,
      identity: "operator",
      ...more,
    });
  const describe = () =>
    service.describeTaskQueue({
      namespace,
      taskQueue,
      taskQueueType: ACTIVITY,
      reportConfig: true,
    });
  return { clock, engine, service, update, describe };
}

test("a configuration is stored, shown and removed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-queue-config-"));
  const path = join(folder, "store.sqlite");
  try {
    let { engine, update, describe } = await opened({ path });
    assert.equal((await describe()).config, undefined);
    assert.equal(
      (await describe()).effectiveRateLimit!.rateLimitSource,
      RateLimitSource.SYSTEM,
    );
    const { config } = await update({
      updateQueueRateLimit: {
        rateLimit: { requestsPerSecond: 2.5 },
        reason: "slow API",
      },
      updateFairnessKeyRateLimitDefault: {
        rateLimit: { requestsPerSecond: 1 },
      },
      setFairnessWeightOverrides: { a: 2, b: 3 },
    });
    assert.equal(config!.queueRateLimit!.metadata!.reason, "slow API");
    assert.equal(config!.queueRateLimit!.metadata!.updateIdentity, "operator");
    await engine.close();
    ({ engine, update, describe } = await opened({ path }));
    const kept = await describe();
    assert.deepEqual(kept.config, config);
    const { requestsPerSecond, rateLimitSource } = kept.effectiveRateLimit!;
    assert.deepEqual([requestsPerSecond, rateLimitSource], [
      2.5,
      RateLimitSource.API,
    ]);
    await update({
      updateQueueRateLimit: {},
      unsetFairnessWeightOverrides: ["a"],
    });
    const last = await describe();
    assert.equal(last.config!.queueRateLimit!.rateLimit, undefined);
    assert.deepEqual(last.config!.fairnessWeightOverrides, { b: 3 });
    assert.equal(
      last.config!.fairnessKeysRateLimitDefault!.rateLimit!.requestsPerSecond,
      1,
    );
    await engine.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("requests that a server rejects are rejected with its code", async () => {
  const { engine, service, update } = await opened();
  const rate = (requestsPerSecond: number) => ({
    rateLimit: { requestsPerSecond },
  });
  const wrong: [Update, RegExp][] = [
    [{ taskQueue: "" }, /TaskQueue is not set/],
    [
      { taskQueueType: 1, updateQueueRateLimit: rate(1) },
      /workflow task queues is not allowed/,
    ],
    [{ updateQueueRateLimit: rate(-1) }, /must be non-negative/],
    [{ updateFairnessKeyRateLimitDefault: rate(-1) }, /must be non-negative/],
    [
      { updateQueueRateLimit: { ...rate(1), reason: "x".repeat(1001) } },
      /too long \(max 1000/,
    ],
    [{ setFairnessWeightOverrides: { "": 1 } }, /must not be empty/],
    [{ setFairnessWeightOverrides: { a: -1 } }, /invalid fairness weight/],
    [{
      setFairnessWeightOverrides: { a: 1 },
      unsetFairnessWeightOverrides: ["a"],
    }, /both set/],
    [
      { setFairnessWeightOverrides: { ["k".repeat(65)]: 1 } },
      /exceeds limit of 64/,
    ],
  ];
  for (const [request, message] of wrong) {
    await assert.rejects(update(request), { code: 3, message });
  }
  await assert.rejects(
    service.updateTaskQueueConfig({ namespace: "other", taskQueue: "q" }),
    { code: 5 },
  );
  await engine.close();
});

test("the last poll of a worker limits its queue, also for standalone activities", async () => {
  const { clock, engine, service, update, describe } = await opened();
  for (let i = 0; i < 8; i++) {
    await service.startActivityExecution({
      namespace,
      activityId: `a${i}`,
      activityType: { name: "A" },
      taskQueue,
      requestId: `r${i}`,
      startToCloseTimeout: { seconds: 60n },
    });
  }
  let tasks = 0;
  const polls = Array.from({ length: 8 }, () =>
    service.pollActivityTaskQueue({
      namespace,
      taskQueue,
      identity: "worker",
      taskQueueMetadata: { maxTasksPerSecond: 2 },
    }).then(({ taskToken }) => void (tasks += taskToken.length > 0 ? 1 : 0)));
  const settled = async () => {
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return tasks;
  };
  assert.equal(await settled(), 3);
  const { requestsPerSecond, rateLimitSource } = (await describe())
    .effectiveRateLimit!;
  assert.deepEqual([requestsPerSecond, rateLimitSource], [
    2,
    RateLimitSource.WORKER,
  ]);
  clock.advanceBy(1000);
  assert.equal(await settled(), 5);
  await update({
    updateQueueRateLimit: { rateLimit: { requestsPerSecond: 0 } },
  });
  clock.advanceBy(10_000);
  assert.equal(await settled(), 5, "a rate of 0 pauses the queue");
  await update({
    updateQueueRateLimit: { rateLimit: { requestsPerSecond: 100 } },
  });
  clock.advanceBy(3000);
  assert.equal(await settled(), 8);
  await Promise.all(polls);
  await engine.close();
});
