// A mutex: one workflow per resource grants it to one caller at a time, in the order of requests.
// A caller that does not release it loses it after the lease.
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const device = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export const acquire = defineSignal<[caller: string]>("acquire");
export const release = defineSignal<[caller: string]>("release");
export const granted = defineSignal("granted");

export async function mutex(leaseMs: number, waiting: string[] = []): Promise<void> {
  let holder: string | undefined;
  setHandler(acquire, (caller) => void waiting.push(caller));
  setHandler(release, (caller) => {
    // A caller whose lease expired may be late.
    if (caller === holder) holder = undefined;
  });
  while (!workflowInfo().continueAsNewSuggested) {
    await condition(() => waiting.length > 0);
    holder = waiting.shift()!;
    try {
      await getExternalWorkflowHandle(holder).signal(granted);
    } catch (error) {
      if (isCancellation(error)) throw error;
      continue; // the caller has ended
    }
    await condition(() => holder === undefined, leaseMs);
    holder = undefined;
  }
  await continueAsNew<typeof mutex>(leaseMs, waiting);
}

export async function printDocument(
  document: string,
  ms: number,
): Promise<{ began: number; ended: number }> {
  const { workflowId } = workflowInfo();
  const printer = getExternalWorkflowHandle("printer");
  let mine = false;
  setHandler(granted, () => {
    mine = true;
  });
  await printer.signal(acquire, workflowId);
  await condition(() => mine);
  const began = Date.now();
  try {
    await device.print(document);
    await sleep(ms);
    return { began, ended: Date.now() };
  } finally {
    await CancellationScope.nonCancellable(() => printer.signal(release, workflowId));
  }
}
