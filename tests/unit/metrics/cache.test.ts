// What a worker reports of its cache of runs is what its threads have in memory, however many there
// are.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkflowHandle } from "../../../ts/client/mod.ts";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { shardOf } from "../../../ts/realm/sharded_realm.ts";
import type { Worker } from "../../../ts/worker/mod.ts";
import { parseExposition, totalOf } from "../../support/prometheus.ts";
import { type Setting, withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { go, spins, talks } from "../worker/modules/flows.ts";

const workflows = new URL("../worker/modules/flows.ts", import.meta.url);
const activities = { shout: (text: string) => text.toUpperCase() };
const THREADS = 2;

function withThreads(
  options: object,
  body: (t: Setting, value: (name: string) => number, worker: Worker) => Promise<void>,
) {
  const metrics = new MetricsRegistry();
  const value = (name: string) => totalOf(parseExposition(metrics.text()), `temporal_${name}`);
  return withEngine(
    "memory",
    {},
    (t) =>
      t.work(
        { workflows, activities, metrics, workflowThreads: THREADS, ...options },
        (worker) => body(t, value, worker),
      ),
  );
}

test("size, hits, misses and forced evictions of the caches of two threads are counted", () =>
  withThreads({ cachedWorkflows: 1 }, async (t, value) => {
    // One run in each thread's cache, and one that has to leave for another.
    const runs: WorkflowHandle<typeof talks>[] = [];
    const perThread = Array.from({ length: THREADS }, () => 0);
    while (perThread.includes(0) || runs.length <= THREADS) {
      const handle = await t.client.start(talks, { id: `${runs.length}`, args: ["n"] });
      await until(
        "it waits",
        () => value("workflow_task_execution_latency_count") === runs.length + 1,
      );
      perThread[shardOf(handle.runId!, THREADS)]!++;
      runs.push(handle);
    }
    assert.equal(value("sticky_cache_size"), THREADS);
    assert.equal(value("sticky_cache_total_forced_eviction"), runs.length - THREADS);
    assert.deepEqual([value("sticky_cache_hit"), value("sticky_cache_miss")], [0, 0]);
    // The last run of each thread is in memory, the others are not.
    const inMemory = new Map(runs.map((handle) => [shardOf(handle.runId!, THREADS), handle]));
    for (const handle of inMemory.values()) await handle.signal(go, "x");
    for (const handle of inMemory.values()) await handle.result();
    assert.equal(value("sticky_cache_miss"), 0);
    assert.ok(value("sticky_cache_hit") >= THREADS);
    const hits = value("sticky_cache_hit");
    const gone = runs.find((handle) => ![...inMemory.values()].includes(handle))!;
    await gone.signal(go, "x");
    await gone.result();
    assert.equal(
      value("sticky_cache_miss"),
      1,
      "its first task after it had left; then it was in memory again",
    );
    assert.ok(value("sticky_cache_hit") > hits);
    await until("runs that have ended have left", () => value("sticky_cache_size") === 0);
  }));

test("the runs of a lost thread are no longer counted", () =>
  withThreads({ workflowThreads: 1, watchdogMs: 1000 }, async (t, value) => {
    for (const id of ["a", "b"]) await t.client.start(talks, { id, args: [id] });
    await until("both are in memory", () => value("sticky_cache_size") === 2);
    const spinning = await t.client.start(spins, { id: "spins" });
    await until("the thread was lost", () => value("workflow_task_execution_failed") >= 1);
    assert.equal(value("sticky_cache_size"), 0);
    await spinning.terminate();
  }));
