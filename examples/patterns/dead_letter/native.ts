// A dead letter: a message that cannot be delivered is parked until an operator decides.
import {
  activities,
  ActivityFailure,
  isCancellation,
  on,
  select,
  signal,
  timer,
  workflow,
} from "temporalex/workflow";

const target = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 3 },
});
export const redrive = signal("redrive");
export const discard = signal("discard");

export const message = workflow("message", async (text: string) => {
  for (;;) {
    try {
      return await target.deliver(text);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      await target.park(text, (error.cause as Error).message);
    }
    const again = await select([
      on(redrive, () => true),
      on(discard, () => false),
      timer("7 days", () => false),
    ]);
    if (!again) return "discarded";
  }
});
