// Infrequent polling: the retry policy of an activity is the loop, so that polls are not in history.
import { ActivityFailure, isCancellation, proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const jobs = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  scheduleToCloseTimeout: "1 day",
  retry: { initialInterval: "1 hour", backoffCoefficient: 1 },
});

export async function pollRarely(pollsNeeded: number): Promise<string> {
  try {
    return await jobs.checkJob(pollsNeeded);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return "not done in time";
  }
}
