// A rate-limited downstream: one workflow makes at most a number of calls per minute.
import { activities, parallel, sleep, workflow } from "temporalex/workflow";

const partner = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const sendLetters = workflow("sendLetters", async (all: string[], perMinute: number) => {
  const failed: string[] = [];
  for (let first = 0; first < all.length; first += perMinute) {
    if (first > 0) await sleep("1m");
    const batch = all.slice(first, first + perMinute);
    const sent = await parallel(batch.map((recipient) => () => partner.sendLetter(recipient)));
    failed.push(...batch.filter((_, i) => !sent[i]!.ok));
  }
  return { sent: all.length - failed.length, failed };
});
