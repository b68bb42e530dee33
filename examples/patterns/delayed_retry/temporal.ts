// A delayed retry: the failed attempt sets the delay of the next one, instead of the retry policy.
import { ActivityFailure, ApplicationFailure, proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const service = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  retry: { initialInterval: "1s", maximumAttempts: 5 },
});

export async function fetchReport(account: string): Promise<string> {
  try {
    return await service.report(account);
  } catch (error) {
    if (!(error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)) {
      throw error;
    }
    return `no report: ${error.cause.type}`;
  }
}
