// A whole application in one process, in every runtime: engine in memory, worker, client,
// activities, virtual time. Nothing of it needs more than the runtime has, so it works in a browser
// tab.
import { activityInfo, ApplicationFailure, withContext } from "../../ts/activity/mod.ts";
import {
  Client,
  silentLogger,
  type WorkflowFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { TestEnvironment } from "../../ts/testing/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  activities,
  continueAsNew,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";

interface Shop {
  charge(total: number): Promise<string>;
}
const shop = activities<Shop>({
  startToClose: "10s",
  heartbeat: "2s",
  retry: { initialInterval: 1, maximumAttempts: 3 },
});
const add = update<[price: number], number>("add");
const checkout = signal("checkout");
const total = query<number>("total");

const cart = workflow("Cart", {
  messages: { total },
  queries: { total: (published: number) => published },
  async run(start: number) {
    publishState(start);
    const state = await receive({ sum: start }, [
      on(add, ([price], now) => {
        publishState(now.sum + price);
        return reply(now.sum + price, { sum: now.sum + price });
      }, {
        validate: ([price]) => {
          if (price <= 0) throw ApplicationFailure.nonRetryable("nothing is free");
        },
      }),
      on(checkout, (_, now) => stop(now)),
    ]);
    await sleep(5);
    return await shop.charge(state.sum);
  },
});
const chain = workflow(
  "Chain",
  async (left: number) => left === 0 ? "end" : continueAsNew<[number]>(left - 1),
);
const yearly = workflow("Yearly", async () => {
  await sleep("365 days");
  return await shop.charge(1);
});

async function application(acts: object, body: (client: Client) => Promise<void>): Promise<void> {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const worker = await Worker.create({
      service: engine,
      taskQueue: "shop",
      workflows: [cart, chain],
      activities: acts,
      logger: silentLogger,
    });
    await worker.runUntil(() =>
      body(new Client({ service: engine, taskQueue: "shop", logger: silentLogger }))
    );
  } finally {
    await engine.close();
  }
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => {
    throw new Error("this was expected to be rejected");
  }, (error) => error);
}

export const cases: Case[] = [
  {
    name: "a cart: start, updates, a query, a signal, an activity with its context, the result",
    async run() {
      let attempts = 0;
      const charge = withContext(async (context, sum: number) => {
        context.heartbeat({ attempt: context.info.attempt });
        await context.sleep(1);
        if (++attempts < 2) throw new Error("the bank is closed");
        return `${context.info.idempotencyKey.split("/")[0]} paid ${sum}`;
      });
      await application({ charge }, async (client) => {
        const handle = await client.start(cart, { id: "cart-1", args: [0] });
        equal(await handle.update(add, 30), 30);
        ok(
          await rejection(handle.update(add, -1)) instanceof WorkflowUpdateRejectedError,
          "refused by the validator",
        );
        equal(await handle.update(add, 12), 42);
        equal(await handle.query(total), 42);
        await handle.signal(checkout);
        equal(await handle.result(), "cart-1 paid 42");
        equal(attempts, 2);
        equal((await handle.describe()).status, "COMPLETED");
        const history = JSON.parse(await handle.historyJson());
        equal(history.events[0].eventType, "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED");
        const found = [];
        for await (const run of client.list('WorkflowType = "Cart"')) found.push(run.workflowId);
        equal(found.join(), "cart-1");
        equal(await client.execute(chain, { id: "chain", args: [3] }), "end");
      });
    },
  },
  {
    name:
      "a standalone activity function finds its context, or throws with advice if the runtime has no async context",
    async run() {
      const charge = async (sum: number) => {
        await Promise.resolve();
        return `${activityInfo().activityType} ${sum}`;
      };
      await application({ charge }, async (client) => {
        const handle = await client.start(cart, { id: "1", args: [1] });
        await handle.signal(checkout);
        const answer = await handle.result().catch((error: WorkflowFailedError) =>
          String((error.cause.cause as Error).message)
        );
        ok(answer === "charge 1" || answer.includes("withContext"), answer);
      });
    },
  },
  {
    name: "virtual time skips a year",
    async run() {
      const env = await TestEnvironment.create({ startTime: 0, logger: silentLogger });
      try {
        await env.runWorker(
          { workflows: [yearly], activities: { charge: () => "paid" } },
          async () => {
            equal(await env.client.execute(yearly, { id: "1" }), "paid");
          },
        );
        ok(env.now() >= 365 * 86_400_000, "a year has passed");
      } finally {
        await env.dispose();
      }
    },
  },
];
