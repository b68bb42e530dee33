// The official worker for tests/system/interop/flows/shared_queue.ts, until it is stopped.
//   node shared_queue_worker.mjs ADDRESS TASK_QUEUE CACHED_RUNS
import { join } from "node:path";
import process from "node:process";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const [address, taskQueue, cached] = process.argv.slice(2);
Runtime.install({
  logger: new DefaultLogger("WARN"),
  shutdownSignals: ["SIGTERM"],
});
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  identity: "official",
  maxCachedWorkflows: Number(cached),
  workflowBundle: await bundleOf(
    join(process.cwd(), "tests/system/interop/flows/shared_queue.ts"),
    {
      // The program lies outside of the folder that has the SDK.
      webpackConfigHook: (config) => ({
        ...config,
        resolve: {
          ...config.resolve,
          modules: [
            join(process.cwd(), "tests/system/interop/node_modules"),
            "node_modules",
          ],
        },
      }),
    },
  ),
  activities: {
    add: (a, b) => a + b,
    local: (n) => n,
    fail: (message) => {
      throw new Error(message);
    },
  },
});
console.log("ready");
await worker.run();
await connection.close();
