// A rate-limited downstream: one workflow makes at most a number of calls per minute.
import { isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const partner = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export async function sendLetters(
  all: string[],
  perMinute: number,
): Promise<{ sent: number; failed: string[] }> {
  const failed: string[] = [];
  for (let first = 0; first < all.length; first += perMinute) {
    if (first > 0) await sleep("1m");
    const batch = all.slice(first, first + perMinute);
    const sent = await Promise.allSettled(batch.map((recipient) => partner.sendLetter(recipient)));
    for (const each of sent) {
      if (each.status === "rejected" && isCancellation(each.reason)) throw each.reason;
    }
    failed.push(...batch.filter((_, i) => sent[i]!.status === "rejected"));
  }
  return { sent: all.length - failed.length, failed };
}
