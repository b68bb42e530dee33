// A dead letter: a message that cannot be delivered is parked until an operator decides.
import {
  ActivityFailure,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const target = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 3 },
});
export const redrive = defineSignal("redrive");
export const discard = defineSignal("discard");

export async function message(text: string): Promise<string> {
  const decisions: boolean[] = [];
  setHandler(redrive, () => void decisions.push(true));
  setHandler(discard, () => void decisions.push(false));
  for (;;) {
    try {
      return await target.deliver(text);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      await target.park(text, (error.cause as Error).message);
    }
    await condition(() => decisions.length > 0, "7 days");
    if (decisions.shift() !== true) return "discarded";
  }
}
