// Frequent polling: the loop is in an activity with heartbeats, so that polls are not in history.
import { activities, ActivityFailure, TimeoutFailure, workflow } from "temporalex/workflow";

const jobs = activities<typeof import("./activities.ts")>({
  startToClose: "1 hour",
  scheduleToClose: "2 minutes",
  heartbeat: "5s",
});

export const pollOften = workflow("pollOften", async (pollsNeeded: number) => {
  try {
    return await jobs.awaitJob(pollsNeeded);
  } catch (error) {
    if (!(error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)) throw error;
    return "not done in time";
  }
});
