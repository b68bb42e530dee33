// A billing cycle: charges a customer at the start of each period until the subscription is ended.
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { chargePeriod } = proxyActivities<typeof activities>({ startToCloseTimeout: "1 minute" });

export const unsubscribe = defineSignal("unsubscribe");

export async function subscription(
  customer: string,
  periodMs: number,
  first = 1,
): Promise<string> {
  let ended = false;
  setHandler(unsubscribe, () => {
    ended = true;
  });
  for (let period = first;; period++) {
    await chargePeriod(customer, period);
    if (await condition(() => ended, periodMs)) return `ended in period ${period}`;
    if (workflowInfo().continueAsNewSuggested) {
      return await continueAsNew<typeof subscription>(customer, periodMs, period + 1);
    }
  }
}
