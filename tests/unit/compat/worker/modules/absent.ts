// Workflows that call a local activity, for workers with it and without it.
import { proxyActivities, proxyLocalActivities, sleep } from "@temporalio/workflow";

interface Activities {
  work(): Promise<string>;
  other(): Promise<string>;
}
const local = proxyLocalActivities<Activities>({
  startToCloseTimeout: "1 minute",
  retry: { maximumAttempts: 1 },
});
const remote = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });

/** Catches the error, and continues with a timer, an activity and a local activity. */
export async function caught(): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    seen.push(await local.work());
  } catch (error) {
    seen.push((error as Error).name, (error as Error).message, error instanceof ReferenceError);
  }
  await sleep(1);
  return [...seen, await remote.other(), await local.other()];
}

/** Does not catch it. */
export async function uncaught(): Promise<string> {
  return await local.work();
}

/** Calls a local activity that throws the same error. */
export async function thrown(): Promise<unknown[]> {
  try {
    return [await local.other()];
  } catch (error) {
    return [(error as Error).name, (error as Error).message, error instanceof ReferenceError];
  }
}
