// A billing cycle: charges a customer at the start of each period until the subscription is ended.
import {
  activities,
  continueAsNew,
  on,
  select,
  signal,
  timer,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

const { chargePeriod } = activities<typeof import("./activities.ts")>({ startToClose: "1 minute" });

export const unsubscribe = signal("unsubscribe");

export const subscription = workflow(
  "subscription",
  async (customer: string, periodMs: number, first = 1) => {
    for (let period = first;; period++) {
      await chargePeriod(customer, period);
      const ended = await select([on(unsubscribe, () => true), timer(periodMs, () => false)]);
      if (ended) return `ended in period ${period}`;
      if (workflowInfo().continueAsNewSuggested) {
        return continueAsNew(customer, periodMs, period + 1);
      }
    }
  },
);
