// A subscription that waits for its renewal, and the code of a later deploy, which replays it but
// does other work.
import { recorded } from "./recorded.ts";

export const SUBSCRIPTION =
  `import { proxyActivities, sleep, upsertMemo } from "@temporalio/workflow";

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

export const CHANGED: string = SUBSCRIPTION.replace('"30 days"', '"1s"').replace(
  "maximumAttempts: 5",
  "maximumAttempts: 3",
)
  .replace("cents: 1200", "cents: 1300");

/** Its history; the run waits for the renewal. */
export const subscribed = (): Promise<string> =>
  recorded({
    ...{ source: SUBSCRIPTION, type: "subscription", args: ["ada", "gold"] },
    activities: { charge: () => "R-7", remind: () => undefined },
  }, ({ until }) => until((text) => text.includes("EVENT_TYPE_TIMER_STARTED")));
