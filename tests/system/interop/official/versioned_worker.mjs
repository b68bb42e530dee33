// A versioned worker of Temporal's TypeScript SDK, until it is stopped.
//   node versioned_worker.mjs ADDRESS TASK_QUEUE DEPLOYMENT BUILD_ID
import { join } from "node:path";
import process from "node:process";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const [address, taskQueue, deploymentName, buildId] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("WARN"), shutdownSignals: ["SIGTERM"] });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: await bundleOf(
    join(process.cwd(), "tests/system/interop/official/versioned_workflows.mjs"),
  ),
  activities: { version: () => buildId },
  workerDeploymentOptions: {
    useWorkerVersioning: true,
    version: { deploymentName, buildId },
    defaultVersioningBehavior: "PINNED",
  },
});
console.log("ready");
await worker.run();
await connection.close();
