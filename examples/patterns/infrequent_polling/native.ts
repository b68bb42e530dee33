// Infrequent polling: the retry policy of an activity is the loop, so that polls are not in history.
import { activities, ActivityFailure, isCancellation, workflow } from "temporalex/workflow";

const jobs = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  scheduleToClose: "1 day",
  retry: { initialInterval: "1 hour", backoffCoefficient: 1 },
});

export const pollRarely = workflow("pollRarely", async (pollsNeeded: number) => {
  try {
    return await jobs.checkJob(pollsNeeded);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return "not done in time";
  }
});
