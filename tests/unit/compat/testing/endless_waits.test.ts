// TestWorkflowEnvironment: waits that nothing can end are reported, and time is skipped while a
// test waits for an update.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { WithStartWorkflowOperation } from "../../../../ts/compat/client/mod.ts";
import {
  EndlessWaitError,
  type EndlessWaits,
  TestWorkflowEnvironment,
} from "../../../../ts/compat/testing/mod.ts";
import { DefaultLogger, Runtime, Worker } from "../../../../ts/compat/worker/mod.ts";
import { ManualTimers } from "../../../support/manual_timers.ts";
import { until } from "../../../support/until.ts";

const warnings: string[] = [];
Runtime.install({
  logger: new DefaultLogger(
    "WARN",
    ({ level, message }) => void (level === "WARN" && warnings.push(message)),
  ),
});

const DAY = 86_400_000;
const workflowsPath = fileURLToPath(new URL("./modules/endless_workflows.ts", import.meta.url));

async function withWorker(
  body: (
    env: TestWorkflowEnvironment,
    pass: (done: () => boolean) => Promise<unknown>,
  ) => Promise<void>,
  endlessWaits?: EndlessWaits,
): Promise<void> {
  const timers = new ManualTimers();
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    ...(endlessWaits !== undefined && { endlessWaits }),
  }, timers);
  try {
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: "test",
      workflowsPath,
    });
    await worker.runUntil(() =>
      body(env, (done) =>
        until("a report", async () => {
          await timers.advance(2000);
          return done();
        }))
    );
  } finally {
    await env.teardown();
  }
}

test("a condition that never holds: one warning with the run and the line", () =>
  withWorker(async (env, pass) => {
    const handle = await env.client.workflow.start("waitsForGo", {
      taskQueue: "test",
      workflowId: "c-1",
    });
    const result = handle.result();
    result.catch(() => {});
    const reported = () => warnings.filter((message) => message.includes("does not end by itself"));
    await pass(() => reported().length > 0);
    assert.match(
      reported()[0]!,
      /^the wait for the result of workflow "c-1" does not end by itself/,
    );
    assert.match(
      reported()[0]!,
      /type "waitsForGo", run .*\n[^]*at .*endless_workflows\.[jt]s:\d+:\d+/,
    );
    let n = 0;
    await pass(() => ++n === 15);
    assert.equal(reported().length, 1);
    await handle.signal("go");
    await result;
  }));

test('endlessWaits "error" rejects a wait for a result, and for an update', () =>
  withWorker(async (env, pass) => {
    const errors: Error[] = [];
    const handle = await env.client.workflow.start("waitsForGo", {
      taskQueue: "test",
      workflowId: "c-1",
    });
    handle.result().catch((error) => errors.push(error));
    await pass(() => errors.length === 1);
    assert.ok(errors[0] instanceof EndlessWaitError, String(errors[0]));
    assert.deepEqual([errors[0].workflowId, errors[0].awaited], ["c-1", "the result"]);
    handle.executeUpdate("never").catch((error) => errors.push(error));
    await pass(() => errors.length === 2);
    assert.match(
      String(errors[1]),
      /EndlessWaitError: the wait for update "never" of workflow "c-1" does not end by itself/,
    );
    await handle.terminate();
  }, "error"));

test("a workflow of a type that no worker has: the failure of its workflow task", () =>
  withWorker(async (env, pass) => {
    let error: unknown;
    env.client.workflow.execute("missing", { taskQueue: "test", workflowId: "m-1" }).catch((
      thrown,
    ) => (error = thrown));
    await pass(() => error !== undefined);
    assert.ok(error instanceof EndlessWaitError, String(error));
    assert.match(
      error.message,
      /^the wait for the result of workflow "m-1" does not end while its workflow task fails.*\n.*failed, and not completed since: .*'missing'/,
    );
    await env.client.workflow.getHandle("m-1").terminate();
  }, "error"));

test("time is skipped while a test waits for an update, and no further", () =>
  withWorker(async (env) => {
    const handle = await env.client.workflow.start("waitsForGo", {
      taskQueue: "test",
      workflowId: "u-1",
    });
    const from = await env.currentTimeMs();
    const passed = async () => Math.floor((await env.currentTimeMs() - from) / DAY);
    assert.equal(await handle.executeUpdate("naps", { args: [30 * DAY] }), "rested");
    assert.equal(await passed(), 30);
    const update = await handle.startUpdate("naps", { args: [5 * DAY], waitForStage: "ACCEPTED" });
    assert.equal(await passed(), 30);
    assert.equal(await update.result(), "rested");
    assert.equal(await passed(), 35);
    const startWorkflowOperation = new WithStartWorkflowOperation("waitsForGo", {
      taskQueue: "test",
      workflowId: "u-2",
      workflowIdConflictPolicy: "FAIL",
    });
    const options = { args: [5 * DAY], startWorkflowOperation };
    assert.equal(
      await env.client.workflow.executeUpdateWithStart("naps", options as never),
      "rested",
    );
    assert.equal(await passed(), 40);
    await env.client.workflow.getHandle("u-2").terminate();
    await handle.terminate();
  }));

test("another value of endlessWaits is rejected", async () => {
  await assert.rejects(
    TestWorkflowEnvironment.createTimeSkipping({ endlessWaits: "fail" as EndlessWaits }),
    {
      name: "TypeError",
      message: 'endlessWaits must be "warn" or "error", not "fail"',
    },
  );
});
