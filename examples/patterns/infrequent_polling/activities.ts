// A job of another system that takes hours. Each attempt polls once; a retry polls again.
import { activityInfo } from "temporalex/activity";

export async function checkJob(pollsNeeded: number): Promise<string> {
  const { attempt } = activityInfo();
  if (attempt < pollsNeeded) throw new Error("the job is not done");
  return `done after ${attempt} polls`;
}
