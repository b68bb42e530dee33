// A worker in a separate process, to be killed: `worker_child ADDRESS QUEUE [METHOD COUNT]`. With
// METHOD it kills itself before it sends its COUNT-th report by that method: the task is done but
// not reported. Prints "ready", and "exec WORKFLOW INPUT" for each activity.
import process from "node:process";
import { activityInfo } from "../../../../ts/activity/mod.ts";
import { silentLogger } from "../../../../ts/client/mod.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../../ts/worker/mod.ts";

const [address, taskQueue, method, count] = process.argv.slice(2);
const cluster = new GrpcService({ address: address! });
let left = Number(count ?? Infinity);
const service: RawService = {
  losesCancelledPolls: true,
  async call(name, request, options) {
    if (name === method && --left === 0) process.kill(process.pid, "SIGKILL");
    return await cluster.call(name, request, options);
  },
};
const worker = await Worker.create({
  service,
  taskQueue: taskQueue!,
  workflows: new URL("./sagas.ts", import.meta.url),
  activities: {
    async pay(input: string) {
      const { workflowId } = activityInfo();
      console.log(`exec ${workflowId} ${input}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return `${input} paid`;
    },
  },
  logger: silentLogger,
});
console.log("ready");
await worker.run();
