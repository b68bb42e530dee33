// Workflow code. It has no clock, network or files: activities do all I/O.
import { activities, workflow } from "temporalex/workflow";

const acts = activities<typeof import("./activities.ts")>({
  startToClose: "2m",
  // A worker that disappears is noticed after this time, and the work is given to another one.
  heartbeat: "10s",
  retry: { maximumAttempts: 5 },
});

/** The items of an order. */
export interface Order {
  item: string;
  count: number;
  /** How long the packing of one takes: for trying out what a stop does. */
  packingMs?: number;
}

/** The result of an order. */
export interface Receipt {
  total: number;
  parcel: string;
}

/** An order: charged once, then packed. */
export const order = workflow("Order", async (wanted: Order): Promise<Receipt> => {
  const total = await acts.charge(wanted.item, wanted.count);
  const parcel = await acts.pack(wanted.item, wanted.count, wanted.packingMs ?? 100);
  return { total, parcel };
});
