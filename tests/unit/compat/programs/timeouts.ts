// setTimeout and clearTimeout: which calls use up a number of a timer, which is what history names
// timers by.
import { CancellationScope, proxyActivities, sleep } from "@temporalio/workflow";

const acts = proxyActivities({ startToCloseTimeout: "10s" });

/** A step, and a timer after it: its number shows how many were used. */
async function step(name: string): Promise<void> {
  await acts[name]!();
  await sleep(5);
}

async function refused(ms: unknown): Promise<string> {
  try {
    await sleep(ms as number);
    return "slept";
  } catch (error) {
    return (error as Error).name;
  }
}

export async function timeouts(): Promise<void> {
  const fired = await new Promise<number>((resolve) => {
    const handle: number = setTimeout(() => resolve(handle), 5) as unknown as number;
  });
  clearTimeout(fired);
  await step("cleared.after.it.fired");
  clearTimeout(fired);
  clearTimeout(fired);
  await step("cleared.again");
  const open = setTimeout(() => acts["never"]!(), 60_000);
  await sleep(5);
  clearTimeout(open);
  await step("cleared.while.open");
  clearTimeout(open);
  await step("cleared.once.more");
  const both = setTimeout(() => acts["never"]!(), 60_000);
  clearTimeout(both);
  clearTimeout(both);
  await step("cleared.twice.at.once");
  await step(`sleep.of.no.duration.${await refused("soon")}`);
  await step(`sleep.of.NaN.${await refused(NaN)}`);
  await step(`sleep.of.Infinity.${await refused(Infinity)}`);
  const endless = proxyActivities({ startToCloseTimeout: Infinity })["endless"]!();
  await step(`activity.of.Infinity.${await endless.catch((error: Error) => error.name)}`);
  // No timer is started for these, as with the official SDK.
  setTimeout(() => acts["never"]!(), undefined);
  setTimeout(() => acts["never"]!(), NaN);
  await step("timeouts.of.no.time");
  const scope = new CancellationScope();
  scope.cancel();
  const dead = await scope.run(() =>
    Promise.resolve(setTimeout(() => acts["in.cancelled.scope"]!(), 5))
  );
  await step(`in.cancelled.scope.${typeof dead}`);
  try {
    await scope.run(() => sleep(5));
  } catch {
    await step("sleep.in.cancelled.scope");
  }
}
