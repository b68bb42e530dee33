// Workflows of tests/system/interop/worker_deployments.test.ts for Temporal's TypeScript SDK. The
// activity returns the version that ran it.
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  setWorkflowOptions,
} from "@temporalio/workflow";

const { version } = proxyActivities({ startToCloseTimeout: "10s" });
const go = defineSignal("go");

/** Continues as new after the first signal; returns the versions of the activities of both runs. */
async function twice(before) {
  let isReady = false;
  setHandler(go, () => void (isReady = true));
  const first = await version();
  await condition(() => isReady);
  const seen = `${before ?? ""} ${first} ${await version()}`;
  if (before !== undefined) return seen.trim();
  return await continueAsNew(seen);
}

export const pinned = (before) => twice(before);
setWorkflowOptions({ versioningBehavior: "PINNED" }, pinned);
export const moving = (before) => twice(before);
setWorkflowOptions({ versioningBehavior: "AUTO_UPGRADE" }, moving);
