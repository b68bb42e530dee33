// An order whose program groups its operations as shipping and billing, with a signal for each
// parcel.
import { recorded } from "./recorded.ts";

export const SHIPMENT =
  `import { condition, createEventGroup, defineSignal, defineUpdate, proxyActivities, setHandler, sleep } from "@temporalio/workflow";

interface Activities {
  pack(item: string): Promise<string>;
  book(parcel: string): Promise<string>;
  charge(customer: string, cents: number): Promise<string>;
  mail(customer: string, text: string): Promise<void>;
}
const { pack, book, charge, mail } = proxyActivities<Activities>({ startToCloseTimeout: "10s" });

export const arrived = defineSignal<[parcel: string]>("arrived");
export const changeAddress = defineUpdate<string, [city: string]>("changeAddress");

export async function shipment(customer: string, items: string[]): Promise<string[]> {
  const shipping = createEventGroup("Shipping");
  const billing = createEventGroup("Billing");
  const parcels: string[] = [];
  setHandler(arrived, (parcel) => mail(customer, parcel + " has arrived"));
  setHandler(changeAddress, async (city) => {
    await mail(customer, "it goes to " + city);
    return city;
  });
  await billing.withScope(async () => void await charge(customer, 1200 * items.length));
  await shipping.withScope(async () => {
    for (const item of items) {
      parcels.push(await pack(item));
      await book(item);
    }
    await sleep("1 hour");
  });
  return parcels;
}
`;

/** Its history; the run waits for a timer of one hour. */
export const shipped = (): Promise<string> =>
  recorded({
    ...{ source: SHIPMENT, type: "shipment", args: ["ada", ["LAMP-3", "PEN-2"]] },
    activities: {
      pack: (item: string) => `parcel of ${item}`,
      book: () => "DHL-9",
      charge: () => "R-7",
      mail: () => undefined,
    },
  }, async ({ handle, until }) => {
    await until((text) => text.includes("EVENT_TYPE_TIMER_STARTED"));
    await handle.update("changeAddress", "London");
    await handle.signal("arrived", "parcel of LAMP-3");
    return await until((text) =>
      text.includes("has arrived") || text.split("ACTIVITY_TASK_COMPLETED").length > 7
    );
  });
