// An ordinary workflow: it knows nothing of encryption.
import {
  activities,
  ApplicationFailure,
  signal,
  waitForSignal,
  workflow,
} from "temporalex/workflow";

export const approve = signal<[by: string]>("approve");

const acts = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 1 },
});

export const payment = workflow("Payment", async (card: string, cents: number) => {
  const authorization = await acts.authorize(card, cents);
  const by = await waitForSignal(approve);
  if (by === "") {
    throw new ApplicationFailure(`approver is missing for ${authorization}`, {
      type: "NotApproved",
    });
  }
  return { authorization, by };
});
