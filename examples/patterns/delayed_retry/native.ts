// A delayed retry: the failed attempt sets the delay of the next one, instead of the retry policy.
import { activities, ActivityFailure, ApplicationFailure, workflow } from "temporalex/workflow";

const service = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { initialInterval: "1s", maximumAttempts: 5 },
});

export const fetchReport = workflow("fetchReport", async (account: string) => {
  try {
    return await service.report(account);
  } catch (error) {
    if (!(error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)) {
      throw error;
    }
    return `no report: ${error.cause.type}`;
  }
});
