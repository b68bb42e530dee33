// The application that `npm start` kills twice: engine on a SQLite file, worker and activities in
// one process. It executes its parent's requests over the IPC channel (one message each way) and
// reports what its activities do.
import process from "node:process";
import { activityInfo } from "temporalex/activity";
import { open } from "temporalex";
import * as activities from "../shopping_cart/activities.ts";
import * as shop from "../shopping_cart/workflow.ts";

/** What the parent may ask for. */
export type Ask =
  | { op: "start" | "checkout" | "confirm" | "status" | "result" | "length" | "history" }
  | { op: "add"; item: shop.Item };

/** What this process reports. */
export type Tell =
  | { tell: "ready" }
  | { tell: "activity"; name: string; attempt: number; key: string; phase: "started" | "finished" }
  | { tell: "answer"; ask: number; value?: unknown; error?: string };

const tell = (message: Tell) => void process.send!(message);
const [path, id] = process.argv.slice(2) as [string, string];

/** Each activity says when it starts and ends, and takes long enough to be killed in the middle. */
const told = Object.fromEntries(
  Object.entries(activities).map(([name, fn]) => [name, async (...args: never[]) => {
    const { attempt, idempotencyKey } = activityInfo();
    tell({ tell: "activity", name, attempt, key: idempotencyKey, phase: "started" });
    await new Promise((resolve) => setTimeout(resolve, 400));
    const result = await (fn as (...args: never[]) => unknown)(...args);
    tell({ tell: "activity", name, attempt, key: idempotencyKey, phase: "finished" });
    return result;
  }]),
);

const app = await open({
  path,
  workflows: new URL("../shopping_cart/workflow.ts", import.meta.url),
  activities: told,
});
const cart = app.client.getHandle(shop.shoppingCart, id);

const answers: { [op: string]: (ask: Ask) => Promise<unknown> } = {
  start: async () =>
    (await app.client.start(shop.shoppingCart, { id, args: [{ customer: "ada" }] })).runId,
  add: (ask) => cart.update(shop.addItem, (ask as { item: shop.Item }).item),
  checkout: () => cart.signal(shop.checkout),
  confirm: () => cart.update(shop.confirm),
  status: () => cart.query(shop.status),
  result: () => cart.result(),
  length: async () => (await cart.describe()).historyLength,
  history: () => cart.historyJson(),
};

process.on("message", async ({ ask, request }: { ask: number; request: Ask }) => {
  try {
    tell({ tell: "answer", ask, value: await answers[request.op]!(request) });
  } catch (e) {
    tell({ tell: "answer", ask, error: `${(e as Error).name}: ${(e as Error).message}` });
  }
});
process.on("disconnect", () => void app.close().finally(() => process.exit()));
tell({ tell: "ready" });
