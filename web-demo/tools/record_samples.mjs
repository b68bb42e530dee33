#!/usr/bin/env node
// Records the histories that the debugger page offers as samples (web-demo/samples): each example once, on an engine in memory, and two more
// carts: one that is still open, and one whose code was another one. Run it when an example changes: node web-demo/tools/record_samples.mjs
import { writeFileSync } from "node:fs";
import { buildDist } from "../../tools/build_dist.mjs";

buildDist();
const { open, silentLogger } = await import("../../dist/ts/mod.js");
const { activities, names, scenarios, workflows } = await import("../../dist/examples/scenarios.js");
const cart = await import("../../dist/examples/shopping_cart/workflow.js");

const write = (name, json) => writeFileSync(new URL(`../samples/${name}.json`, import.meta.url), `${json}\n`);
const identity = "sample";
const app = await open({ workflows, activities, logger: silentLogger, worker: { identity }, client: { identity } });
try {
  for (const name of names) {
    // The one that continues as new: the history of its first run.
    const ids = { shopping_cart: "cart", batch_process: "batch", order_processing: "order", event_collector: "collector" };
    await scenarios[name](app, () => {});
    const id = ids[name] ?? name;
    const run = name === "event_collector" ? await firstRun(app, id) : undefined;
    write(name, await app.client.getHandle(undefined, id, run).historyJson());
  }
  const handle = await app.client.start(cart.shoppingCart, { id: "cart-open", args: [{ customer: "grace" }] });
  await handle.update(cart.addItem, { sku: "LAMP-3", priceCents: 4200 });
  await handle.update(cart.addItem, { sku: "BULB-1", priceCents: 350 });
  write("shopping_cart_open", await handle.historyJson());
  const other = await app.client.getHandle(cart.shoppingCart, "cart").historyJson();
  write("shopping_cart_diverged", other.replaceAll('"name": "charge"', '"name": "chargeCard"'));
} finally {
  await app.close();
}

async function firstRun(app, id) {
  for await (const run of app.client.list(`WorkflowId = '${id}'`)) {
    if (/continued/i.test(String(run.status))) return run.runId;
  }
  throw new Error(`${id} has no run that continued as new`);
}
