// A job of another system that has no callback. One attempt polls until the job is done.
import { activityInfo, heartbeat, sleep } from "temporalex/activity";

export async function awaitJob(pollsNeeded: number): Promise<string> {
  const before = (activityInfo().heartbeatDetails as number | undefined) ?? 0;
  for (let polls = before + 1;; polls++) {
    heartbeat(polls); // a worker that dies is noticed after the heartbeat timeout
    if (polls >= pollsNeeded) return `done after ${polls} polls`;
    if (polls === 2 && before === 0) throw new Error("the connection was lost");
    await sleep("1s");
  }
}
