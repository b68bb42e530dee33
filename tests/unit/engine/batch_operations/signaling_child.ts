// A process that signals all workflows by batch operations, one after the other, until it is killed.
// Writes `started N` when operation N was acknowledged, and `visited N` when a part of its workflows
// was. Argument: the store's path.
import process from "node:process";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { until } from "../../../support/until.ts";
import { OPERATIONS_PER_SECOND, WORKFLOWS } from "./signaling.ts";
import { BatchEngine } from "./support.ts";

const [path = ""] = process.argv.slice(2);
const opened = new BatchEngine(await EmbeddedEngine.open({ path, synchronous: "NORMAL" }));
if (await opened.client.count() === 0) {
  await opened.startWorkflows(Array.from({ length: WORKFLOWS }, (_, n) => `w${n}`));
}
for (let n = (await opened.listBatches()).operationInfo.length;; n++) {
  await opened.startBatch({
    jobId: `job${n}`,
    visibilityQuery: "WorkflowType = 'W'",
    maxOperationsPerSecond: OPERATIONS_PER_SECOND,
    signalOperation: { signal: "go" },
  });
  process.stdout.write(`started ${n}\n`);
  await until("the first slice", async () => (await opened.counts(`job${n}`))[1]! > 0);
  process.stdout.write(`visited ${n}\n`);
  await opened.ended(`job${n}`);
}
