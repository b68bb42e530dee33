// A callback: another system completes the step, at most until the deadline.
import {
  activities,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  workflow,
} from "temporalex/workflow";

const partner = activities<typeof import("./activities.ts")>({
  startToClose: "1 day",
  retry: { maximumAttempts: 1 },
});

export const openAccount = workflow("openAccount", async (customer: string) => {
  try {
    return `opened after ${await partner.checkCustomer(customer)}`;
  } catch (error) {
    if (error instanceof ActivityFailure) {
      if (error.cause instanceof ApplicationFailure) return `refused: ${error.cause.type}`;
      if (error.cause instanceof TimeoutFailure) return "no response";
    }
    throw error;
  }
});
