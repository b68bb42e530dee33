// A partner that accepts a number of letters per minute.
import { ApplicationFailure } from "temporalex/activity";

export async function sendLetter(recipient: string): Promise<void> {
  if (recipient.startsWith("moved")) {
    throw new ApplicationFailure(`${recipient} has no address`, {
      type: "NoAddress",
      nonRetryable: true,
    });
  }
}
