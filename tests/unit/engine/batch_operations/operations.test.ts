// Batch operations of every kind, by query and by executions: what they do to workflows, their
// counts and descriptions, and what is rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import {
  BatchOperationState,
  BatchOperationType,
} from "../../../../ts/messages/generated/temporal/api/enums/v1/batch_operation_pb.ts";
import { Code, ServiceError } from "../../../../ts/service/raw.ts";
import { ProbeStore } from "../support/probe_store.ts";
import { BatchEngine, type Json, START_MS } from "./support.ts";

const ids = (count: number, prefix: string = "w") =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const open = (opened: BatchEngine, type: string = "W") =>
  opened.client.count(`WorkflowType = '${type}' AND ExecutionStatus = 'Running'`);
const last = async (opened: BatchEngine, workflowId: string) =>
  (await opened.events(workflowId)).at(-1)!.attributes;

test("a query selects open workflows only; their events have reason and identity", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(5));
    await opened.startWorkflows(["other"], "Other");
    await opened.client.getHandle(undefined, "w0").terminate();
    await opened.startBatch({
      visibilityQuery: "WorkflowType = 'W'",
      terminationOperation: { identity: "ada" },
    });
    assert.deepEqual(await opened.ended(), [4, 4, 0]);
    assert.equal(await open(opened), 0);
    assert.equal(await open(opened, "Other"), 1);
    const { case: event, value } = await last(opened, "w3");
    assert.equal(event, "workflowExecutionTerminatedEventAttributes");
    if (event !== "workflowExecutionTerminatedEventAttributes") return;
    assert.deepEqual([value.reason, value.identity], ["why", "ada"]);
    const described = await opened.describeBatch();
    assert.equal(described.operationType, BatchOperationType.TERMINATE);
    assert.equal(described.state, BatchOperationState.COMPLETED);
    assert.equal(described.identity, "ada");
    assert.equal(described.reason, "why");
    assert.equal(described.query, "WorkflowType = 'W'");
    assert.equal(Number(described.startTime!.seconds) * 1000, START_MS);
  }));

test("executions: missing and closed workflows are complete, invalid ones have failed", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(4));
    await opened.client.getHandle(undefined, "w1").terminate();
    await opened.startBatch({
      executions: [{ workflowId: "w0" }, { workflowId: "w1" }, { workflowId: "missing" }],
      targetExecutions: [
        { businessId: "w2", type: "EXECUTION_TYPE_WORKFLOW" },
        { businessId: "w3", runId: "not a run" },
      ],
      cancellationOperation: { identity: "ada" },
    });
    assert.deepEqual(await opened.ended(), [5, 4, 1]);
    assert.equal(
      (await last(opened, "w0")).case,
      "workflowExecutionCancelRequestedEventAttributes",
    );
    assert.equal(
      (await last(opened, "w2")).case,
      "workflowExecutionCancelRequestedEventAttributes",
    );
    assert.equal(await open(opened), 3);
    assert.equal((await opened.describeBatch()).executions.length, 5);
  }));

test("signals carry their input and header", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(2));
    const data = Buffer.from("1").toString("base64");
    const payload = { data, metadata: { encoding: Buffer.from("json/plain").toString("base64") } };
    await opened.startBatch({
      visibilityQuery: "WorkflowId STARTS_WITH 'w'",
      signalOperation: {
        signal: "go",
        identity: "ada",
        input: { payloads: [payload] },
        header: { fields: { trace: payload } },
      },
    });
    assert.deepEqual(await opened.ended(), [2, 2, 0]);
    const { case: name, value } = await last(opened, "w1");
    assert.equal(name, "workflowExecutionSignaledEventAttributes");
    if (name !== "workflowExecutionSignaledEventAttributes") return;
    assert.equal(value.signalName, "go");
    assert.equal(value.identity, "ada");
    assert.equal(value.input?.payloads.length, 1);
    assert.deepEqual(Object.keys(value.header!.fields), ["trace"]);
  }));

test("deletions remove open and closed runs with their histories", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(40));
    await opened.startWorkflows(["other"], "Other");
    await opened.client.getHandle(undefined, "w7").terminate();
    await opened.startBatch({
      visibilityQuery: "WorkflowType = 'W'",
      deletionOperation: { identity: "ada" },
    });
    assert.deepEqual(await opened.ended(), [40, 40, 0]);
    assert.equal(await opened.client.count(), 1);
    // The ids are free again.
    await opened.startWorkflows(["w0"]);
    assert.equal(await open(opened), 1);
  }));

for (
  const [target, expected] of [
    [{ firstWorkflowTask: {} }, 4n],
    [{ lastWorkflowTask: {} }, 8n],
    [{ workflowTaskId: 4 }, 4n],
  ] as const
) {
  test(`resets to ${Object.keys(target)[0]}`, () =>
    BatchEngine.during(new MemoryStore(), async (opened) => {
      await opened.startWorkflows(["w0"]);
      await opened.completeTask();
      await opened.client.getHandle(undefined, "w0").signal("again");
      await opened.completeTask();
      await opened.startBatch({
        visibilityQuery: "WorkflowId = 'w0'",
        resetOperation: { identity: "ada", options: target },
      });
      assert.deepEqual(await opened.ended(), [1, 1, 0]);
      assert.equal(await opened.client.count("WorkflowId = 'w0'"), 2);
      const events = await opened.events("w0");
      const failed = events.flatMap(({ eventId, attributes }) =>
        attributes.case === "workflowTaskFailedEventAttributes"
          ? [[eventId, attributes.value.failure?.message]]
          : []
      );
      assert.deepEqual(failed, [[expected, "why"]]);
    }));
}

test("a reset without its point has failed", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(["w0"]);
    await opened.startBatch({
      visibilityQuery: "WorkflowId = 'w0'",
      resetOperation: { options: { buildId: "b1" } },
    });
    assert.deepEqual(await opened.ended(), [1, 0, 1]);
    assert.equal(await opened.client.count(), 1);
  }));

test("many workflows are applied in slices, between which other calls are committed", async () => {
  const store = new ProbeStore(new MemoryStore());
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(ids(200));
    store.sizes.length = 0;
    await opened.startBatch({ visibilityQuery: "WorkflowType = 'W'", terminationOperation: {} });
    await opened.startWorkflows(["late"], "Other");
    const [, complete] = await opened.counts();
    assert.ok(complete! < 200, `${complete} workflows were terminated before another start`);
    assert.deepEqual(await opened.ended(), [200, 200, 0]);
    assert.ok(Math.max(...store.sizes) <= 34, `a commit with ${Math.max(...store.sizes)} runs`);
    assert.equal(await open(opened, "Other"), 1);
  });
});

test("a limit of the rate spaces the workflows, and a stop ends the operation", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(8));
    await opened.startBatch({
      visibilityQuery: "WorkflowType = 'W'",
      maxOperationsPerSecond: 2,
      terminationOperation: { identity: "ada" },
    });
    assert.deepEqual(await opened.counts(), [8, 1, 0]);
    opened.clock.advanceTo(START_MS + 499);
    assert.deepEqual(await opened.counts(), [8, 1, 0]);
    opened.clock.advanceTo(START_MS + 500);
    assert.deepEqual(await opened.counts(), [8, 2, 0]);
    const busy = { visibilityQuery: "WorkflowType = 'W'", terminationOperation: {} };
    await rejects(opened.startBatch({ jobId: "two", ...busy }), Code.RESOURCE_EXHAUSTED, /Max/);
    await opened.stopBatch("job");
    const stopped = await opened.describeBatch();
    assert.equal(stopped.state, BatchOperationState.FAILED);
    assert.equal(stopped.identity, "ada");
    opened.clock.advanceTo(START_MS + 60_000);
    assert.equal(await open(opened), 6);
    await rejects(opened.stopBatch("job"), Code.NOT_FOUND, /already completed/);
    await rejects(opened.startBatch(busy), Code.ALREADY_EXISTS, /batch operation job already/);
    await opened.startBatch({ jobId: "two", ...busy });
    assert.deepEqual(await opened.ended("two"), [6, 6, 0]);
  }));

test("lists have running operations first, in pages; old ones are not kept", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(ids(3));
    for (let n = 0; n < 202; n++) {
      opened.clock.advanceTo(START_MS + (n + 1) * 1000);
      await opened.startBatch({
        jobId: `job${n}`,
        visibilityQuery: "WorkflowType = 'None'",
        deletionOperation: {},
      });
    }
    opened.clock.advanceTo(START_MS + 300_000);
    await opened.startBatch({
      jobId: "running",
      visibilityQuery: "WorkflowType = 'W'",
      maxOperationsPerSecond: 1,
      signalOperation: { signal: "s" },
    });
    const first = await opened.listBatches(3);
    assert.deepEqual(
      first.operationInfo.map(({ jobId, state }) => [jobId, state]),
      [
        ["running", BatchOperationState.RUNNING],
        ["job201", BatchOperationState.COMPLETED],
        ["job200", BatchOperationState.COMPLETED],
      ],
    );
    const second = await opened.listBatches(1000, first.nextPageToken);
    assert.equal(second.operationInfo[0]!.jobId, "job199");
    assert.equal(second.operationInfo.at(-1)!.jobId, "job3");
    assert.equal(second.nextPageToken.length, 0);
    await rejects(opened.describeBatch("job0"), Code.NOT_FOUND, /job0/);
  }));

test("an operation fails if its query becomes invalid", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    opened.engine.addSearchAttributes({ Color: "Keyword", Size: "Int" });
    await opened.startWorkflows(ids(2));
    await opened.startBatch({
      visibilityQuery: "WorkflowType = 'W' OR Color = 'red'",
      maxOperationsPerSecond: 1,
      terminationOperation: {},
    });
    assert.deepEqual(await opened.counts(), [2, 1, 0]);
    opened.engine.removeSearchAttributes(["Color"]);
    opened.clock.advanceTo(START_MS + 1000);
    const { state } = await opened.describeBatch();
    assert.equal(state, BatchOperationState.FAILED);
    assert.deepEqual(await opened.ended(), [2, 1, 0]);
  }));

const query = { visibilityQuery: "WorkflowType = 'W'" };
const end = { terminationOperation: {} };
const REJECTED: readonly (readonly [request: Json, message: RegExp, code?: number])[] = [
  [{}, /must provide required parameters/],
  [{ ...query }, /must provide required parameters/],
  [{ ...query, ...end, reason: "" }, /must provide required parameters/],
  [{ ...query, ...end, jobId: "" }, /JobId is not set/],
  [{ ...query, ...end, jobId: "j".repeat(1001) }, /JobId length exceeds limit/],
  [{ ...query, ...end, executions: [{ workflowId: "a" }] }, /mutually exclusive/],
  [{ ...query, ...end, maxOperationsPerSecond: -1 }, /max_operations_per_second: -1/],
  [{ visibilityQuery: "this is bad", ...end }, /expected/],
  [{ visibilityQuery: "GROUP BY ExecutionStatus", ...end }, /selects no workflows/],
  [{ ...end, executions: ids(1001).map((workflowId) => ({ workflowId })) }, /limit is 1000/],
  [{ ...end, targetExecutions: [{ businessId: "a", type: 2 }] }, /"a" is an activity/],
  [{ ...query, signalOperation: {} }, /must provide signal name/],
  [{ ...query, resetOperation: {} }, /unknown batch reset type Unspecified/],
  [{ ...query, resetOperation: { options: {} } }, /no target/],
  [{ ...query, unpauseActivitiesOperation: {} }, /activity filter must be set/],
  [{ ...query, resetActivitiesOperation: { type: "" } }, /activity filter must be set/],
  [{ ...query, updateActivityOptionsOperation: { matchAll: false } }, /activity filter/],
  [{ ...query, updateWorkflowOptionsOperation: {} }, /UpdateMask is required/],
  [
    { ...query, deleteActivitiesOperation: {} },
    /standalone activities are changed one at a time/,
    Code.UNIMPLEMENTED,
  ],
  [{ ...query, ...end, namespace: "other" }, /other/, Code.NOT_FOUND],
];

test("requests that cannot be served are rejected", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    for (const [request, message, code = Code.INVALID_ARGUMENT] of REJECTED) {
      await rejects(opened.startBatch(request), code, message);
    }
    await rejects(opened.describeBatch(""), Code.INVALID_ARGUMENT, /JobId is not set/);
    await rejects(opened.describeBatch("none"), Code.NOT_FOUND, /none/);
    await rejects(opened.stopBatch("none", ""), Code.INVALID_ARGUMENT, /Reason is not set/);
    await rejects(opened.stopBatch("none"), Code.NOT_FOUND, /none/);
    const token = new TextEncoder().encode("x");
    await rejects(opened.listBatches(1, token), Code.INVALID_ARGUMENT, /nextPageToken/);
    await rejects(opened.listBatches(-1), Code.INVALID_ARGUMENT, /page size/);
    assert.equal((await opened.listBatches()).operationInfo.length, 0);
  }));

async function rejects(call: Promise<unknown>, code: number, message: RegExp): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code, error.message);
    return true;
  });
}
