// This package's worker for examples/entity/temporal_workflow.ts in a separate process, until its
// standard input ends.
//   node our_worker.js ADDRESS TASK_QUEUE CACHED_WORKFLOWS
import process from "node:process";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";

const [address, taskQueue, cached] = process.argv.slice(2) as [string, string, string];
const service = new GrpcService({ address });
const worker = await Worker.create({
  service,
  taskQueue,
  workflows: new URL("../../../examples/entity/temporal_workflow.ts", import.meta.url),
  activities: { validateProfile: async () => {}, sendNotification: async () => "sent" },
  cachedWorkflows: Number(cached),
  logger: silentLogger,
});
process.stdin.resume();
process.stdin.once("end", () => void worker.shutdown());
process.stdout.write("ready\n");
await worker.run();
service.close();
