// Testing with node:test: `node --test`. Thirty days of virtual time pass in milliseconds; no
// server, nothing downloaded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkflowUpdateRejectedError } from "temporalex/client";
import { mockActivities, TestEnvironment } from "temporalex/testing";
import type * as mail from "./activities.ts";
import { addCard, phase, trial } from "./workflow.ts";

const workflows = new URL("./workflow.ts", import.meta.url);

test("a trial without a card is reminded after 25 days and ends after 30", async (t) => {
  const env = await TestEnvironment.create();
  t.after(() => env.dispose());
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const began = env.now();
    assert.equal(await env.client.execute(trial, { id: "t", args: ["ada"] }), "ended"); // waiting for a result moves time
    assert.equal(env.now() - began, 30 * 24 * 3600_000);
  });
  assert.deepEqual(activities.calls.remind, [["ada"]]);
});

test("a card ends the trial, a wrong one does not", async (t) => {
  const env = await TestEnvironment.create();
  t.after(() => env.dispose());
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const handle = await env.client.start(trial, { id: "t", args: ["ada"] });
    await assert.rejects(handle.update(addCard, "12"), WorkflowUpdateRejectedError);
    await env.advance("26 days"); // or move time yourself
    assert.equal(await handle.query(phase), "reminded");
    assert.equal(await handle.update(addCard, "4711"), "thanks for 4711");
    assert.equal(await handle.result(), "subscribed");
  });
});

test("mail that fails is tried again", async (t) => {
  const env = await TestEnvironment.create();
  t.after(() => env.dispose());
  let attempts = 0;
  const activities = mockActivities<typeof mail>({
    remind: () => ++attempts < 3 ? Promise.reject(new Error("no route")) : Promise.resolve(),
  });
  await env.runWorker(
    { workflows, activities },
    () => env.client.execute(trial, { id: "t", args: ["ada"] }),
  );
  assert.equal(attempts, 3);
});
