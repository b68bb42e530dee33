// Testing with Vitest: `npx vitest run`. Thirty days of virtual time pass in milliseconds; no
// server, nothing downloaded.
import { WorkflowUpdateRejectedError } from "temporalex/client";
import { mockActivities, TestEnvironment } from "temporalex/testing";
import { expect, onTestFinished, test } from "vitest";
import type * as mail from "./activities.ts";
import { addCard, phase, trial } from "./workflow.ts";

const workflows = new URL("./workflow.ts", import.meta.url);

test("a trial without a card is reminded after 25 days and ends after 30", async () => {
  const env = await TestEnvironment.create();
  onTestFinished(() => env.dispose());
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const began = env.now();
    expect(await env.client.execute(trial, { id: "t", args: ["ada"] })).toBe("ended"); // waiting for a result moves time
    expect(env.now() - began).toBe(30 * 24 * 3600_000);
  });
  expect(activities.calls.remind).toEqual([["ada"]]);
});

test("a card ends the trial, a wrong one does not", async () => {
  const env = await TestEnvironment.create();
  onTestFinished(() => env.dispose());
  const activities = mockActivities<typeof mail>({ remind: () => Promise.resolve() });
  await env.runWorker({ workflows, activities }, async () => {
    const handle = await env.client.start(trial, { id: "t", args: ["ada"] });
    await expect(handle.update(addCard, "12")).rejects.toThrow(WorkflowUpdateRejectedError);
    await env.advance("26 days"); // or move time yourself
    expect(await handle.query(phase)).toBe("reminded");
    expect(await handle.update(addCard, "4711")).toBe("thanks for 4711");
    expect(await handle.result()).toBe("subscribed");
  });
});

test("mail that fails is tried again", async () => {
  const env = await TestEnvironment.create();
  onTestFinished(() => env.dispose());
  let attempts = 0;
  const activities = mockActivities<typeof mail>({
    remind: () => ++attempts < 3 ? Promise.reject(new Error("no route")) : Promise.resolve(),
  });
  await env.runWorker(
    { workflows, activities },
    () => env.client.execute(trial, { id: "t", args: ["ada"] }),
  );
  expect(attempts).toBe(3);
});
