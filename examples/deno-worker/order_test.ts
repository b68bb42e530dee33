// The workflow without a server, in virtual time: deno task test
import { deepStrictEqual as assertEquals, rejects as assertRejects } from "node:assert";
import { mockActivities, TestEnvironment } from "temporalex/testing";
import * as real from "./activities.ts";
import { order } from "./workflows.ts";

const workflows = new URL("./workflows.ts", import.meta.url);

Deno.test("an order is charged once and packed", async () => {
  await using env = await TestEnvironment.create();
  const activities = mockActivities<typeof real>({
    charge: () => Promise.resolve(24),
    pack: () => Promise.resolve("2 x book"),
  });
  await env.runWorker({ workflows, activities }, async () => {
    const receipt = await env.client.execute(order, {
      id: "one",
      args: [{ item: "book", count: 2 }],
    });
    assertEquals(receipt, { total: 24, parcel: "2 x book" });
  });
  assertEquals(activities.calls.charge, [["book", 2]]);
});

Deno.test("an unknown item is not retried", async () => {
  await using env = await TestEnvironment.create();
  await env.runWorker({ workflows, activities: real }, async () => {
    await assertRejects(() =>
      env.client.execute(order, { id: "two", args: [{ item: "moon", count: 1 }] })
    );
  });
});
