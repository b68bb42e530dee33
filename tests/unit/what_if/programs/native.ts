// Programs of this package's own model, of which branches are made.
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  executeChild,
  externalWorkflow,
  localActivities,
  noreply,
  on,
  parallel,
  publishState,
  receive,
  reply,
  select,
  signal,
  sleep,
  stop,
  timer,
  update,
  workflow,
} from "../../../../ts/workflow/mod.ts";

export interface Shop {
  charge(items: readonly string[], cents: number): Promise<string>;
  refund(receipt: string): Promise<string>;
  ship(item: string): Promise<string>;
  price(item: string): Promise<number>;
}

const shop = activities<Shop>({
  startToClose: "10s",
  retry: { maximumAttempts: 3, initialInterval: "1s", backoffCoefficient: 1 },
});
const near = localActivities<Shop>({ startToClose: "5s" });

export const add = update<[item: string, cents: number], number>("add");
export const remove = signal<[item: string]>("remove");
export const checkout = signal("checkout");
export const confirm = signal("confirm");
export const cancel = signal("cancel");

type Items = readonly { readonly item: string; readonly cents: number }[];

export const cart = workflow("Cart", async (customer: string, wait: number = 60_000) => {
  publishState({ phase: "open", customer });
  const items = await receive<Items>([], [
    on(add, ([item, cents], items) => reply(items.length + 1, [...items, { item, cents }]), {
      validate: ([, cents]) => {
        if (cents < 0) throw new Error("a price is not below zero");
      },
    }),
    on(remove, ([item], items) => noreply(items.filter((each) => each.item !== item))),
    on(checkout, (_, items) => stop(items)),
  ]);
  const cents = items.reduce((sum, item) => sum + item.cents, 0);
  const receipt = await shop.charge(items.map(({ item }) => item), cents);
  publishState({ phase: "charged", customer, receipt });
  const confirmed = await receive(false, [
    on(confirm, () => stop(true)),
    on(cancel, () => stop(false)),
  ]);
  if (!confirmed) return `refunded ${await shop.refund(receipt)}`;
  await sleep(wait);
  const shipped = await parallel(items.map(({ item }) => () => shop.ship(item)));
  return `${customer} paid ${cents} for ${shipped.join(" and ")}`;
});

export const child = workflow("Parcel", async (item: string) => {
  const parcel = await shop.ship(item);
  if (parcel === "") throw new ApplicationFailure("no van", { type: "Error", nonRetryable: true });
  return parcel;
});

export const family = workflow("Family", async (item: string) => {
  const price = await near.price(item);
  try {
    return `${await executeChild(child, { args: [item] })} for ${price}`;
  } catch (error) {
    return `no parcel: ${
      ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message
    }`;
  }
});

export const nightly = workflow(
  "Nightly",
  async (item: string) => await executeChild(child, { args: [item], cronSchedule: "@daily" }),
);

export const go = signal<[what: string]>("go");

export const race = workflow("Race", async () => {
  const first = await select([on(go, ([what]) => what), timer("1 hour", () => stop("too late"))]);
  await sleep("10 s");
  return first;
});

export const rounds = workflow("Rounds", async (n: number): Promise<string> => {
  const what = await receive("", [on(go, ([said]) => stop(said))]);
  if (what === "again") return continueAsNew(n + 1) as never;
  await externalWorkflow("elsewhere").signal(go, what).catch(() => undefined);
  return `${what} in round ${n}`;
});
