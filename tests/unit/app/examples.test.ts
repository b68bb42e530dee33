// The seven examples as applications: client, worker realm, activities and engine, as `npm run
// example all` runs them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activities, names, scenarios, workflows } from "../../../examples/scenarios.ts";
import { open, silentLogger } from "../../../ts/mod.ts";

const RESULTS: { [name: string]: (result: unknown) => void } = {
  onboarding: (r) => assert.deepEqual(r, { accountId: "acct-ada" }),
  counter: (r) => assert.equal(r, 2),
  shopping_cart: (r) => assert.deepEqual(r, { paid: true, totalCents: 1900 }),
  batch_process: (r) => assert.deepEqual(r, { processed: 3 }),
  inventory: (r) =>
    assert.deepEqual(r, {
      nut: { quantity: 5, priceCents: 300 },
      bolt: { quantity: 7, priceCents: 400 },
    }),
  order_processing: (r) =>
    assert.match(JSON.stringify(r), /^\{"orderNumber":\d+,"startedAt":"\d{4}-\d\d-\d\dT/),
  event_collector: (r) => assert.deepEqual(r, { generations: 2, continued: true }),
};

test("every example runs to its result", async (t) => {
  const app = await open({ workflows, activities, logger: silentLogger });
  try {
    for (const name of names) {
      await t.test(name, async () => RESULTS[name]!(await scenarios[name]!(app, () => {})));
    }
  } finally {
    await app.close();
  }
});
