// Side effects: values that are computed once, recorded in history, and given again on replay.
import { activities, publishState, query, sideEffect, workflow } from "temporalex/workflow";

export interface Order {
  readonly orderNumber: number;
  readonly status: "processing" | "done";
}

export const order = query<Order>("order");

const orders = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

/**
 * Sources that are not deterministic: an order number and the time of day. Only sideEffect may ask
 * them.
 */
export const sources = {
  nextOrderNumber: (): number => Math.floor(Math.random() * 1e6),
  timeOfDay: (): string => new Date().toISOString(),
};

export const orderProcessing = workflow("OrderProcessing", {
  messages: { order },
  queries: { order: (published: Order) => published },
  async run(
    { customerId }: { readonly customerId: string },
  ): Promise<{ orderNumber: number; startedAt: string }> {
    const orderNumber = sideEffect(() => sources.nextOrderNumber());
    const startedAt = sideEffect(() => sources.timeOfDay());

    publishState({ orderNumber, status: "processing" } satisfies Order);
    await orders.processOrder(customerId, orderNumber);
    publishState({ orderNumber, status: "done" } satisfies Order);
    return { orderNumber, startedAt };
  },
});
