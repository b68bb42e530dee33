// A workflow for open.test.ts, loaded into a realm in a thread.
import {
  activities,
  publishState,
  query,
  signal,
  sleep,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";
import type * as shop from "../shop.ts";

export const approve = signal<[by: string]>("approve");
export const status = query<string>("status");
const { reserve, ship } = activities<typeof shop>({ startToClose: "30s" });

export const order = workflow("Order", {
  messages: { status },
  queries: { status: (published: string) => published },
  async run(sku: string) {
    publishState("reserving");
    const reservation = await reserve(sku);
    publishState("waiting");
    const by = await waitForSignal(approve);
    await sleep(10);
    publishState("shipping");
    return { reservation, by, tracking: await ship(reservation) };
  },
});
