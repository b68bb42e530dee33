// A worker and a client that report, scraped over HTTP while they run.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { type ActivityInterceptor, Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  continueAsNew,
  signal,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { type MetricFamily, parseExposition, sampleOf, totalOf } from "../../support/prometheus.ts";
import { until } from "../../support/until.ts";

const go = signal("go");
const acts = activities<{ work(text: string): string; fail(): void }>({
  startToClose: "10s",
  retry: { maximumAttempts: 1 },
});
const SECRET = "a-payload-that-stays-private";

const workflows = [
  workflow("Works", async (text: string) => {
    const done = await acts.work(text);
    await waitForSignal(go);
    return done;
  }),
  workflow("Fails", () => acts.fail()),
  workflow("Again", async (n: number) => n > 0 ? continueAsNew(n - 1) : n),
  workflow("Bug", async (): Promise<void> => {
    throw new TypeError("a bug");
  }),
];

/**
 * Names with their labels, as a worker of Temporal's TypeScript SDK 1.24.0 reports them for such
 * workflows (but for `service_name`).
 */
const LABELS: { readonly [name: string]: string } = {
  temporal_activity_execution_failed:
    "activity_type failure_reason namespace task_queue workflow_type",
  temporal_activity_execution_latency: "activity_type namespace task_queue workflow_type",
  temporal_activity_schedule_to_start_latency: "namespace task_queue",
  temporal_activity_succeed_endtoend_latency: "activity_type namespace task_queue workflow_type",
  temporal_activity_task_received: "activity_type eager namespace task_queue workflow_type",
  temporal_num_pollers: "namespace poller_type task_queue",
  temporal_request: "namespace operation",
  temporal_request_latency: "namespace operation",
  temporal_sticky_cache_hit: "namespace task_queue workflow_type",
  temporal_sticky_cache_size: "namespace task_queue",
  temporal_sticky_cache_total_forced_eviction: "namespace task_queue",
  temporal_worker_start: "namespace task_queue",
  temporal_worker_task_slots_available: "namespace task_queue worker_type",
  temporal_worker_task_slots_used: "namespace task_queue worker_type",
  temporal_workflow_completed: "namespace task_queue workflow_type",
  temporal_workflow_continue_as_new: "namespace task_queue workflow_type",
  temporal_workflow_endtoend_latency: "namespace task_queue workflow_type",
  temporal_workflow_failed: "namespace task_queue workflow_type",
  temporal_workflow_task_execution_failed: "failure_reason namespace task_queue workflow_type",
  temporal_workflow_task_execution_latency: "namespace task_queue workflow_type",
  temporal_workflow_task_queue_poll_succeed: "namespace task_queue",
  temporal_workflow_task_replay_latency: "namespace task_queue workflow_type",
  temporal_workflow_task_schedule_to_start_latency: "namespace task_queue",
};

async function scrape(url: string): Promise<Map<string, MetricFamily>> {
  const response = await fetch(url);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return parseExposition(await response.text());
}

test("worker and client report metrics with the names and labels of Temporal's SDKs", async () => {
  const metrics = new MetricsRegistry();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const calls: string[] = [];
  const interceptors: ActivityInterceptor[] = [async (call, next) => {
    calls.push(`outer ${call.args.length} ${Object.keys(call.headers).length}`);
    return await next(call);
  }, async (call, next) => {
    calls.push("inner");
    return call.context.info.activityType === "work"
      ? `<${await next({ ...call, args: [`${call.args[0]}!`] })}>`
      : await next(call);
  }];
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows,
    activities: {
      work: (text: string) => text,
      fail: () => Promise.reject(new ApplicationFailure("no")),
    },
    activityInterceptors: interceptors,
    metrics,
    logger: silentLogger,
  });
  assert.equal(worker.ready, false);
  const client = new Client({ service: engine, taskQueue: "q", metrics, logger: silentLogger });
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": metrics.contentType }).end(metrics.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  const running = worker.run();
  try {
    const now = () => parseExposition(metrics.text());
    const works = await client.start("Works", { id: `id-${SECRET}`, args: [SECRET] });
    await until("its activity has run", () => calls.length === 2);
    await assert.rejects(client.execute("Fails", { id: "fails" }));
    await client.execute("Again", { id: "again", args: [2] });
    const bug = await client.start("Bug", { id: "bug" });
    await until(
      "its task has failed",
      () =>
        (sampleOf(now(), "temporal_workflow_task_execution_failed", { workflow_type: "Bug" }) ??
          0) >= 1,
    );
    await bug.terminate();
    await until("the worker rests, with the second task of the first run done", () => {
      const taken = (name: string, type: string) =>
        sampleOf(now(), `temporal_worker_task_slots_${name}`, { worker_type: type });
      return taken("available", "ActivityWorker") === 100 &&
        taken("used", "WorkflowWorker") === 0 &&
        sampleOf(now(), "temporal_workflow_task_execution_latency_count", {
            workflow_type: "Works",
          }) === 2;
    });
    await until("the worker is ready", () => worker.ready);
    const during = await scrape(url);
    assert.equal(
      sampleOf(during, "temporal_worker_start", { namespace: "default", task_queue: "q" }),
      1,
    );
    assert.ok(sampleOf(during, "temporal_num_pollers", { poller_type: "workflow_task" })! >= 1);
    assert.ok(
      sampleOf(during, "temporal_num_pollers", { poller_type: "sticky_workflow_task" })! >= 1,
    );
    assert.ok(sampleOf(during, "temporal_num_pollers", { poller_type: "activity_task" })! >= 1);
    assert.equal(
      sampleOf(during, "temporal_worker_task_slots_available", { worker_type: "ActivityWorker" }),
      100,
    );
    assert.equal(
      sampleOf(during, "temporal_worker_task_slots_used", { worker_type: "WorkflowWorker" }),
      0,
    );
    // The run that waits for its signal is in memory.
    assert.ok(sampleOf(during, "temporal_sticky_cache_size", { task_queue: "q" })! >= 1);
    await works.signal(go);
    assert.equal(await works.result(), `<${SECRET}!>`);
    await worker.shutdown();
    await running;
    const text = metrics.text();
    const after = parseExposition(text);
    const count = (name: string, labels: { [name: string]: string }) =>
      sampleOf(after, name, { namespace: "default", ...labels });
    assert.equal(
      count("temporal_workflow_completed", { task_queue: "q", workflow_type: "Works" }),
      1,
    );
    assert.equal(count("temporal_workflow_completed", { workflow_type: "Again" }), 1);
    assert.equal(count("temporal_workflow_continue_as_new", { workflow_type: "Again" }), 2);
    assert.equal(count("temporal_workflow_failed", { workflow_type: "Fails" }), 1);
    assert.ok(
      count("temporal_workflow_task_execution_failed", {
        workflow_type: "Bug",
        failure_reason: "WorkflowError",
      })! >= 1,
    );
    assert.equal(count("temporal_workflow_endtoend_latency_count", { workflow_type: "Works" }), 1);
    assert.equal(
      count("temporal_workflow_task_execution_latency_count", { workflow_type: "Works" }),
      3,
    );
    assert.ok(
      count("temporal_workflow_task_schedule_to_start_latency_count", { task_queue: "q" })! >= 8,
    );
    assert.ok(count("temporal_sticky_cache_hit", { workflow_type: "Works" })! >= 1);
    assert.equal(
      count("temporal_activity_execution_latency_count", {
        activity_type: "work",
        workflow_type: "Works",
      }),
      1,
    );
    assert.equal(
      count("temporal_activity_succeed_endtoend_latency_count", { activity_type: "work" }),
      1,
    );
    assert.equal(
      count("temporal_activity_execution_failed", {
        activity_type: "fail",
        failure_reason: "ActivityError",
      }),
      1,
    );
    assert.equal(count("temporal_activity_execution_failed", { activity_type: "work" }), 0);
    assert.equal(
      count("temporal_activity_task_received", { activity_type: "work", eager: "true" }),
      1,
    );
    assert.equal(
      count("temporal_activity_schedule_to_start_latency_count", { task_queue: "q" }),
      2,
    );
    assert.equal(count("temporal_request", { operation: "StartWorkflowExecution" }), 4);
    assert.ok(count("temporal_request", { operation: "RespondWorkflowTaskCompleted" })! >= 6);
    assert.equal(
      count("temporal_request_latency_count", { operation: "StartWorkflowExecution" }),
      4,
    );
    assert.ok(
      count("temporal_long_request", { operation: "PollWorkflowTaskQueue", task_queue: "q" })! >= 2,
    );
    assert.ok(count("temporal_long_request", { operation: "GetWorkflowExecutionHistory" })! >= 1);
    // Polls that the shutdown took back have not failed.
    assert.equal(
      count("temporal_long_request_failure", { operation: "PollWorkflowTaskQueue" }),
      undefined,
    );
    for (const [name, labels] of Object.entries(LABELS)) {
      const samples = after.get(name)?.samples ?? [];
      assert.ok(samples.length > 0, name);
      for (const sample of samples) {
        const { le: _le, ...mine } = sample.labels;
        assert.deepEqual(Object.keys(mine).sort(), labels.split(" ").sort(), name);
      }
    }
    // A worker that has stopped has nothing.
    assert.equal(
      count("temporal_worker_task_slots_available", { worker_type: "ActivityWorker" }),
      0,
    );
    assert.equal(worker.ready, false);
    // Payloads and ids never become labels.
    assert.ok(!text.includes(SECRET));
    assert.deepEqual(calls, ["outer 1 0", "inner", "outer 0 0", "inner"]);
  } finally {
    await worker.shutdown();
    await engine.close();
    server.close();
    server.closeAllConnections();
  }
});

test("a worker of activities alone reports no slots of workflows", async () => {
  const metrics = new MetricsRegistry();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    activities: { work: (text: string) => text },
    metrics,
    logger: silentLogger,
  });
  const running = worker.run();
  try {
    await until("it polls", () => worker.ready);
    const available = metrics.text().split("\n").filter((line) =>
      line.startsWith("temporal_worker_task_slots_available{")
    );
    assert.deepEqual(
      available.map((line) => /worker_type="(\w+)"/.exec(line)?.[1]),
      ["ActivityWorker"],
    );
    assert.doesNotMatch(metrics.text(), /^temporal_sticky_cache_size\b/m);
  } finally {
    await worker.shutdown();
    await running;
    await engine.close();
  }
});

test("an evicted run counts as a miss, and its replay is measured", async () => {
  const metrics = new MetricsRegistry();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows,
    activities: { work: (text: string) => text },
    cachedWorkflows: 1,
    metrics,
    logger: silentLogger,
  });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const value = (name: string) => totalOf(parseExposition(metrics.text()), name);
  try {
    await worker.runUntil(async () => {
      const [first, second] = [
        await client.start("Works", { id: "a", args: ["a"] }),
        await client.start("Works", { id: "b", args: ["b"] }),
      ];
      const passed = (handle: typeof first) =>
        until("its activity is over", async () => {
          const { pendingActivities } = await handle.describe();
          return pendingActivities.length === 0 && value("temporal_activity_task_received") === 2;
        });
      await passed(first);
      await passed(second);
      for (const handle of [first, second]) await handle.signal(go);
      await Promise.all([first.result(), second.result()]);
    });
    assert.ok(value("temporal_sticky_cache_miss") >= 1, metrics.text());
    assert.ok(value("temporal_workflow_task_replay_latency_count") >= 1);
    assert.equal(
      value("temporal_workflow_endtoend_latency_count"),
      2,
      "the start of a replayed run is known",
    );
    // The client was given no metrics, so its calls are not among them.
    assert.equal(
      sampleOf(parseExposition(metrics.text()), "temporal_request", {
        operation: "StartWorkflowExecution",
      }),
      undefined,
    );
  } finally {
    await engine.close();
  }
});
