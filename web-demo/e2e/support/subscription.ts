// A subscription that waits for its renewal, and the code of a later deploy, which replays it and does not do the same.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const SUBSCRIPTION = `import { proxyActivities, sleep, upsertMemo } from "@temporalio/workflow";

interface Activities {
  charge(customer: string, order: { plan: string; cents: number }): Promise<string>;
  remind(customer: string): Promise<void>;
}
const { charge, remind } = proxyActivities<Activities>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 5 },
});

export async function subscription(customer: string, plan: string): Promise<void> {
  const receipt = await charge(customer, { plan, cents: 1200 });
  upsertMemo({ receipt });
  await sleep("30 days");
  await remind(customer);
}
`;

export const CHANGED: string = SUBSCRIPTION.replace('"30 days"', '"1s"').replace("maximumAttempts: 5", "maximumAttempts: 3")
  .replace("cents: 1200", "cents: 1300");

// deno-lint-ignore no-explicit-any
type Loose = any;

/** Its history, in which it waits. */
export async function subscribed(): Promise<string> {
  const dist = (path: string) => pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href;
  const { open }: Loose = await import(dist("mod.js"));
  const folder = mkdtempSync(join(tmpdir(), "subscription-"));
  let app: Loose;
  try {
    writeFileSync(join(folder, "workflows.ts"), SUBSCRIPTION);
    app = await open({
      workflows: pathToFileURL(join(folder, "workflows.ts")),
      activities: { charge: () => "R-7", remind: () => undefined },
    });
    const handle = await app.client.start("subscription", { id: "subscription-ada", args: ["ada", "gold"] });
    for (;;) {
      const text: string = await handle.historyJson();
      if (text.includes("EVENT_TYPE_TIMER_STARTED")) return text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true });
  }
}
