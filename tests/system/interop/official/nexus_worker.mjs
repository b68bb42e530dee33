// The official worker: workflows that call Nexus operations, and the same service as this package's
// on a separate queue.
//   node nexus_worker.mjs ADDRESS CALLER_QUEUE HANDLER_QUEUE
import { fileURLToPath } from "node:url";
import process from "node:process";
import * as nexus from "nexus-rpc";
import * as common from "@temporalio/common";
import * as temporal from "@temporalio/nexus";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";
import { services } from "./nexus_service.mjs";

const [address, callerQueue, handlerQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: ["SIGTERM"] });
const connection = await NativeConnection.connect({ address });
const callers = await Worker.create({
  connection,
  taskQueue: callerQueue,
  workflowBundle: await bundleOf(fileURLToPath(new URL("nexus_workflows.mjs", import.meta.url))),
});
const handlers = await Worker.create({
  connection,
  taskQueue: handlerQueue,
  nexusServices: services(nexus, temporal, common),
});
console.log("ready");
await Promise.all([callers.run(), handlers.run()]);
await connection.close();
