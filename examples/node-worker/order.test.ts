// The workflow without a server, in virtual time: npm test
import assert from "node:assert/strict";
import { test } from "node:test";
import { mockActivities, TestEnvironment } from "temporalex/testing";
import * as real from "./activities.ts";
import { order } from "./workflows.ts";

const workflows = new URL("./workflows.ts", import.meta.url);

test("an order is charged once and packed", async () => {
  const env = await TestEnvironment.create();
  try {
    const activities = mockActivities<typeof real>({
      charge: () => Promise.resolve(24),
      pack: () => Promise.resolve("2 x book"),
    });
    await env.runWorker({ workflows, activities }, async () => {
      const receipt = await env.client.execute(order, {
        id: "one",
        args: [{ item: "book", count: 2 }],
      });
      assert.deepEqual(receipt, { total: 24, parcel: "2 x book" });
    });
    assert.deepEqual(activities.calls.charge, [["book", 2]]);
  } finally {
    await env.dispose();
  }
});

test("an unknown item is not retried", async () => {
  const env = await TestEnvironment.create();
  try {
    await env.runWorker({ workflows, activities: real }, async () => {
      await assert.rejects(
        env.client.execute(order, { id: "two", args: [{ item: "moon", count: 1 }] }),
      );
    });
  } finally {
    await env.dispose();
  }
});
