// What a client does with each example: starts it, sends it messages, and returns the result. Run
// by `npm run example` and by the tests.
import type { App } from "temporalex";
import { batchProcess } from "./batch_process/workflow.ts";
import { counter } from "./counter/workflow.ts";
import { count, event, eventCollector, flush } from "./event_collector/workflow.ts";
import { close, inventory, restock, stock } from "./inventory/workflow.ts";
import { onboarding } from "./onboarding/workflow.ts";
import { orderProcessing } from "./order_processing/workflow.ts";
import {
  addItem,
  checkout,
  confirm,
  removeItem,
  shoppingCart,
  status,
} from "./shopping_cart/workflow.ts";
import * as batchActs from "./batch_process/activities.ts";
import * as collectorActs from "./event_collector/activities.ts";
import * as inventoryActs from "./inventory/activities.ts";
import * as onboardingActs from "./onboarding/activities.ts";
import * as orderActs from "./order_processing/activities.ts";
import * as shopActs from "./shopping_cart/activities.ts";

/** Folders of the examples. */
export const names = [
  ...[
    "onboarding",
    "counter",
    "shopping_cart",
    "batch_process",
    "inventory",
    "order_processing",
    "event_collector",
  ],
] as const;

export const workflows = [
  new URL("./onboarding/workflow.ts", import.meta.url),
  new URL("./counter/workflow.ts", import.meta.url),
  new URL("./shopping_cart/workflow.ts", import.meta.url),
  new URL("./batch_process/workflow.ts", import.meta.url),
  new URL("./inventory/workflow.ts", import.meta.url),
  new URL("./order_processing/workflow.ts", import.meta.url),
  new URL("./event_collector/workflow.ts", import.meta.url),
];

/** The same, for realms in this thread. */
export const definitions = [
  ...[onboarding, counter, shoppingCart, batchProcess, inventory, orderProcessing, eventCollector],
] as const;

export const activities = {
  ...batchActs,
  ...collectorActs,
  ...inventoryActs,
  ...onboardingActs,
  ...orderActs,
  ...shopActs,
};

const until = async (ready: () => Promise<boolean>) => {
  while (!await ready()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Each returns the values that `say` was called with, and the result. */
export const scenarios: {
  [name: string]: (app: App, say: (line: string) => void) => Promise<unknown>;
} = {
  onboarding: ({ client }) =>
    client.execute(onboarding, { id: "onboarding", args: [{ userId: "ada" }] }),

  async counter({ client }, say) {
    const handle = await client.start(counter, { id: "counter" });
    for (const name of ["increment", "increment", "decrement", "increment"]) {
      await handle.signal(name);
      say(`signal ${name}`);
    }
    await handle.signal("done");
    return await handle.result();
  },

  async shopping_cart({ client }, say) {
    const handle = await client.start(shoppingCart, { id: "cart", args: [{ customer: "ada" }] });
    say(
      `add_item BOOK-1: ${await handle.update(addItem, {
        sku: "BOOK-1",
        priceCents: 1900,
      })} in the cart`,
    );
    say(
      `add_item PEN-2: ${await handle.update(addItem, {
        sku: "PEN-2",
        priceCents: 250,
      })} in the cart`,
    );
    say(`remove_item PEN-2: ${await handle.update(removeItem, "PEN-2")} in the cart`);
    await handle.signal(checkout);
    await until(async () => (await handle.query(status)).phase === "confirming");
    say(`confirm: ${await handle.update(confirm)}`);
    return await handle.result();
  },

  batch_process: ({ client }) =>
    client.execute(batchProcess, { id: "batch", args: [{ items: ["a", "b", "c"] }] }),

  async inventory({ client }, say) {
    const handle = await client.start(inventory, { id: "inventory" });
    const [nuts, bolts] = await Promise.all([
      handle.update(restock, { sku: "nut", quantity: 5 }),
      handle.update(restock, { sku: "bolt", quantity: 7 }),
    ]);
    say(
      `restocked ${nuts.quantity} nuts and ${bolts.quantity} bolts at once: ${
        JSON.stringify(await handle.query(stock))
      }`,
    );
    await handle.signal(close);
    return await handle.result();
  },

  order_processing: ({ client }) =>
    client.execute(orderProcessing, { id: "order", args: [{ customerId: "ada" }] }),

  async event_collector({ client }, say) {
    const first = await client.start(eventCollector, { id: "collector" });
    await first.signal(event, { kind: "a" });
    await first.signal(event, { kind: "b" });
    await first.signal(flush);
    const latest = client.getHandle(eventCollector, "collector");
    await until(async () => (await latest.describe()).runId !== first.firstExecutionRunId);
    say("flushed: the run continued as new");
    await latest.signal(event, { kind: "c" });
    await until(async () => await latest.query(count) === 1);
    const { runId } = await latest.describe();
    await latest.terminate("the example is over");
    return { generations: 2, continued: runId !== first.firstExecutionRunId };
  },
};
