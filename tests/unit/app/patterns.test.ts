// Every pattern of examples/patterns in virtual time: both forms get the same calls and have the
// same outcome, and every run replays.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  activitiesOfPatterns,
  FORMS,
  patterns,
  workflowsOfForm,
} from "../../support/patterns/mod.ts";

for (const form of FORMS) {
  test(`patterns in the ${form} form`, async (t) => {
    const env = await TestEnvironment.create({ logger: silentLogger, endlessWaits: "error" });
    const { activities, callsOf } = activitiesOfPatterns();
    const workflows = workflowsOfForm(form);
    try {
      await env.runWorker({ workflows, activities }, async () => {
        for (const [folder, { check }] of Object.entries(patterns)) {
          await t.test(`${folder}, ${form} form`, async () => {
            await check({
              client: env.client,
              calls: callsOf(folder),
              now: () => env.now(),
              advance: (ms) => env.advance(ms),
            });
          });
        }
      });
      await t.test(`all runs of the ${form} form replay`, () => replayAll(env, workflows));
    } finally {
      await env.dispose();
    }
  });
}

async function replayAll({ client }: TestEnvironment, workflows: URL): Promise<void> {
  // Without a watchdog, which measures the time of a busy machine.
  const realm = await createWorkerRealm({ workflows, watchdogMs: 0 });
  try {
    let replayed = 0;
    for await (const { workflowId, runId } of client.list("")) {
      const history = await client.getHandle(undefined, workflowId, runId).historyBytes();
      const { verdict, error } = await realm.replay(workflowId, history);
      assert.equal(verdict, "ok", `${workflowId}: ${error?.message}`);
      replayed++;
    }
    assert.ok(replayed >= Object.keys(patterns).length);
  } finally {
    await realm.dispose();
  }
}

test("every folder of examples/patterns is tested", () => {
  const folders = readdirSync("examples/patterns", { withFileTypes: true });
  assert.deepEqual(
    folders.filter((entry) => entry.isDirectory()).map(({ name }) => name).sort(),
    Object.keys(patterns).sort(),
  );
});
