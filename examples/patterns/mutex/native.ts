// A mutex: one workflow per resource grants it to one caller at a time, in the order of requests.
// A caller that does not release it loses it after the lease.
import {
  activities,
  continueAsNew,
  externalWorkflow,
  isCancellation,
  now,
  on,
  select,
  shield,
  signal,
  sleep,
  timer,
  waitForSignal,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

const device = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const acquire = signal<[caller: string]>("acquire");
export const release = signal<[caller: string]>("release");
export const granted = signal("granted");

export const mutex = workflow("mutex", async (leaseMs: number) => {
  while (!workflowInfo().continueAsNewSuggested) {
    const holder = await waitForSignal(acquire); // other requests stay buffered, in order
    try {
      await externalWorkflow(holder).signal(granted);
    } catch (error) {
      if (isCancellation(error)) throw error;
      continue; // the caller has ended
    }
    const released = async () => {
      while (await waitForSignal(release) !== holder); // a caller whose lease expired may be late
    };
    await select([on(released, () => {}), timer(leaseMs, () => {})]);
  }
  return continueAsNew(leaseMs);
});

export const printDocument = workflow("printDocument", async (document: string, ms: number) => {
  const { workflowId } = workflowInfo();
  const printer = externalWorkflow("printer");
  await printer.signal(acquire, workflowId);
  await waitForSignal(granted);
  const began = now();
  try {
    await device.print(document);
    await sleep(ms);
    return { began, ended: now() };
  } finally {
    await shield(() => printer.signal(release, workflowId));
  }
});
