// Workflows that wait, for tests of waits that do not end.
import { condition, defineSignal, defineUpdate, setHandler, sleep } from "@temporalio/workflow";

const go = defineSignal("go");
const never = defineUpdate("never");
const naps = defineUpdate<string, [ms: number]>("naps");

export async function waitsForGo(): Promise<void> {
  let isGone = false;
  setHandler(go, () => void (isGone = true));
  setHandler(never, () => condition(() => false));
  setHandler(naps, async (ms) => {
    await sleep(ms);
    return "rested";
  });
  await condition(() => isGone);
}
