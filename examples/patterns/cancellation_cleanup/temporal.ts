// Cancellation with compensation: a canceled rental fetches the car back; every rental is invoiced.
import { CancellationScope, isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const garage = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export async function rental(car: string, ms: number): Promise<string> {
  await garage.handOver(car);
  try {
    await sleep(ms);
    return "returned";
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => garage.fetchBack(car));
    }
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => garage.sendInvoice(car));
  }
}
