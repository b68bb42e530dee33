// Suggestions of the engine to pollers, by the rule of Temporal's servers, and the figures of task
// queues that they follow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { type PriorityStats, readStats, totalOf } from "../../../ts/engine/backlog.ts";
import { ScalingChecks, withSuggestion } from "../../../ts/engine/poller_scaling.ts";
import {
  PollActivityTaskQueueResponseSchema,
  PollWorkflowTaskQueueResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { typedService } from "../../../ts/service/typed.ts";

const row = (more: Partial<PriorityStats>): PriorityStats => ({
  side: "workflow",
  priority: 3,
  tasks: 0,
  oldestMs: 0,
  addedPerSecond: 1,
  dispatchedPerSecond: 1,
  ...more,
});

test("a poll that waited a second is one too many; old tasks and growing queues need one more", () => {
  const suggest = (waitedMs: number, more: Partial<PriorityStats>) =>
    new ScalingChecks().suggest(waitedMs, 1_000_000, "workflow", () => [row(more)]);
  assert.equal(suggest(1_000, { tasks: 5, oldestMs: 900 }), -1);
  assert.equal(suggest(999, { tasks: 1, oldestMs: 201 }), 1);
  assert.equal(suggest(0, { tasks: 1, oldestMs: 200 }), 0);
  assert.equal(suggest(0, { addedPerSecond: 1.3 }), 1);
  assert.equal(suggest(0, { addedPerSecond: 1.2 }), 0);
  assert.equal(suggest(0, { side: "activity", tasks: 9, oldestMs: 900 }), 0, "the other side");
});

test("a queue is checked ten times a second at most", () => {
  const checks = new ScalingChecks();
  const count = (nowMs: number) =>
    Array.from({ length: 25 }).filter(() =>
      checks.suggest(0, nowMs, "workflow", () => [row({ addedPerSecond: 2 })]) === 1
    ).length;
  assert.equal(count(50_000), 10);
  assert.equal(count(50_300), 3);
  assert.equal(count(90_000), 10);
  assert.equal(checks.suggest(1_000, 90_000, "workflow", () => []), -1, "fewer at any time");
});

test("a suggestion is appended to the task", () => {
  for (
    const [side, schema] of [
      ["workflow", PollWorkflowTaskQueueResponseSchema],
      ["activity", PollActivityTaskQueueResponseSchema],
    ] as const
  ) {
    const task = toBinary(schema, create(schema, { taskToken: new Uint8Array([1]), attempt: 2 }));
    for (const by of [-1, 1]) {
      const read = fromBinary(schema, withSuggestion(task, side, by));
      assert.equal(read.pollerScalingDecision?.pollRequestDeltaSuggestion, by);
      assert.equal(read.attempt, 2);
    }
    assert.equal(withSuggestion(task, side, 0), task);
  }
});

test("rows of the core become figures by side and priority", () => {
  const stats = readStats([0, 1, 2, 50, 3, 4, 0, 3, 5, 70, 6, 7, 1, 3, 8, 90, 9, 10]);
  assert.deepEqual(stats.map(({ side, priority }) => [side, priority]), [
    ["workflow", 1],
    ["workflow", 3],
    ["activity", 3],
  ]);
  assert.deepEqual(totalOf(stats, "workflow"), {
    tasks: 7,
    oldestMs: 70,
    addedPerSecond: 9,
    dispatchedPerSecond: 11,
  });
  assert.deepEqual(readStats([]), []);
});

test("DescribeTaskQueue has the backlog and the rates of a queue by priority key, and dispatch follows it", async () => {
  let now = 1_000_000;
  const clock = { nowMs: () => now, setTimer: () => () => {} };
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), clock });
  const service = typedService(engine);
  const taskQueue = { name: "q" };
  const common = { namespace: "default", taskQueue };
  for (const [workflowId, priorityKey] of [["low", 5], ["plain", 0], ["high", 1]] as const) {
    await service.startWorkflowExecution({
      ...common,
      workflowId,
      workflowType: { name: "W" },
      priority: { priorityKey },
    });
  }
  now += 2_000;
  const first = await service.pollWorkflowTaskQueue(common);
  assert.equal(first.workflowExecution?.workflowId, "high");
  assert.equal(first.pollerScalingDecision?.pollRequestDeltaSuggestion, 1, "two tasks wait");
  const { stats, statsByPriorityKey } = await service.describeTaskQueue({
    ...common,
    reportStats: true,
  });
  assert.deepEqual(
    [stats?.approximateBacklogCount, stats?.approximateBacklogAge?.seconds, stats?.tasksAddRate],
    [2n, 2n, 1.5],
  );
  assert.equal(stats?.tasksDispatchRate, 1);
  assert.deepEqual(
    Object.entries(statsByPriorityKey).map(([key, of]) => [key, of.approximateBacklogCount]),
    [["1", 0n], ["3", 1n], ["5", 1n]],
  );
  const plain = await service.describeTaskQueue(common);
  assert.deepEqual([plain.stats, plain.statsByPriorityKey], [undefined, {}]);
  const enhanced = await service.describeTaskQueue({ ...common, apiMode: 1, reportStats: true });
  assert.equal(enhanced.versionsInfo[""]!.typesInfo[1]!.stats?.approximateBacklogCount, 2n);
  assert.equal(
    (await service.pollWorkflowTaskQueue(common)).workflowExecution?.workflowId,
    "plain",
  );
  await engine.close();
});
