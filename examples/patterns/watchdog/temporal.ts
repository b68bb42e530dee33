// A watchdog: a device signals that it is alive; after a time without a signal an operator is notified.
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { alarm } = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export const alive = defineSignal("alive");
export const retire = defineSignal("retire");

export async function watchdog(device: string, limitMs: number): Promise<string> {
  let received = 0;
  let retired = false;
  setHandler(alive, () => void received++);
  setHandler(retire, () => {
    retired = true;
  });
  for (let signals = 0;;) {
    const heard = await condition(() => received > signals || retired, limitMs);
    if (!heard) {
      await alarm(device);
      return `silent after ${signals} signals`;
    }
    if (received > signals) signals++;
    else return `retired after ${signals} signals`;
  }
}
