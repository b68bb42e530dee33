// Activities of tests/unit/codec: one that keeps a secret, one that fails with one.
import { activityInfo, heartbeat } from "temporalex/activity";
import { ApplicationFailure } from "temporalex";

export async function keep(text: string): Promise<string> {
  heartbeat({ progress: `SECRET heartbeat of ${text}` });
  await new Promise((resolve) => setTimeout(resolve, 20));
  return `kept ${text}`;
}

export function fail(text: string): Promise<never> {
  const { attempt, heartbeatDetails } = activityInfo();
  heartbeat(`SECRET heartbeat ${attempt}`);
  const cause = new Error("SECRET cause");
  throw new ApplicationFailure(`SECRET failure: ${text}`, {
    type: "Failed",
    details: [`SECRET detail after ${String(heartbeatDetails)}`],
    cause,
  });
}
