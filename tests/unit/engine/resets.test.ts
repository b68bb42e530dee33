// Resets on an embedded engine, through the client: points, messages that come again, children, and
// what a store keeps of them. The state machine's rules are tested in core-rs/tests/engine/resets.rs.
// takes: 3 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  noreply,
  on,
  receive,
  reply,
  signal,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { onBothStores } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { inFolder, whileOpen } from "./support/stores.ts";

const code = { price: () => price };
let price = 0;
const acts = activities<typeof code>({ startToClose: "10s" });
const note = signal<[string]>("note");
const finish = signal("finish");
const add = update<[number], number>("add");

const priced = workflow("Priced", async () => {
  const first = await acts.price();
  const word = await waitForSignal(note);
  return `${first} ${word} ${await acts.price()}`;
});
const ledger = workflow(
  "Ledger",
  () =>
    receive<{ sum: number; notes: string[] }>({ sum: 0, notes: [] }, [
      on(add, ([n], state) => reply(state.sum + n, { ...state, sum: state.sum + n })),
      on(note, ([text], state) => noreply({ ...state, notes: [...state.notes, text] })),
      on(finish, (_, state) => stop(state)),
    ]),
);
const work = { workflows: [priced, ledger], activities: code };

onBothStores("a workflow is reset to its first task, its last one and an event", async (t) => {
  await t.work(work, async () => {
    price = 1;
    const handle = await t.client.start(priced, { id: "points" });
    await handle.signal(note, "x");
    assert.equal(await handle.result(), "1 x 1");
    price = 2;
    const first = await handle.reset({ type: "FIRST_WORKFLOW_TASK", reason: "another price" });
    assert.notEqual(first.runId, handle.runId);
    assert.equal(await first.result(), "2 x 2", "the signal came again");
    price = 3;
    const last = await first.reset({ type: "LAST_WORKFLOW_TASK", reason: "the end again" });
    assert.equal(await last.result(), "2 x 2", "what was done before the point stays");
    const { events } = await handle.fetchHistory();
    const second = events.filter(({ attributes }) =>
      attributes.case === "workflowTaskCompletedEventAttributes"
    )[1]!;
    const pinned = t.client.getHandle(priced, "points", handle.runId!);
    const again = await pinned.reset({ eventId: second.eventId, reason: "the second price" });
    assert.match(String(await again.result()), /^1 x [13]$/);
    const described = await t.client.getHandle(priced, "points").describe();
    assert.equal(described.runId, again.runId);
  });
});

onBothStores("updates and signals come again, unless they are excluded", async (t) => {
  await t.work(work, async () => {
    const handle = await t.client.start(ledger, { id: "again" });
    assert.equal(await handle.update(add, 5), 5);
    await handle.signal(note, "a");
    const pinned = t.client.getHandle(ledger, "again", handle.runId!);
    const all = await pinned.reset({ type: "FIRST_WORKFLOW_TASK", reason: "all" });
    assert.equal(await all.update(add, 2), 7, "after the update that was accepted before");
    await all.signal(finish);
    assert.deepEqual(await all.result(), { sum: 7, notes: ["a"] });
    const some = await pinned.reset({
      type: "FIRST_WORKFLOW_TASK",
      reason: "without signals",
      reapplyExclude: ["SIGNAL"],
    });
    await some.signal(finish);
    assert.deepEqual(await some.result(), { sum: 5, notes: [] });
    const none = await pinned.reset({
      type: "FIRST_WORKFLOW_TASK",
      reason: "nothing",
      reapplyExclude: "ALL",
    });
    await none.signal(finish);
    assert.deepEqual(await none.result(), { sum: 0, notes: [] });
  });
});

onBothStores("a description has reset points and the run that a reset created", async (t) => {
  await t.work({ ...work, buildStamp: { buildId: "build-1", useVersioning: false } }, async () => {
    const handle = await t.client.start(ledger, { id: "described" });
    await handle.update(add, 1);
    const service = typedService(t.service);
    const described = (runId = "") =>
      service.describeWorkflowExecution({
        namespace: "default",
        execution: { workflowId: "described", runId },
      });
    const { workflowExecutionInfo } = await described();
    const points = workflowExecutionInfo!.autoResetPoints!.points;
    assert.deepEqual(
      points.map((point) => [point.buildId, point.firstWorkflowTaskCompletedId, point.resettable]),
      [["build-1", 4n, true]],
    );
    const next = await handle.reset({ buildId: "build-1", reason: "by build" });
    const base = await described(handle.runId);
    assert.equal(base.workflowExtendedInfo!.resetRunId, next.runId);
    await next.terminate();
  });
});

test("a reset run of a file continues after the engine was opened again", () =>
  inFolder(async (folder) => {
    const path = join(folder, "store.sqlite");
    let runId = "";
    await whileOpen({ path }, async (engine) => {
      const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
      const worker = await Worker.create({
        ...{ service: engine, taskQueue: "q", logger: silentLogger },
        ...work,
      });
      await worker.runUntil(async () => {
        const handle = await client.start(ledger, { id: "kept" });
        await handle.update(add, 5);
        await until(
          "its task is done",
          async () => (await handle.fetchHistory()).events.length >= 6,
        );
      });
      const next = await client.getHandle(ledger, "kept").reset({
        type: "FIRST_WORKFLOW_TASK",
        reason: "before the end of the process",
      });
      runId = next.runId!;
    });
    await whileOpen({ path }, async (engine) => {
      const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
      const worker = await Worker.create({
        ...{ service: engine, taskQueue: "q", logger: silentLogger },
        ...work,
      });
      await worker.runUntil(async () => {
        const handle = client.getHandle(ledger, "kept");
        await handle.signal(finish);
        assert.deepEqual(await handle.result(), { sum: 5, notes: [] });
        assert.equal((await handle.describe()).runId, runId);
      });
    });
  }));
