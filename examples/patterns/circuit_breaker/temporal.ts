// A circuit breaker: after some failures in a row a service is not called for a while.
import { isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { deliverParcel } = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 1 },
});

export type Parcels = { readonly [parcel: string]: number };
const FAILURES = 3;

export async function deliverAll(parcels: Parcels, pauseMs: number): Promise<string> {
  const waiting = Object.entries(parcels);
  let failures = 0, pauses = 0;
  while (waiting.length > 0) {
    try {
      await deliverParcel(...waiting[0]!);
      waiting.shift();
      failures = 0;
    } catch (error) {
      if (isCancellation(error)) throw error;
      waiting.push(waiting.shift()!); // the others first
      if (++failures < FAILURES) continue;
      await sleep(pauseMs);
      failures = 0;
      pauses++;
    }
  }
  return `delivered after ${pauses} pauses`;
}
