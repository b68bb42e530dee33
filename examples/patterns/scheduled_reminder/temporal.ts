// Reminders at fixed times before a due time, until the user is done.
import {
  ActivityFailure,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const mail = proxyActivities<typeof activities>({
  startToCloseTimeout: "10s",
  retry: { maximumAttempts: 3 },
});
export const done = defineSignal("done");

export async function remindUser(
  user: string,
  due: number,
  hoursBefore: number[],
): Promise<{ done: boolean; sent: number }> {
  let isDone = false;
  let sent = 0;
  setHandler(done, () => {
    isDone = true;
  });
  for (const hours of hoursBefore) {
    const remaining = due - hours * 3_600_000 - Date.now();
    if (remaining > 0) await condition(() => isDone, remaining);
    if (isDone) return { done: true, sent };
    try {
      await mail.sendReminder(user, `${hours} hours`);
      sent++;
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    }
  }
  return { done: false, sent };
}
