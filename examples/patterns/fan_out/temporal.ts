// Fan-out and fan-in: activities run at the same time, and the workflow combines their results.
import { isCancellation, proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const texts = proxyActivities<typeof activities>({ startToCloseTimeout: "1m" });

export async function countAll(
  documents: string[],
): Promise<{ words: number; failed: string[] }> {
  const counts = await Promise.allSettled(documents.map((document) => texts.countWords(document)));
  for (const count of counts) {
    if (count.status === "rejected" && isCancellation(count.reason)) throw count.reason;
  }
  return {
    words: counts.reduce(
      (sum, count) => count.status === "fulfilled" ? sum + count.value : sum,
      0,
    ),
    failed: documents.filter((_, i) => counts[i]!.status === "rejected"),
  };
}
