// Programs of `@temporalio/workflow`, of which branches are made.
import {
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import type { Shop } from "./native.ts";

const { charge, refund, ship } = proxyActivities<Shop>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 3, initialInterval: "1s", backoffCoefficient: 1 },
});

export const approve = defineSignal<[boolean]>("approve");
export const addItem = defineUpdate<number, [string]>("addItem");

/** An order that waits a day for approval; refunds when it is cancelled. */
export async function order(customer: string): Promise<string> {
  const items: string[] = [];
  let approved: boolean | undefined;
  setHandler(addItem, (item) => items.push(item), {
    validator: (item) => {
      if (item === "") throw new Error("an item has a name");
    },
  });
  setHandler(approve, (yes) => void (approved = yes));
  if (!await condition(() => approved !== undefined, "1 day")) return `${customer} did not respond`;
  if (approved === false) return `${customer} said no to ${items.length}`;
  const receipt = await charge(items, items.length);
  try {
    await sleep("1 hour");
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return await CancellationScope.nonCancellable(() => refund(receipt));
  }
  const shipped = await Promise.all(items.map((item) => ship(item)));
  return `${customer}: ${shipped.join(", ")} (${receipt})`;
}
