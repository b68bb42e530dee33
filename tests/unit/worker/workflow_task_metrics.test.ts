// What is counted of workflow tasks: why they failed, how runs end, what the cache of runs did with
// them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorKind } from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { CACHE_UNUSED } from "../../../ts/executor/tasks/realm_outcome.ts";
import type { RealmOutcome, TaskHead } from "../../../ts/realm/realm.ts";
import type { WorkerMetrics } from "../../../ts/worker/metrics/worker_metrics.ts";
import { WorkflowTaskMetrics } from "../../../ts/worker/metrics/workflow_task_metrics.ts";
import { headWith } from "../../support/realms.ts";

function counting() {
  const counts: { [name: string]: number } = {};
  const count = (name: string, by = 1) => void (counts[name] = (counts[name] ?? 0) + by);
  const series = (name: string) => ({
    add: (by?: number) => count(name, by),
    record: () => count(name),
  });
  const of = (name: string) => ({ of: (label: string) => series(`${name} ${label}`) });
  const metrics = {
    workflow: () => ({
      ...{
        cacheHit: series("hit"),
        execution: series("executed"),
        replay: series("replayed"),
        endToEnd: series("endToEnd"),
      },
      ...{ failed: of("failed"), ended: of("ended") },
    }),
    ...{
      cacheMiss: series("miss"),
      forcedEviction: series("forced"),
      workflowScheduleToStart: series("waited"),
    },
  };
  const counted = new WorkflowTaskMetrics(metrics as unknown as WorkerMetrics);
  const settle = (head: Partial<TaskHead>, outcome: Partial<RealmOutcome> = {}) => {
    const whole = { evict: false, cache: CACHE_UNUSED, runStartMs: 0, ...outcome } as RealmOutcome;
    counted.settled(headWith(head), whole, counted.begin(headWith(head)));
  };
  return { counts, counted, settle };
}

test("a failed task is counted by its cause, a failed query is not", () => {
  const { counts, settle } = counting();
  const error = (kind: ErrorKind) => ({ error: { kind } as RealmOutcome["error"] });
  settle({}, error(ErrorKind.ERROR_KIND_NONDETERMINISM));
  settle({}, error(ErrorKind.ERROR_KIND_UNSPECIFIED));
  settle({ query: "q" }, error(ErrorKind.ERROR_KIND_NONDETERMINISM));
  assert.deepEqual(counts, {
    executed: 3,
    "failed NonDeterminismError": 1,
    "failed WorkflowError": 1,
  });
});

test("hits, misses, replays and forced evictions are counted from the realm's reports", () => {
  const { counts, settle } = counting();
  const later = { firstEventId: 9, previousStartedEventId: 7 };
  settle(later, { cache: { hit: true, displaced: 0 } });
  assert.deepEqual(counts, { executed: 1, hit: 1 });
  settle(later, { cache: { hit: false, displaced: 3 } });
  assert.deepEqual(counts, { executed: 2, hit: 1, miss: 1, replayed: 1, forced: 3 });
  // The whole history came: the service did not count on the cache.
  settle({ previousStartedEventId: 7 });
  settle({});
  assert.deepEqual(counts, { executed: 4, hit: 1, miss: 1, replayed: 2, forced: 3 });
});

test("the queue latency of a task is measured if the service reports its time, but not for queries", () => {
  const { counts, settle } = counting();
  settle({ scheduledMs: 5, startedMs: 9 });
  settle({ scheduledMs: 5, startedMs: 0 });
  settle({ scheduledMs: 5, startedMs: 9, query: "q" });
  assert.equal(counts["waited"], 1);
});

test("the close of a run is counted by kind, and its duration is measured from the start known to the realm", () => {
  const { counts, counted } = counting();
  const report = (commandType: CommandType) =>
    toBinary(
      RespondWorkflowTaskCompletedRequestSchema,
      create(RespondWorkflowTaskCompletedRequestSchema, { commands: [{ commandType }] }),
    );
  const began = (runStartMs: number) => ({ runStartMs }) as RealmOutcome;
  counted.reported(headWith(), began(1), report(CommandType.COMPLETE_WORKFLOW_EXECUTION));
  counted.reported(headWith(), began(0), report(CommandType.FAIL_WORKFLOW_EXECUTION));
  counted.reported(headWith(), began(1), report(CommandType.START_TIMER));
  assert.deepEqual(counts, { "ended completed": 1, "ended failed": 1, endToEnd: 1 });
});
