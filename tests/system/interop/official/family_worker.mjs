// The official worker for family_workflows.mjs, until it is stopped.
//   node family_worker.mjs ADDRESS TASK_QUEUE
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const [address, taskQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: ["SIGTERM"] });
const here = dirname(fileURLToPath(import.meta.url));
const workflowBundle = await bundleOf(join(here, "family_workflows.mjs"));
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({ connection, taskQueue, workflowBundle });
console.log("ready");
await worker.run();
await connection.close();
