// Async update handlers: each restock asks for a price in the background while the loop takes the
// next one; updateState keeps the stock consistent, and the caller of the update gets the new
// entry.
import {
  activities,
  on,
  publishState,
  query,
  receive,
  signal,
  spawnAsync,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export interface Entry {
  readonly quantity: number;
  readonly priceCents: number;
}
export type Stock = { readonly [sku: string]: Entry };

export const restock = update<[item: { readonly sku: string; readonly quantity: number }], Entry>(
  "restock",
);
export const close = signal("close");
export const stock = query<Stock>("stock");

const pricing = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const inventory = workflow("Inventory", {
  messages: { restock, close, stock },
  queries: { stock: (published: Stock) => published },
  async run(): Promise<Stock> {
    publishState({});
    return await receive<Stock>({}, [
      on(restock, ([item], current) =>
        spawnAsync(async (updateState) => {
          const priceCents = await pricing.currentPrice(item.sku);
          return await updateState((stock) => {
            const entry: Entry = {
              quantity: (stock[item.sku]?.quantity ?? 0) + item.quantity,
              priceCents,
            };
            const next = { ...stock, [item.sku]: entry };
            publishState(next);
            return [entry, next];
          });
        }, current)),
      on(close, (_, stock) => stop(stock)),
    ]);
  },
});
