// Workflows as people write them for the official SDK, for tests of time.
import assert from "node:assert";
import { ActivityFailure, proxyActivities, sleep } from "@temporalio/workflow";

interface Activities {
  slow(ms: number): Promise<number>;
  sleeps(ms: number): Promise<string>;
  fails(): Promise<void>;
}
const { slow, sleeps } = proxyActivities<Activities>({ startToCloseTimeout: "30 days" });
const { fails } = proxyActivities<Activities>({
  startToCloseTimeout: "1 minute",
  retry: { initialInterval: "1 day", backoffCoefficient: 1, maximumAttempts: 4 },
});

export async function sleeper(ms: number): Promise<string> {
  await sleep(ms);
  return "slept";
}

export async function retried(): Promise<string> {
  try {
    await fails();
    return "passed";
  } catch (error) {
    if (error instanceof ActivityFailure) return "failed";
    throw error;
  }
}

export async function racing(activityMs: number, timerMs: number): Promise<string> {
  return await Promise.race([
    slow(activityMs).then(() => "activity"),
    sleep(timerMs).then(() => "timer"),
  ]);
}

export async function sleepRace(activityMs: number, timerMs: number): Promise<string> {
  return await Promise.race([sleeps(activityMs), sleep(timerMs).then(() => "timer")]);
}

export async function endless(): Promise<never> {
  for (;;) await sleep("10 years");
}

export async function asserts(): Promise<void> {
  await Promise.resolve();
  assert.equal(1, 2, "one is not two");
}
