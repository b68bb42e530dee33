// A callback: another system completes the step, at most until the deadline.
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const partner = proxyActivities<typeof activities>({
  startToCloseTimeout: "1 day",
  retry: { maximumAttempts: 1 },
});

export async function openAccount(customer: string): Promise<string> {
  try {
    return `opened after ${await partner.checkCustomer(customer)}`;
  } catch (error) {
    if (error instanceof ActivityFailure) {
      if (error.cause instanceof ApplicationFailure) return `refused: ${error.cause.type}`;
      if (error.cause instanceof TimeoutFailure) return "no response";
    }
    throw error;
  }
}
