// The seven examples as cases: run live task by task, replayed byte by byte, and their commands
// compared with recorded digests, which are the same in Node, Deno and Chromium.
import * as batchActs from "../../examples/batch_process/activities.ts";
import { batchProcess } from "../../examples/batch_process/workflow.ts";
import { counter } from "../../examples/counter/workflow.ts";
import * as collectorActs from "../../examples/event_collector/activities.ts";
import { eventCollector } from "../../examples/event_collector/workflow.ts";
import * as inventoryActs from "../../examples/inventory/activities.ts";
import { inventory } from "../../examples/inventory/workflow.ts";
import * as onboardingActs from "../../examples/onboarding/activities.ts";
import { onboarding } from "../../examples/onboarding/workflow.ts";
import * as orderActs from "../../examples/order_processing/activities.ts";
import { orderProcessing, sources } from "../../examples/order_processing/workflow.ts";
import * as shopActs from "../../examples/shopping_cart/activities.ts";
import { shoppingCart } from "../../examples/shopping_cart/workflow.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive, settleActivity } from "./driver.ts";

type Acts = { [name: string]: (...args: never[]) => unknown };

/**
 * Two 32-bit hashes over every command of the run: kind, cancel, seq and bytes, activation by
 * activation.
 */
function digest(d: Drive): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  const byte = (x: number) => {
    a = Math.imul(a ^ x, 0x01000193) >>> 0;
    b = (Math.imul(b ^ x, 0x85ebca6b) + 0x27d4eb2f) >>> 0;
  };
  for (const activation of d.live) {
    byte(255);
    for (const { kind, cancel, seq, attributes } of activation.commands) {
      [kind, cancel ? 1 : 0, seq & 255, attributes.length & 255, attributes.length >> 8].forEach(
        byte,
      );
      attributes.forEach(byte);
    }
  }
  return `${a.toString(16).padStart(8, "0")}${b.toString(16).padStart(8, "0")}`;
}

/** Settles the oldest open activity with the example's own code, and runs the task. */
async function settle(d: Drive, acts: Acts): Promise<void> {
  await settleActivity(d.server, d.server.activities.keys().next().value!, acts);
  await d.task();
}

async function shop(d: Drive): Promise<void> {
  await d.task();
  const s = d.server;
  s.update("u1", "add_item", { sku: "BOOK-1", priceCents: 1900 });
  s.update("u2", "add_item", { sku: "PEN-2", priceCents: 250 });
  await d.task();
  deepEqual([s.updates.get("u1")!.result, s.updates.get("u2")!.result], [1, 2]);
  const refused = s.update("u3", "add_item", { sku: "???", priceCents: 1 });
  await d.task();
  equal(refused.stage, "rejected");
  equal(refused.failure?.message, '"???" is not a SKU');
  const early = s.update("u4", "confirm");
  const removed = s.update("u5", "remove_item", "PEN-2");
  await d.task();
  match(
    early.failure!.message,
    /"confirm" is not accepted: at this point the workflow accepts these updates: add_item, remove_item/,
  );
  equal(removed.result, 1);
  deepEqual((await d.query("status")).value, { phase: "open", itemCount: 1 });
  s.signal("checkout");
  await d.task();
  deepEqual((await d.query("status")).value, { phase: "charging", itemCount: 1 });
  await settle(d, shopActs as Acts);
  deepEqual((await d.query("status")).value, { phase: "confirming", totalCents: 1900 });
}

/**
 * Recorded once; they change when a command's encoding or an example changes, and then on purpose.
 */
const DIGESTS: { [name: string]: string } = {
  "Onboarding": "2d38437e13b96055",
  "Counter": "c1b333b18f555b88",
  "ShoppingCart, confirmed": "daf13cc18045f59b",
  "ShoppingCart, cancelled": "36cd8732e0ed34f0",
  "BatchProcess, all good": "3ffbf730ba26429a",
  "BatchProcess, one bad": "cf09ab39f8dabdba",
  "Inventory": "2b5b2f7161296b7d",
  "OrderProcessing": "7a28ddd7e4230dec",
  "EventCollector, flushed": "48dca6bc2d7df7ba",
  "EventCollector, timed out": "568254de0f8e94c5",
};

export const scenarios: { [name: string]: () => Promise<Drive> } = {
  "Onboarding": async () => {
    const d = await drive(onboarding, { args: [{ userId: "ada" }] });
    await d.task();
    deepEqual((await d.query("status")).value, { step: "creating_account" });
    await settle(d, onboardingActs as Acts);
    deepEqual((await d.query("status")).value, { step: "sending_welcome" });
    deepEqual(await d.auto(onboardingActs as Acts), { accountId: "acct-ada" });
    deepEqual((await d.query("status")).value, { step: "done" });
    return d;
  },
  "Counter": async () => {
    const d = await drive(counter);
    d.server.signal("increment");
    await d.task();
    d.server.signal("increment");
    d.server.signal("decrement");
    d.server.signal("increment");
    await d.task();
    equal((await d.query("value")).value, 2);
    d.server.signal("done");
    await d.task();
    equal(await d.finish(), 2);
    return d;
  },
  "ShoppingCart, confirmed": async () => {
    const d = await drive(shoppingCart, { args: [{ customer: "ada" }] });
    await shop(d);
    const confirmed = d.server.update("u9", "confirm");
    await d.task();
    equal(confirmed.result, "confirmed");
    await settle(d, shopActs as Acts);
    deepEqual(await d.finish(), { paid: true, totalCents: 1900 });
    deepEqual((await d.query("status")).value, { phase: "done", totalCents: 1900 });
    return d;
  },
  "ShoppingCart, cancelled": async () => {
    const d = await drive(shoppingCart, { args: [{ customer: "ada" }], cached: false });
    await shop(d);
    d.server.update("u9", "cancel");
    await d.task();
    await settle(d, shopActs as Acts);
    deepEqual(await d.finish(), { paid: false });
    return d;
  },
  "BatchProcess, all good": async () => {
    const d = await drive(batchProcess, { args: [{ items: ["a", "b", "c"] }] });
    deepEqual(await d.auto(batchActs as Acts), { processed: 3 });
    return d;
  },
  "BatchProcess, one bad": async () => {
    const d = await drive(batchProcess, { args: [{ items: ["a", "bad", "c"] }] });
    await d.auto(batchActs as Acts).then(() => {
      throw new Error("it did not fail");
    }, (e: Error) => equal(e.message, "workflow failed: 1 of 3 items failed"));
    return d;
  },
  "Inventory": async () => {
    const d = await drive(inventory);
    const s = d.server;
    const first = s.update("u1", "restock", { sku: "nut", quantity: 5 });
    const second = s.update("u2", "restock", { sku: "bolt", quantity: 7 });
    await d.task();
    deepEqual([first.stage, second.stage, s.activities.size], ["accepted", "accepted", 2]);
    await settleActivity(s, "2", inventoryActs as Acts);
    const third = s.update("u3", "restock", { sku: "nut", quantity: 1 });
    await d.task();
    deepEqual(second.result, { quantity: 7, priceCents: 400 });
    s.signal("close");
    await d.task();
    equal(s.closed, undefined, "async handlers in flight finish first");
    await settleActivity(s, "1", inventoryActs as Acts);
    await settleActivity(s, "3", inventoryActs as Acts);
    await d.task();
    deepEqual([first.result, third.result], [{ quantity: 5, priceCents: 300 }, {
      quantity: 6,
      priceCents: 300,
    }]);
    deepEqual(await d.finish(), {
      nut: { quantity: 6, priceCents: 300 },
      bolt: { quantity: 7, priceCents: 400 },
    });
    return d;
  },
  "OrderProcessing": async () => {
    const real = { ...sources };
    let asked = 0;
    Object.assign(sources, {
      nextOrderNumber: () => 4711 + asked++,
      timeOfDay: () => "2026-01-01T00:00:00.000Z",
    });
    try {
      const d = await drive(orderProcessing, { args: [{ customerId: "ada" }], cached: false });
      deepEqual(await d.auto(orderActs as Acts), {
        orderNumber: 4711,
        startedAt: "2026-01-01T00:00:00.000Z",
      });
      equal(asked, 1, "the source is asked once, and never on replay");
      return d;
    } finally {
      Object.assign(sources, real);
    }
  },
  "EventCollector, flushed": async () => {
    const d = await drive(eventCollector);
    d.server.signal("event", { kind: "a" });
    await d.task();
    d.server.signal("event", { kind: "b" });
    d.server.signal("flush");
    d.server.signal("event", { kind: "c" });
    await d.task();
    equal((await d.query("count")).value, 2);
    await settle(d, collectorActs as Acts);
    await d.finish();
    const { args, headers } = d.server.closed!.next!;
    deepEqual(args, [{ events: [], generation: 1 }]);
    const next = await drive(eventCollector, {
      args,
      headers,
      runId: "22222222-2222-4333-8444-555555555555",
    });
    await next.task();
    equal((await next.query("count")).value, 1, "the late event was carried over");
    return d;
  },
  "EventCollector, timed out": async () => {
    const d = await drive(eventCollector, { args: [{ events: [{ kind: "x" }], generation: 4 }] });
    await d.task();
    d.server.fireTimer("1");
    await d.task();
    await settle(d, collectorActs as Acts);
    await d.finish();
    deepEqual(d.server.closed!.next!.args, [{ events: [], generation: 5 }]);
    return d;
  },
};

export const cases: Case[] = Object.entries(scenarios).map(([name, run]) => ({
  name: `example ${name}`,
  run: async () => equal(digest(await run()), DIGESTS[name], "digest of all commands"),
}));
