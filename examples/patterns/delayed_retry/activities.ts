// A service with a quota. Its response to a call beyond the quota says when to call again.
import { activityInfo, ApplicationFailure } from "temporalex/activity";

export async function report(account: string): Promise<string> {
  const { attempt } = activityInfo();
  if (account === "closed") {
    throw new ApplicationFailure("the account is closed", {
      type: "AccountClosed",
      nonRetryable: true,
    });
  }
  if (attempt < 3) {
    throw new ApplicationFailure("quota exceeded", {
      type: "QuotaExceeded",
      nextRetryDelayMs: 3_600_000,
    });
  }
  return `report of ${account} at attempt ${attempt}`;
}
