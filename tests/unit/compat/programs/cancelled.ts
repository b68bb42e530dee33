// Cancellation through a tree of scopes: of a scope by code, of the workflow by a request, with
// cleanup in scopes that are shielded.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({
  startToCloseTimeout: "10s",
  cancellationType: "WAIT_CANCELLATION_COMPLETED",
});
const names = new Map<wf.CancellationScope, string>();
const release = wf.defineSignal<[string]>("release");

function here(): string {
  const scope = wf.CancellationScope.current();
  return `${names.get(scope) ?? "root"}${scope.consideredCancelled ? "!" : ""}`;
}

async function note(step: string): Promise<void> {
  try {
    await acts[`${step}@${here()}`]!();
  } catch (e) {
    // In a cancelled scope nothing is scheduled: the next step shows that this one was refused.
    if (!wf.isCancellation(e)) throw e;
  }
}

function scoped<T>(name: string, fn: () => Promise<T>, cancellable = true): Promise<T> {
  const scope = new wf.CancellationScope({ cancellable });
  names.set(scope, name);
  return scope.run(fn);
}

async function branch(name: string): Promise<string> {
  try {
    await scoped(`${name}.deep`, async () => {
      await note(`${name}.begin`);
      await wf.sleep("1 hour");
    });
    return "never";
  } catch (e) {
    await note(`${name}.refused`);
    // Refused as well, but it uses up a timer's number.
    await wf.sleep(10).catch(() => {});
    await scoped(`${name}.shield`, async () => {
      await note(`${name}.cleanup`);
      await wf.sleep(10);
      await scoped(`${name}.shield.inner`, () => note(`${name}.inner`));
    }, false);
    throw e;
  } finally {
    await scoped(`${name}.last`, () => note(`${name}.finally`), false);
  }
}

export async function cancelled(): Promise<string> {
  const released: string[] = [];
  wf.setHandler(release, (what) => void released.push(what));
  // A scope that code cancels.
  const outer = new wf.CancellationScope();
  names.set(outer, "outer");
  const both = outer.run(() => Promise.allSettled([branch("x"), branch("y")]));
  await wf.sleep(300);
  outer.cancel();
  outer.cancelRequested.catch(() => void note("requested"));
  const results = await both;
  await note(`outer.${results.map((one) => one.status).join()}`);
  // withTimeout, in time and too late.
  await wf.CancellationScope.withTimeout(5000, async () => {
    await wf.sleep(10);
    await note("in.time");
  });
  await wf.CancellationScope.withTimeout(50, async () => {
    await note("too.late");
    await wf.condition(() => released.includes("never"));
  }).catch((e) => note(`late.${wf.isCancellation(e)}`));
  // Conditions: one that times out, one that a signal ends.
  const gave = await wf.condition(() => released.length > 5, 30);
  await note(`condition.${gave}`);
  await wf.condition(() => released.includes("go"), "1 minute");
  await note("released");
  // The workflow itself is asked to cancel.
  try {
    await branch("z");
  } catch (e) {
    await note("refused");
    await wf.CancellationScope.nonCancellable(async () => {
      await note("compensate");
      await wf.sleep(10);
      await note("compensated");
    });
    throw e;
  }
  return "never";
}
