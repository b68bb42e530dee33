// Frequent polling: the loop is in an activity with heartbeats, so that polls are not in history.
import { ActivityFailure, proxyActivities, TimeoutFailure } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const jobs = proxyActivities<typeof activities>({
  startToCloseTimeout: "1 hour",
  scheduleToCloseTimeout: "2 minutes",
  heartbeatTimeout: "5s",
});

export async function pollOften(pollsNeeded: number): Promise<string> {
  try {
    return await jobs.awaitJob(pollsNeeded);
  } catch (error) {
    if (!(error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)) throw error;
    return "not done in time";
  }
}
