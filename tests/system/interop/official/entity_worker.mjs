// The official worker for examples/entity/temporal_workflow.ts, until it is stopped.
//   node entity_worker.mjs ADDRESS TASK_QUEUE [CACHED_WORKFLOWS]
import { join } from "node:path";
import process from "node:process";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const [address, taskQueue, cached] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: ["SIGTERM"] });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  ...(cached !== undefined && { maxCachedWorkflows: Number(cached) }),
  workflowBundle: await bundleOf(join(process.cwd(), "examples/entity/temporal_workflow.ts"), {
    // The program lies outside of the folder that has the SDK.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        modules: [join(process.cwd(), "tests/system/interop/node_modules"), "node_modules"],
      },
    }),
  }),
  activities: { validateProfile: async () => {}, sendNotification: async () => "sent" },
});
console.log("ready");
await worker.run();
await connection.close();
