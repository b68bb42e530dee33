// A program for `@temporalio/workflow` with local activities of all ends, for workers that take
// turns at it.
import * as wf from "@temporalio/workflow";

interface Acts {
  /** Returns after so many milliseconds. */
  slow(ms: number): Promise<string>;
  quick(name: string): Promise<string>;
  /** Succeeds at its third attempt. */
  flaky(name: string): Promise<string>;
  refuses(): Promise<void>;
  /** Ends when it is canceled. */
  listens(): Promise<void>;
}

const retry = { initialInterval: 20, backoffCoefficient: 1, maximumAttempts: 5 };
const local = wf.proxyLocalActivities<Acts>({ startToCloseTimeout: "20s", retry, summary: "near" });
const behindTimers = wf.proxyLocalActivities<Acts>({
  startToCloseTimeout: "20s",
  retry,
  localRetryThreshold: 1,
});
const brief = wf.proxyLocalActivities<Acts>({
  startToCloseTimeout: "100ms",
  retry: { maximumAttempts: 1 },
});
const go = wf.defineSignal("go");

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => `${value}`,
    (error) => `${error.name}: ${error.message}, ${error.cause?.message}`,
  );

/** One step after the other, each of so many milliseconds: longer than a workflow task. */
export async function longLocals(steps: number, ms: number): Promise<string[]> {
  const seen: string[] = [];
  for (let step = 0; step < steps; step++) {
    seen.push(await local.slow(ms));
    seen.push(...await Promise.all([local.quick(`a${step}`), local.quick(`b${step}`)]));
  }
  return seen;
}

/** All outcomes, together with timers and signals. */
export async function manyLocals(): Promise<string[]> {
  let told = false;
  wf.setHandler(go, () => void (told = true));
  const seen = [
    await outcome(local.flaky("near")),
    await outcome(behindTimers.flaky("far")),
    await outcome(local.refuses()),
  ];
  const race = await Promise.race([local.slow(400), wf.sleep(5000).then(() => "timer")]);
  const started = Date.now();
  seen.push(
    race,
    ...await Promise.all([local.quick("one"), wf.sleep(50).then(() => "slept"), local.slow(100)]),
  );
  seen.push(String(Date.now() >= started));
  for (const type of ["TRY_CANCEL", "WAIT_CANCELLATION_COMPLETED", "ABANDON"] as const) {
    const scope = new wf.CancellationScope();
    const options = { startToCloseTimeout: "20s", cancellationType: type };
    const cancelled = scope.run(() => outcome(wf.proxyLocalActivities<Acts>(options).listens()));
    // The timer starts another workflow task, during which the activity keeps running.
    await wf.sleep(10);
    scope.cancel();
    seen.push(`${type}: ${(await cancelled).split(",")[0]}`);
  }
  const never = new wf.CancellationScope();
  const before = never.run(() => outcome(local.listens()));
  never.cancel();
  seen.push(await before);
  await wf.condition(() => told);
  return seen;
}

/** A limit of one attempt. */
export async function briefLocal(): Promise<string> {
  return await outcome(brief.slow(1000));
}
