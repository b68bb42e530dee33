// A store with runs in every state that the Runs room distinguishes, and a worker in this process.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Place } from "./command.ts";

const built = async (path: string) =>
  await import(
    pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href
  );

/** The application that has the store open; the test closes it. */
// deno-lint-ignore no-explicit-any
export async function storeOfRuns(place: Place): Promise<{ readonly app: any }> {
  const [
    { open },
    {
      ApplicationFailure,
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
    },
  ] = await Promise.all([built("mod.js"), built("workflow/mod.js")]);
  const add = update("add_item");
  const done = signal("done");
  const items = query("items");
  const order = workflow("Order", {
    messages: { add, done, items },
    queries: { items: (published: unknown) => published },
    run: async (customer: string) => {
      if (customer === "unknown") {
        throw new ApplicationFailure("customer not found", { nonRetryable: true });
      }
      publishState([]);
      return await receive([], [
        on(
          add,
          (
            [sku]: [string],
            list: string[],
          ) => (publishState([...list, sku]), reply(list.length + 1, [...list, sku])),
        ),
        on(done, (_: unknown, list: string[]) => stop(list)),
        on(signal("note"), (_: unknown, list: string[]) => noreply(list)),
      ]);
    },
  });
  const app = await open({
    path: join(place.cwd, "shop.sqlite"),
    workflows: [order],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const start = (id: string, customer = "ada") => app.client.start(order, { id, args: [customer] });
  const first = await start("order-1");
  for (const sku of ["BOOK-1", "PEN-2"]) await first.update(add, sku);
  const ended = await start("order-2");
  await ended.signal(done);
  await ended.result();
  await (await start("order-3", "unknown")).result().catch(() => {});
  const cancelled = await start("order-4");
  await cancelled.cancel();
  await cancelled.result().catch(() => {});
  await (await start("order-5")).terminate("the customer called");
  await start(
    "a-workflow-with-an-id-that-is-much-longer-than-any-column-of-a-narrow-list-has-room-for-0000001",
  );
  await app.client.start("Archive", { id: "idle-1", args: [], taskQueue: "unpolled" });
  return { app };
}
