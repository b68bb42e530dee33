// Workflows for the tests of the command line.
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  on,
  procedure,
  publishState,
  query,
  receive,
  reply,
  select,
  signal,
  sleep,
  startChild,
  stop,
  subscribe,
  update,
  workflow,
} from "../../../../ts/workflow/mod.ts";
import type * as shop from "./activities.ts";

export const addItem = update<[sku: string], number>("add_item");
export const checkout = signal<[note?: string]>("checkout");
export const found = signal<[value: unknown]>("found");
export const status = query<string, [upper?: boolean]>("status");
const { charge } = activities<typeof shop>({ startToClose: "10s", retry: { maximumAttempts: 2 } });

export const cart = workflow("Cart", {
  queries: {
    status: (published: string, upper?: boolean) => upper ? published.toUpperCase() : published,
  },
  async run(customer: string, discount = 0) {
    publishState("open");
    const items = await receive<string[]>([], [
      on(addItem, ([sku], items) => reply(items.length + 1, [...items, sku]), {
        validate: ([sku]) => {
          if (sku === "") {
            throw ApplicationFailure.nonRetryable("an item needs a name", { type: "BadItem" });
          }
        },
      }),
      on(checkout, (_, items) => stop(items)),
    ]);
    publishState("charging");
    return { receipt: await charge(customer, items), discount };
  },
});

export const fails = workflow("Fails", (): Promise<void> => {
  throw ApplicationFailure.nonRetryable("out of stock", { type: "OutOfStock" });
});
export const nothing = workflow("Nothing", {
  queries: { empty: () => undefined },
  run: async () => {},
});
export const slow = workflow("Slow", async (ms: number) => {
  await sleep(ms);
  return "slept";
});
export const again = workflow(
  "Again",
  async (left: number) => left > 0 ? continueAsNew(left - 1) : "done",
);
export const bug = workflow("Bug", () => Promise.reject(new TypeError("this code has a bug")));
export const asks = workflow("Asks", async () => [
  await procedure<number>("compute_damage", [42, "sword"]),
  await procedure("approve", [], { timeout: "1h" }).catch((
    error: { cause: Error & { type: string } },
  ) => `${error.cause.type}: ${error.cause.message}`),
]);
export const hears = workflow("Hears", async (item: number) => {
  subscribe(found, item);
  return await select([on(found, ([value]) => value)]);
});
export const family = workflow("Family", async () => {
  const lamp = await startChild(cart, {
    id: "family-lamp",
    args: ["lamp"],
    parentClosePolicy: "ABANDON",
  });
  return await lamp.result();
});
