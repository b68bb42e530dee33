// Messages with a schema: what a handler gets is what the schema made of it. Any validator that
// implements Standard Schema will do (zod, valibot, arktype, ...). Schemas run live and on replay,
// so they must be pure and synchronous.
import {
  noreply,
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
import * as v from "valibot";

const Item = v.object({
  sku: v.pipe(
    v.string(),
    v.trim(),
    v.toUpperCase(),
    v.regex(/^[A-Z]+-\d+$/, "a SKU looks like BOOK-1"),
  ),
  quantity: v.optional(
    v.pipe(v.number(), v.integer("whole pieces only"), v.minValue(1, "at least one")),
    1,
  ),
});
const Discount = v.pipe(v.number(), v.minValue(0), v.maxValue(50, "at most 50 %"));

export type Item = v.InferOutput<typeof Item>;

export const addItem = update<[item: Item], number>("add_item", { args: [Item] });
export const discount = signal<[percent: number]>("discount", { args: [Discount] });
export const close = signal("close");
export const items = query<Item[]>("items");

interface Order {
  items: Item[];
  percent: number;
}

export const order = workflow("ValidatedOrder", {
  messages: { addItem, discount, close, items },
  queries: { items: (published: Item[]) => published },
  async run(): Promise<Order> {
    publishState([]);
    return await receive<Order>({ items: [], percent: 0 }, [
      on(addItem, ([item], state) => {
        const items = [...state.items, item];
        publishState(items);
        return reply(items.length, { ...state, items });
      }),
      on(discount, ([percent], state) => noreply({ ...state, percent })),
      on(close, (_, state) => stop(state)),
    ]);
  },
});
