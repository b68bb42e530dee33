// A child workflow per item: each has its own id, so that others can signal and cancel it.
import { executeChild, parallel, signal, waitForSignal, workflow } from "temporalex/workflow";

export const delivered = signal<[place: string]>("delivered");

export const ship = workflow("ship", async (item: string) => {
  const place = await waitForSignal(delivered);
  return `${item} is in ${place}`;
});

export const shipOrder = workflow("shipOrder", async (order: string, items: string[]) => {
  const shipments = await parallel(
    items.map((item) => () => executeChild(ship, { id: `${order}-${item}`, args: [item] })),
  );
  return shipments.map((shipment, i) => shipment.ok ? shipment.value : `${items[i]} is lost`);
});
