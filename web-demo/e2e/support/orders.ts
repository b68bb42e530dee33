// A project that is unknown to the page, for the tests of a new user: order processing in
// `@temporalio/workflow`, its runs on an engine in memory, and their exports.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ACTIVITIES = `export interface Order {
  customer: string;
  items: string[];
}

export async function reserve(items: string[]): Promise<{ reservation: string; total: number }> {
  return { reservation: "R-" + items.length, total: 1250 * items.length };
}
export async function pay(customer: string, total: number): Promise<string> {
  return customer + " paid " + total;
}
export async function release(reservation: string): Promise<void> {}
export async function ship(reservation: string, address: string): Promise<string> {
  return reservation + " to " + address;
}
`;

const WORKFLOWS =
  `import { condition, defineSignal, defineUpdate, proxyActivities, setHandler } from "@temporalio/workflow";
import type * as activities from "./activities";

const { pay, release, reserve, ship } = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 2, initialInterval: "10ms" },
});

export const changeAddress = defineUpdate<string, [{ street: string; city: string }]>("changeAddress");
export const approve = defineSignal<[string]>("approve");

export async function processOrder(order: activities.Order): Promise<string> {
  let address = "the shop";
  let approvedBy: string | undefined;
  setHandler(changeAddress, ({ street, city }) => {
    address = street + ", " + city;
    return address;
  });
  setHandler(approve, (by) => {
    approvedBy = by;
  });
  const { reservation, total } = await reserve(order.items);
  await condition(() => approvedBy !== undefined);
  try {
    await pay(order.customer, total);
  } catch (e) {
    await release(reservation);
    throw e;
  }
  return await ship(reservation, address);
}
`;

/** The project on disk when its run was started. */
export const project: { readonly [path: string]: string } = {
  "src/activities.ts": ACTIVITIES,
  "src/workflows.ts": WORKFLOWS,
};

/** The next deploy: orders are screened before they are reserved. */
export const nextDeploy: { readonly [path: string]: string } = {
  "src/activities.ts":
    `${ACTIVITIES}export async function screen(customer: string): Promise<void> {}\n`,
  "src/workflows.ts": WORKFLOWS.replace(
    "{ pay, release, reserve, ship }",
    "{ pay, release, reserve, screen, ship }",
  )
    .replace("  const { reservation,", "  await screen(order.customer);\n  const { reservation,"),
};

/** Lines of the workflow's file, by their text. */
export const lineOf = (files: { readonly [path: string]: string }, text: string): number =>
  files["src/workflows.ts"]!.split("\n").findIndex((line) => line.includes(text)) + 1;

// deno-lint-ignore no-explicit-any
type Loose = any;

/** The history has the signal that no code waits for. */
const isTold = (text: string, how: string) => how !== "misspelt" || text.includes('"approved"');

/**
 * Exports a run: one that waits for its approval, one whose approval had another name, or a
 * completed one.
 */
export async function exported(how: "waiting" | "misspelt" | "completed"): Promise<string> {
  const dist = (path: string) =>
    pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href;
  const { open }: Loose = await import(dist("mod.js"));
  const folder = mkdtempSync(join(tmpdir(), "orders-"));
  let app: Loose;
  try {
    for (const [path, text] of Object.entries(project)) {
      writeFileSync(join(folder, path.replace("src/", "")), text);
    }
    app = await open({
      workflows: pathToFileURL(join(folder, "workflows.ts")),
      activities: {
        reserve: (items: string[]) => ({
          reservation: `R-${items.length}`,
          total: 1250 * items.length,
        }),
        pay: (customer: string, total: number) => `${customer} paid ${total}`,
        release: () => undefined,
        ship: (reservation: string, address: string) => `${reservation} to ${address}`,
      },
    });
    const handle = await app.client.start("processOrder", {
      id: "order-17",
      args: [{ customer: "ada", items: ["LAMP-3", "PEN-2"] }],
    });
    await handle.update("changeAddress", { street: "12 St James's Square", city: "London" });
    if (how === "completed") {
      await handle.signal("approve", "grace");
      await handle.result();
    }
    if (how === "misspelt") await handle.signal("approved", "grace");
    // The task after the reservation has completed.
    for (;;) {
      const text: string = await handle.historyJson();
      const { events }: Loose = JSON.parse(text);
      if (
        how === "completed" ||
        /TASK_COMPLETED/.test(events.at(-1).eventType) && events.length > 14 && isTold(text, how)
      ) {
        return text;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true });
  }
}
