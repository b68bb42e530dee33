#!/usr/bin/env node
// Records the histories that the debugger page offers as samples (web-demo/samples): each example
// once, on an engine in memory, and two more carts: one that is still open, and one whose code was
// another one. Run it when an example changes: node web-demo/tools/record_samples.mjs The carts are
// recorded at the pace of a customer and of a payment service that is slow twice, so it takes about
// two minutes.
import { writeFileSync } from "node:fs";
import { buildDist } from "../../tools/build_dist.mjs";

buildDist();
const { open, silentLogger } = await import("../../dist/ts/mod.js");
const { activities, names, scenarios, workflows } = await import(
  "../../dist/examples/scenarios.js"
);
const cart = await import("../../dist/examples/shopping_cart/workflow.js");
const { activityInfo, ApplicationFailure } = await import("../../dist/ts/activity/mod.js");
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Stack traces name a file of the shop's, and not the folder that this one lies in. */
const write = (name, json) => {
  const text = json.replace(/file:\/\/[^\s"()]+/g, "file:///shop/activities.ts:12:9");
  writeFileSync(new URL(`../samples/${name}.json`, import.meta.url), `${text}\n`);
};
const identity = "sample";
const app = await open({
  workflows,
  activities,
  logger: silentLogger,
  worker: { identity },
  client: { identity },
});
try {
  for (const name of names.filter((name) => name !== "shopping_cart")) {
    // The one that continues as new: the history of its first run.
    const ids = { batch_process: "batch", order_processing: "order", event_collector: "collector" };
    await scenarios[name](app, () => {});
    const id = ids[name] ?? name;
    const run = name === "event_collector" ? await firstRun(app, id) : undefined;
    write(name, await app.client.getHandle(undefined, id, run).historyJson());
  }
} finally {
  await app.close();
}

await recordCarts();

async function recordCarts() {
  const slow = {
    ...activities,
    async charge(...args) {
      const { attempt } = activityInfo();
      await pause([0, 0.42, 1.1, 1.9][attempt]);
      if (attempt < 3) {
        throw new ApplicationFailure("the payment service did not respond", {
          type: "GatewayTimeout",
        });
      }
      return await activities.charge(...args);
    },
    async sendReceipt(...args) {
      await pause(0.37);
      return await activities.sendReceipt(...args);
    },
  };
  const app = await open({
    workflows,
    activities: slow,
    logger: silentLogger,
    worker: { identity },
    client: { identity },
  });
  try {
    const handle = await app.client.start(cart.shoppingCart, {
      id: "cart",
      args: [{ customer: "ada" }],
    });
    await pause(4.2);
    await handle.update(cart.addItem, { sku: "BOOK-1", priceCents: 1900 });
    await pause(7.4);
    await handle.update(cart.addItem, { sku: "PEN-2", priceCents: 250 });
    await pause(27.3);
    await handle.update(cart.removeItem, "PEN-2");
    await pause(42);
    await handle.signal(cart.checkout);
    while ((await handle.query(cart.status)).phase !== "confirming") await pause(0.1);
    await pause(23.2);
    await handle.update(cart.confirm);
    await handle.result();
    const json = await handle.historyJson();
    write("shopping_cart", json);
    write("shopping_cart_diverged", json.replaceAll('"name": "charge"', '"name": "chargeCard"'));
    const other = await app.client.start(cart.shoppingCart, {
      id: "cart-open",
      args: [{ customer: "grace" }],
    });
    await pause(3.1);
    await other.update(cart.addItem, { sku: "LAMP-3", priceCents: 4200 });
    await pause(5.6);
    await other.update(cart.addItem, { sku: "BULB-1", priceCents: 350 });
    write("shopping_cart_open", await other.historyJson());
  } finally {
    await app.close();
  }
}

async function firstRun(app, id) {
  for await (const run of app.client.list(`WorkflowId = '${id}'`)) {
    if (/continued/i.test(String(run.status))) return run.runId;
  }
  throw new Error(`${id} has no run that continued as new`);
}
