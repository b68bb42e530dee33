// Batch operations over damaged stores, and removals: no damage of a run or of a row stops the engine.
// promise: P1, P2
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import type { StoredBatch } from "../../../../ts/engine/store.ts";
import { StoreCorruptError } from "../../../../ts/engine/store_errors.ts";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StartBatchOperationRequestSchema } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { until } from "../../../support/until.ts";
import { ProbeStore } from "../support/probe_store.ts";
import { BatchEngine, START_MS } from "./support.ts";

const IDS = ["w0", "w1", "w2", "w3"];
const ALL = { visibilityQuery: "WorkflowType = 'W'" };

test("a reset of a run with an unreadable history has failed, and the others continue", async () => {
  const store = new ProbeStore(new MemoryStore());
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(IDS);
    for (const _ of IDS) await opened.completeTask();
    const read = store.historyRange.bind(store);
    store.historyRange = (workflowId, ...range) => {
      if (workflowId === "w1") throw new StoreCorruptError("the history of a run has a gap");
      return workflowId === "w2" ? [new Uint8Array([255])] : read(workflowId, ...range);
    };
    await opened.startBatch({ ...ALL, resetOperation: { options: { firstWorkflowTask: {} } } });
    assert.deepEqual(await opened.ended(), [4, 2, 2]);
    for (const id of ["w1", "w2"]) {
      const reports = opened.reported.filter((message) => message.includes(`workflow ${id}`));
      assert.equal(reports.length, 1, opened.reported.join("\n"));
      assert.match(
        reports[0]!,
        /^batch operation "job" did not change .* its history cannot be read: /,
      );
    }
    await opened.startWorkflows(["later"]);
  });
});

const PROGRESS = {
  ...{ status: "running", startMs: 1, closeMs: 0, total: 1, complete: 0, failed: 0, index: 0 },
  ...{ after: null, listed: false, removing: [], attempts: 0, nextMs: 1 },
};
const BAD_PROGRESS: readonly object[] = [
  { status: "toString" },
  { status: undefined },
  { startMs: null },
  { nextMs: "1" },
  { nextMs: 1e300 },
  { closeMs: -1 },
  { total: -1 },
  { complete: 0.5 },
  { failed: "0" },
  { index: -1 },
  { attempts: null },
  { listed: 1 },
  { after: [1] },
  { after: [1, "2"] },
  { after: undefined },
  { removing: {} },
  { removing: [null] },
  { removing: [{ workflowId: "w0" }] },
];

function rowOf(jobId: string, progress: object, request: object = ENDS): StoredBatch {
  const message = create(StartBatchOperationRequestSchema, {
    ...{ jobId, reason: "why", visibilityQuery: "WorkflowType = 'W'" },
    ...request,
  });
  const state = JSON.stringify({ ...PROGRESS, ...progress });
  return { jobId, request: toBinary(StartBatchOperationRequestSchema, message), state };
}
const ENDS = { operation: { case: "terminationOperation", value: {} } };

test("rows of the store with invalid parts are reported, and do not run", async () => {
  const store = new MemoryStore();
  const rows = [
    ...BAD_PROGRESS.map((progress, n) => rowOf(`bad${n}`, progress)),
    rowOf("without operation", {}, {}),
    rowOf("not supported", {}, {
      operation: { case: "deleteActivitiesOperation", value: {} },
    }),
    { ...rowOf("null", {}), state: "null" },
  ];
  store.commit([], undefined, undefined, new Map(rows.map((row) => [row.jobId, row])));
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(IDS);
    assert.deepEqual((await opened.listBatches()).operationInfo, []);
    assert.equal(opened.reported.length, rows.length, opened.reported.join("\n"));
    for (const { jobId } of rows) {
      await assert.rejects(opened.describeBatch(jobId), /cannot be read/, jobId);
    }
    await opened.startBatch({ ...ALL, terminationOperation: {} });
    assert.deepEqual(await opened.ended(), [4, 4, 0]);
  });
  assert.equal(store.batches().length, rows.length + 1);
});

test("a caller that waits for a result gets the termination before a deletion removes the run", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(["w0"]);
    const result = opened.client.getHandle(undefined, "w0").result();
    const rejected = assert.rejects(result, /terminated/);
    await opened.client.count();
    await opened.startBatch({ ...ALL, deletionOperation: {} });
    await rejected;
    assert.deepEqual(await opened.ended(), [1, 1, 0]);
    assert.equal(await opened.client.count(), 0);
  }));

test("a deletion removes runs after its own commits only", async () => {
  const store = new ProbeStore(new MemoryStore());
  await BatchEngine.during(store, async (opened) => {
    let purges = 0;
    store.purge = () => (purges++, []);
    await opened.startWorkflows(["w0"]);
    await opened.startBatch({ ...ALL, deletionOperation: {} });
    // The second attempt is followed by a pause.
    await until("the second attempt", () => purges === 3);
    await opened.startWorkflows(["a", "b"], "Other");
    await opened.client.getHandle(undefined, "a").terminate();
    assert.equal(purges, 3);
    assert.deepEqual(await opened.counts(), [1, 0, 0]);
  });
});

test("a deletion with a limit of the rate ends when its last runs are removed", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(["w0"]);
    await opened.startBatch({ ...ALL, maxOperationsPerSecond: 1, deletionOperation: {} });
    assert.deepEqual(await opened.ended(), [1, 1, 0]);
  }));

test("a stop counts the runs that were removed", () =>
  BatchEngine.during(new MemoryStore(), async (opened) => {
    await opened.startWorkflows(["w0", "w1"]);
    await opened.startBatch({ ...ALL, maxOperationsPerSecond: 1, deletionOperation: {} });
    await opened.client.count();
    await opened.stopBatch("job");
    assert.deepEqual(await opened.ended(), [2, 1, 0]);
  }));

test("an ended operation keeps its description without payloads", async () => {
  const store = new MemoryStore();
  const secret = { payloads: [{ data: Buffer.from("secret").toString("base64") }] };
  const described = await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(IDS);
    const header = { fields: { trace: secret.payloads[0]! } };
    const identity = "ada";
    const signalOperation = { signal: "s", input: secret, header, identity };
    await opened.startBatch({ jobId: "one", ...ALL, signalOperation });
    assert.deepEqual(await opened.ended("one"), [4, 4, 0]);
    const terminationOperation = { details: secret, identity };
    await opened.startBatch({ jobId: "two", ...ALL, terminationOperation });
    assert.deepEqual(await opened.ended("two"), [4, 4, 0]);
    return [await opened.describeBatch("one"), await opened.describeBatch("two")];
  });
  for (const { request } of store.batches()) {
    assert.ok(!Buffer.from(request).includes("secret"));
    const { operation } = fromBinary(StartBatchOperationRequestSchema, request);
    assert.equal((operation.value as { identity: string }).identity, "ada");
  }
  await BatchEngine.during(store, async (opened) => {
    assert.deepEqual(await opened.describeBatch("one"), described[0]);
    assert.deepEqual(await opened.describeBatch("two"), described[1]);
  });
});

test("of two running rows, the second follows the first", async () => {
  const store = new MemoryStore();
  const rows = ["one", "two"].map((jobId) => rowOf(jobId, { total: 4, nextMs: START_MS }));
  await BatchEngine.during(store, (opened) => opened.startWorkflows(IDS));
  store.commit([], undefined, undefined, new Map(rows.map((row) => [row.jobId, row])));
  await BatchEngine.during(store, async (opened) => {
    const totals = [await opened.ended("one"), await opened.ended("two")];
    assert.deepEqual(totals.map(([, complete]) => complete).sort(), [0, 4]);
  });
});
