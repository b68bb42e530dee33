// Testing with Deno: `deno test -A`. Thirty days of virtual time pass in milliseconds; no server,
// nothing downloaded.
import { assertEquals, assertRejects } from "@std/assert"; // deno.json maps it: "jsr:@std/assert@1", or "npm:deno-std@1.4.0/assert/mod.js"
import { WorkflowUpdateRejectedError } from "temporalex/client";
import { mockActivities, TestEnvironment } from "temporalex/testing";
import type * as mail from "./activities.ts";
import { addCard, phase, trial } from "./workflow.ts";

const workflows = new URL("./workflow.ts", import.meta.url);

Deno.test("a trial without a card is reminded after 25 days and ends after 30", async () => {
  await using env = await TestEnvironment.create();
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const began = env.now();
    assertEquals(await env.client.execute(trial, { id: "t", args: ["ada"] }), "ended"); // waiting for a result moves time
    assertEquals(env.now() - began, 30 * 24 * 3600_000);
  });
  assertEquals(activities.calls.remind, [["ada"]]);
});

Deno.test("a card ends the trial, a wrong one does not", async () => {
  await using env = await TestEnvironment.create();
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const handle = await env.client.start(trial, { id: "t", args: ["ada"] });
    await assertRejects(() => handle.update(addCard, "12"), WorkflowUpdateRejectedError);
    await env.advance("26 days"); // or move time yourself
    assertEquals(await handle.query(phase), "reminded");
    assertEquals(await handle.update(addCard, "4711"), "thanks for 4711");
    assertEquals(await handle.result(), "subscribed");
  });
});

Deno.test("mail that fails is tried again", async () => {
  await using env = await TestEnvironment.create();
  let attempts = 0;
  const activities = mockActivities<typeof mail>({
    remind: () => ++attempts < 3 ? Promise.reject(new Error("no route")) : Promise.resolve(),
  });
  await env.runWorker(
    { workflows, activities },
    () => env.client.execute(trial, { id: "t", args: ["ada"] }),
  );
  assertEquals(attempts, 3);
});
