// Histories that grow large: the worker says so in time, once, and the client says why a run was
// ended.
// takes: 5 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger, WorkflowFailedError } from "../../../ts/client/mod.ts";
import { HistoryLimits } from "../../../ts/executor/tasks/history_limits.ts";
import type { LogFields } from "../../../ts/base/logger.ts";
import { sideEffect, sleep, workflow } from "../../../ts/workflow/mod.ts";
import { withEngine } from "../../support/services.ts";

const MiB = 1024 * 1024;

test("a run logs a warning at 10,240 events or 10 MiB, and near the limit, each once", () => {
  const limits = new HistoryLimits();
  const run = { workflowType: "Cart", runId: "r" };
  assert.equal(limits.check(run, 10_239, 9 * MiB), undefined);
  assert.equal(
    limits.check(run, 10_240, 4 * MiB)?.message,
    'the history of workflow "Cart" has 10240 events and 4.0 MiB; the server terminates a run at 51200 events or 50 MiB: ' +
      "return continueAsNew(...) when workflowInfo().continueAsNewSuggested",
  );
  assert.equal(limits.check(run, 20_000, 30 * MiB), undefined);
  assert.match(limits.check(run, 20_000, 41 * MiB)!.message, /which is close/);
  assert.equal(limits.check(run, 50_000, 49 * MiB), undefined);
  assert.match(
    limits.check({ ...run, runId: "s" }, 100, 10 * MiB)!.message,
    /100 events and 10\.0 MiB/,
    "every run has its own",
  );
  limits.forget("r");
  assert.ok(limits.check(run, 10_240, 0));
});

const grows = workflow("Grows", async () => {
  for (let i = 0; i < 10_300; i++) sideEffect(() => i);
  for (let i = 0; i < 4; i++) await sleep(1);
  return "grown";
});

for (const cachedWorkflows of [0, 1000]) {
  test(`the worker's log names the workflow and the run, once, with ${cachedWorkflows} cached`, () =>
    withEngine("memory", {}, async (t) => {
      const warned: [string, LogFields | undefined][] = [];
      const logger = {
        ...silentLogger,
        warn: (message: string, fields?: LogFields) => void warned.push([message, fields]),
      };
      await t.work({ workflows: [grows], logger, cachedWorkflows }, async () => {
        const handle = await t.client.start(grows, { id: "g", taskTimeout: "2m" });
        assert.equal(await handle.result(), "grown");
        assert.equal(warned.length, 1);
        const [message, fields] = warned[0]!;
        assert.match(
          message,
          /^the history of workflow "Grows" has 103\d\d events and \d\.\d MiB; the server terminates a run/,
        );
        assert.deepEqual([fields!["workflowId"], fields!["runId"]], ["g", handle.runId]);
      });
    }));
}

test("the error of a run closed for its history size names the reason", () =>
  withEngine("memory", { limits: { historyEvents: 30 } }, async (t) => {
    const endless = workflow("Endless", async () => {
      for (;;) await sleep(1);
    });
    await t.work({ workflows: [endless] }, async () => {
      await assert.rejects(t.client.execute(endless, { id: "e" }), (error: Error) => {
        assert.ok(error instanceof WorkflowFailedError);
        assert.match(error.message, /was terminated: Workflow history count exceeds limit/);
        return true;
      });
    });
  }));
