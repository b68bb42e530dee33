// A child workflow per item: each has its own id, so that others can signal and cancel it.
import {
  CancellationScope,
  condition,
  defineSignal,
  executeChild,
  setHandler,
} from "@temporalio/workflow";

export const delivered = defineSignal<[place: string]>("delivered");

export async function ship(item: string): Promise<string> {
  let place: string | undefined;
  setHandler(delivered, (at) => {
    place ??= at;
  });
  await condition(() => place !== undefined);
  return `${item} is in ${place}`;
}

export async function shipOrder(order: string, items: string[]): Promise<string[]> {
  const shipments = await Promise.allSettled(
    items.map((item) => executeChild(ship, { workflowId: `${order}-${item}`, args: [item] })),
  );
  // A canceled child is lost; a canceled order is canceled.
  if (CancellationScope.current().consideredCancelled) {
    for (const shipment of shipments) {
      if (shipment.status === "rejected") throw shipment.reason;
    }
  }
  return shipments.map((shipment, i) =>
    shipment.status === "fulfilled" ? shipment.value : `${items[i]} is lost`
  );
}
