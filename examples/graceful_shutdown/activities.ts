import { activityContext, activityInfo } from "temporalex/activity";

/**
 * Half a second of work, with a log line at both ends. `sleep` of the context ends at once when the
 * grace period is over.
 */
export async function work(step: number): Promise<string> {
  console.log(`work ${step} begins`);
  await activityContext().sleep(500);
  console.log(`work ${step} is done`);
  return `step ${step} in attempt ${activityInfo().attempt}`;
}
