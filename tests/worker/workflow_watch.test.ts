// What is counted of workflow tasks: why they failed, how runs end, which runs are in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorKind, type TaskOutcome } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkerMetrics } from "../../ts/worker/worker_metrics.ts";
import { WorkflowWatch } from "../../ts/worker/workflow_watch.ts";

function counting(cacheSize: number) {
  const counts: { [name: string]: number } = {};
  const add = (name: string) => ({ add: () => void (counts[name] = (counts[name] ?? 0) + 1), record() {} });
  const of = (name: string) => ({ of: (label: string) => add(`${name} ${label}`) });
  const series = {
    ...{ cacheHit: add("hit"), execution: add(""), replay: add(""), endToEnd: add("") },
    ...{ failed: of("failed"), ended: of("ended") },
  };
  const metrics = {
    workflow: () => series,
    cacheMiss: add("miss"),
    forcedEviction: add("forced"),
    workflowScheduleToStart: add(""),
  };
  const watch = new WorkflowWatch(metrics as unknown as WorkerMetrics, cacheSize);
  const head = (runId: string, isQuery = false) => ({
    ...{ taskToken: new Uint8Array(0), workflowId: "w", runId, workflowType: "W", attempt: 1 },
    isQuery,
  });
  const settle = (runId: string, outcome: Partial<TaskOutcome> = {}, isQuery = false) =>
    watch.settled(watch.begin(new Uint8Array(0), head(runId, isQuery)), { evict: false, ...outcome } as TaskOutcome);
  return { counts, watch, settle };
}

test("a task that fails is counted by what made it fail, a query is not", () => {
  const { counts, settle } = counting(10);
  const error = (kind: ErrorKind) => ({ error: { kind } as TaskOutcome["error"] });
  settle("a", error(ErrorKind.ERROR_KIND_NONDETERMINISM));
  settle("b", error(ErrorKind.ERROR_KIND_UNSPECIFIED));
  settle("c", error(ErrorKind.ERROR_KIND_NONDETERMINISM), true);
  assert.deepEqual(counts, { "failed NonDeterminismError": 1, "failed WorkflowError": 1 });
});

test("as many runs are known as the realm keeps, the latest of them", () => {
  const { counts, watch, settle } = counting(2);
  for (const run of ["a", "b"]) settle(run);
  assert.deepEqual([watch.cachedRuns, counts["forced"]], [2, undefined]);
  settle("c");
  assert.deepEqual([watch.cachedRuns, counts["forced"]], [2, 1]);
  settle("b", { evict: true });
  assert.equal(watch.cachedRuns, 1);
  watch.evicted("c");
  assert.equal(watch.cachedRuns, 0);
  const none = counting(0);
  none.settle("a");
  assert.equal(none.watch.cachedRuns, 0);
});
