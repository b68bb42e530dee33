// Time, random numbers, ids and patches, all of which end up in names of activities.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
/** Evaluated once per run, so it starts at 0 for each. */
let steps = 0;
const loaded = wf.uuid4();

function note(step: string | number): Promise<unknown> {
  return acts[`${steps++}.${step}`]!();
}

export async function determined(): Promise<string> {
  const { startTime, runStartTime } = wf.workflowInfo();
  await note(loaded);
  await note(Math.random());
  await note(new Date().getTime() - startTime.getTime());
  await note(Date.now() - runStartTime.getTime());
  await wf.sleep("25ms");
  await note(wf.uuid4());
  await note(new Date().toISOString());
  if (wf.patched("one")) await note("one");
  wf.deprecatePatch("two");
  await Promise.all([0, 0, 0].map((_, i) => note(`${i}.${Math.floor(Math.random() * 1e9)}`)));
  // A timeout of zero is a separate patch.
  await note(String(await wf.condition(() => false, 0)));
  await note(`${wf.workflowInfo().historyLength}.${wf.patched("one")}`);
  return wf.uuid4();
}
