// Reminders at fixed times before a due time, until the user is done.
import {
  activities,
  ActivityFailure,
  isCancellation,
  now,
  on,
  select,
  signal,
  timer,
  workflow,
} from "temporalex/workflow";

const mail = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 3 },
});
export const done = signal("done");

export const remindUser = workflow(
  "remindUser",
  async (user: string, due: number, hoursBefore: number[]) => {
    let sent = 0;
    for (const hours of hoursBefore) {
      const isDone = await select([
        on(done, () => true),
        timer(Math.max(0, due - hours * 3_600_000 - now()), () => false),
      ]);
      if (isDone) return { done: true, sent };
      try {
        await mail.sendReminder(user, `${hours} hours`);
        sent++;
      } catch (error) {
        if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      }
    }
    return { done: false, sent };
  },
);
