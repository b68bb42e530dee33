// An order whose program marks what it does as shipping and billing, with a signal for each of its parcels.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

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

// deno-lint-ignore no-explicit-any
type Loose = any;

/** Its history, in which it waits for the hour to pass. */
export async function shipped(): Promise<string> {
  const dist = (path: string) => pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href;
  const { open }: Loose = await import(dist("mod.js"));
  const folder = mkdtempSync(join(tmpdir(), "shipment-"));
  let app: Loose;
  try {
    writeFileSync(join(folder, "workflows.ts"), SHIPMENT);
    app = await open({
      workflows: pathToFileURL(join(folder, "workflows.ts")),
      activities: {
        pack: (item: string) => `parcel of ${item}`,
        book: () => "DHL-9",
        charge: () => "R-7",
        mail: () => undefined,
      },
    });
    const handle = await app.client.start("shipment", { id: "shipment-ada", args: ["ada", ["LAMP-3", "PEN-2"]] });
    const until = async (holds: (text: string) => boolean) => {
      for (;;) {
        const text: string = await handle.historyJson();
        if (holds(text)) return text;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await until((text) => text.includes("EVENT_TYPE_TIMER_STARTED"));
    await handle.update("changeAddress", "London");
    await handle.signal("arrived", "parcel of LAMP-3");
    return await until((text) => text.includes("has arrived") || text.split("ACTIVITY_TASK_COMPLETED").length > 7);
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true });
  }
}
