// The inline realm: the same interface in this thread, with nothing replaced.
import process from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import { sleep, workflow } from "../../../ts/workflow/mod.ts";
import { hasThreadWork } from "../../../ts/platform/thread_work.ts";
import { MiniServer } from "../../cases/mini_server.ts";
import { until } from "../../support/until.ts";
import { readWorkflowTask } from "../../../ts/messages/workflow_task.ts";

const timers = workflow("Timers", async (n: number) => {
  for (let i = 0; i < n; i++) await sleep(1000);
  return typeof setTimeout;
});
const other = workflow("Other", async () => 1);

// First of all: one realm that has left a listener would hide the others.
test("disposed inline realms leave no listener for rejections", async () => {
  const listeners = () =>
    ["unhandledRejection", "rejectionHandled"].map((event) => process.listenerCount(event));
  const before = listeners();
  for (let i = 0; i < 2; i++) await (await createInlineRealm({ workflows: { timers } })).dispose();
  assert.deepEqual(listeners(), before);
});

test("an inline realm runs definitions, modules and lists of both, and replaces no globals", async () => {
  for (
    const workflows of [{ timers, other }, [timers, other], [{ timers }, { other, again: other }]]
  ) {
    const realm = await createInlineRealm({ workflows });
    assert.deepEqual([...realm.workflowTypes].sort(), ["Other", "Timers"]);
    const server = new MiniServer("Timers", { args: [1] });
    server.report(await realm.runTask(readWorkflowTask(server.openTask())));
    server.fireTimer("1");
    server.report(await realm.runTask(readWorkflowTask(server.openTask({ sticky: true }))));
    assert.equal(server.closed?.result, "function", server.taskFailure?.failure.message);
    assert.equal((await realm.replay("wf", server.history())).verdict, "ok");
    realm.evict(server.runId);
    realm.taskReported(server.runId, new Uint8Array(0));
    await realm.dispose();
    await realm.dispose();
    await assert.rejects(realm.runTask(readWorkflowTask(server.openTask())), {
      name: "RealmDisposedError",
    });
    await assert.rejects(realm.replay("wf", server.history()), { name: "RealmDisposedError" });
  }
});

test("an inline realm reports work in this thread from the beginning of the first task to the end of the last", async () => {
  const realm = await createInlineRealm({ workflows: { timers } });
  const tasks = [1, 2, 3].map((n) => new MiniServer("Timers", { runId: `run${n}`, args: [n] }));
  assert.equal(hasThreadWork(), false);
  const open = tasks.map((server) => realm.runTask(readWorkflowTask(server.openTask())));
  assert.equal(hasThreadWork(), true);
  await open[0];
  assert.equal(hasThreadWork(), true, "others wait for their turn");
  await Promise.all(open);
  await until("the last task has ended", () => !hasThreadWork());
  const last = realm.runTask(readWorkflowTask(new MiniServer("Timers", { args: [1] }).openTask()));
  await realm.dispose();
  assert.equal(hasThreadWork(), false, "the realm is disposed");
  await last.catch(() => {});
});

test("an inline realm without workflows or without a task's history reports an error", async () => {
  await assert.rejects(createInlineRealm({ workflows: { x: 1 } }), /export no workflow/);
  const realm = await createInlineRealm({ workflows: { timers }, cacheSize: 0 });
  const server = new MiniServer("Timers", { args: [1] });
  server.report(await realm.runTask(readWorkflowTask(server.openTask())));
  server.fireTimer("1");
  server.report(await realm.runTask(readWorkflowTask(server.openTask({ sticky: true }))));
  assert.match(server.taskFailure?.failure.message ?? "", /the realm has no `fetchHistory`/);
  await realm.dispose();
});
