import {
  activities,
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
} from "temporalex/workflow";

export const addItem = update<[sku: string], number>("add_item");
export const checkout = signal("checkout");
export const status = query<string>("status");

const shop = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 2 },
});

export const cart = workflow("Cart", {
  queries: { status: (published: string) => published },
  async run(customer: string) {
    publishState("open");
    const items = await receive<string[]>([], [
      on(addItem, ([sku], items) => reply(items.length + 1, [...items, sku])),
      on(checkout, (_, items) => stop(items)),
    ]);
    publishState("charging");
    await sleep(20);
    return await shop.charge(customer, items);
  },
});

export const computed = workflow("Computed", (n: number) => shop.fibonacci(n));
