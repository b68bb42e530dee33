// Batch operations survive the end of the engine: progress and effects are in one commit, so that
// each workflow is visited once.
// promise: P1, P2
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import { StoreBusyError, StoreError } from "../../../../ts/engine/store_errors.ts";
import { BatchOperationState } from "../../../../ts/messages/generated/temporal/api/enums/v1/batch_operation_pb.ts";
import { until } from "../../../support/until.ts";
import { ProbeStore } from "../support/probe_store.ts";
import { inFolder, storeKinds } from "../support/stores.ts";
import { BatchEngine, START_MS } from "./support.ts";

const IDS = Array.from({ length: 6 }, (_, n) => `w${n}`);
const SIGNAL = {
  visibilityQuery: "WorkflowType = 'W'",
  maxOperationsPerSecond: 1,
  signalOperation: { signal: "go" },
};
const signals = (opened: BatchEngine) => Promise.all(IDS.map((id) => opened.signals(id)));

for (const kind of storeKinds) {
  test(
    `${kind.name}: an operation continues in the next engine`,
    { skip: kind.skip },
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.sqlite");
        const copy = join(folder, "b.sqlite");
        let store = kind.open(path);
        await BatchEngine.during(store, async (opened) => {
          await opened.startWorkflows(IDS);
          await opened.startBatch(SIGNAL);
          for (const second of [1, 2]) {
            opened.clock.advanceTo(START_MS + second * 1000);
            assert.deepEqual(await opened.counts(), [6, second + 1, 0]);
          }
          // The copy is the file after a crash.
          if (kind.driver !== undefined) opened.engine.backup(copy);
        });
        if (kind.driver !== undefined) {
          store.close();
          store = kind.open(copy);
        }
        await BatchEngine.during(store, async (opened) => {
          assert.deepEqual(await opened.counts(), [6, 3, 0]);
          await opened.startWorkflows(["later"]);
          for (const second of [3, 4, 5]) opened.clock.advanceTo(START_MS + second * 1000);
          assert.deepEqual(await opened.ended(), [6, 6, 0]);
          assert.deepEqual(await signals(opened), [1, 1, 1, 1, 1, 1]);
          assert.equal(await opened.signals("later"), 0);
        }, START_MS + 2500);
        store.close();
      }),
  );
}

test("a failed commit applies nothing and loses nothing", async () => {
  const store = new ProbeStore(new MemoryStore());
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(IDS);
    await opened.startBatch(SIGNAL);
    let failures = 0;
    store.onCommit = () => {
      if (failures++ < 2) throw new StoreError("no");
    };
    let second = 0;
    await until("six signals", async () => {
      opened.clock.advanceTo(START_MS + ++second * 1000);
      return (await opened.counts())[1] === 6;
    }, { retryErrors: true });
    assert.deepEqual(await opened.counts(), [6, 6, 0]);
    assert.ok(failures > 2);
    assert.deepEqual(await signals(opened), [1, 1, 1, 1, 1, 1]);
  });
});

test("a lock in the middle of a slice applies nothing twice", async () => {
  const store = new MemoryStore();
  const ids = IDS.slice(0, 3);
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(ids);
    for (const _ of ids) await opened.completeTask();
    const load = store.load.bind(store);
    let loads = 0;
    store.load = (...run) => {
      if (++loads === 3) throw new StoreBusyError("locked");
      return load(...run);
    };
    const batch = {
      executions: ids.map((workflowId) => ({ workflowId })),
      resetOperation: { options: { firstWorkflowTask: {} } },
    };
    // The caller of a start that was not recorded tries again.
    await until("the start", () => opened.startBatch(batch).then(() => true), {
      retryErrors: true,
    });
    assert.ok(loads >= 3, `${loads} loads`);
    assert.deepEqual(await opened.ended(), [3, 3, 0]);
    for (const id of ids) assert.equal(await opened.client.count(`WorkflowId = '${id}'`), 2, id);
  });
});

test("a deletion continues with the runs that were not removed before the crash", async () => {
  const store = new ProbeStore(new MemoryStore());
  let removes = true;
  const purge = store.purge.bind(store);
  store.purge = (options) => removes ? purge(options) : [];
  const batch = {
    executions: IDS.slice(0, 3).map((workflowId) => ({ workflowId })),
    deletionOperation: { identity: "ada" },
  };
  removes = false;
  await BatchEngine.during(store, async (opened) => {
    await opened.startWorkflows(IDS);
    await opened.startBatch(batch);
    assert.deepEqual(await opened.counts(), [3, 0, 0]);
    assert.equal(await opened.client.count("ExecutionStatus = 'Terminated'"), 3);
  });
  removes = true;
  await BatchEngine.during(store, async (opened) => {
    for (let ms = 0; ms < 1000; ms += 50) {
      opened.clock.advanceTo(START_MS + ms);
      await opened.client.count();
    }
    assert.deepEqual(await opened.ended(), [3, 3, 0]);
    assert.equal(await opened.client.count(), 3);
  });
});

test("a damaged row does not stop the engine", async () => {
  const inner = new MemoryStore();
  const row = { jobId: "bad", request: new Uint8Array([1]), state: "{}" };
  inner.commit([], undefined, undefined, new Map([["bad", row]]));
  await BatchEngine.during(inner, async (opened) => {
    await opened.startWorkflows(IDS);
    await assert.rejects(opened.describeBatch("bad"), /"bad" cannot be read/);
    await assert.rejects(opened.startBatch({ ...SIGNAL, jobId: "bad" }), /"bad" cannot be read/);
    await opened.startBatch({ ...SIGNAL, maxOperationsPerSecond: 0 });
    assert.deepEqual(await opened.ended(), [6, 6, 0]);
    assert.equal((await opened.describeBatch()).state, BatchOperationState.COMPLETED);
    assert.equal(opened.reported.filter((message) => message.includes('"bad"')).length, 1);
  });
});
