// Multi-phase workflow: a cart that collects items, charges, and waits for a confirmation. Its
// phase decides which updates it accepts: add_item only while it collects, confirm and cancel only
// after the charge.
import {
  activities,
  ApplicationFailure,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export interface Item {
  readonly sku: string;
  readonly priceCents: number;
}

export type Status =
  | { readonly phase: "open"; readonly itemCount: number }
  | { readonly phase: "charging"; readonly itemCount: number }
  | { readonly phase: "confirming" | "done"; readonly totalCents: number }
  | { readonly phase: "refunded" };

export type Outcome = { readonly paid: true; readonly totalCents: number } | {
  readonly paid: false;
};

/** Returns the number of items. */
export const addItem = update<[item: Item], number>("add_item");
/** Returns the number of items. */
export const removeItem = update<[sku: string], number>("remove_item");
export const checkout = signal("checkout");
export const confirm = update<[], string>("confirm");
export const cancel = update<[], string>("cancel");
export const status = query<Status>("status");

const shop = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { initialInterval: "200ms", maximumAttempts: 10 },
});

function checkSku(item: Item): void {
  if (!/^[A-Z]+-\d+$/.test(item.sku)) {
    throw new ApplicationFailure(`"${item.sku}" is not a SKU`, {
      type: "InvalidSku",
      nonRetryable: true,
    });
  }
}

const publish = (state: Status) => publishState(state);

export const shoppingCart = workflow("ShoppingCart", {
  messages: { addItem, removeItem, checkout, confirm, cancel, status },
  queries: { status: (published: Status) => published },
  async run({ customer }: { readonly customer: string }): Promise<Outcome> {
    // Phase 1: collect items.
    publish({ phase: "open", itemCount: 0 });
    const changed = (items: readonly Item[]) => {
      publish({ phase: "open", itemCount: items.length });
      return reply(items.length, items);
    };
    const items = await receive<readonly Item[]>([], [
      on(addItem, ([item], items) => changed([...items, item]), {
        validate: ([item]) => checkSku(item),
      }),
      on(removeItem, ([sku], items) => changed(items.filter((item) => item.sku !== sku))),
      on(checkout, (_, items) => stop(items)),
    ]);

    // Phase 2: charge.
    publish({ phase: "charging", itemCount: items.length });
    const totalCents = await shop.charge(customer, [...items]);

    // Phase 3: confirm or cancel.
    publish({ phase: "confirming", totalCents });
    const confirmed = await receive(false, [
      on(confirm, () => stop(true, "confirmed")),
      on(cancel, () => stop(false, "cancelled")),
    ]);

    // Phase 4: finalize.
    if (!confirmed) {
      publish({ phase: "refunded" });
      await shop.refund(customer, totalCents);
      return { paid: false };
    }
    publish({ phase: "done", totalCents });
    await shop.sendReceipt(customer, totalCents);
    return { paid: true, totalCents };
  },
});
