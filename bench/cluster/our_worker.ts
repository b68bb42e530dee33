// A worker of this package in a process of its own, with its defaults; Node and Deno. Arguments: address, task queue, cached workflows
// (0: the default). Says "ready" when it polls, and ends in order when its standard input does.
import process from "node:process";
import { GrpcService } from "../../ts/temporal/grpc.ts";
import { Worker } from "../../ts/worker/mod.ts";

const [address, taskQueue, cached] = process.argv.slice(2) as [string, string, string];
const service = new GrpcService({ address });
const worker = await Worker.create({
  service,
  taskQueue,
  workflows: new URL("./workflows.ts", import.meta.url),
  activities: { echo: (value: unknown) => Promise.resolve(value) },
  ...(cached !== "0" && { cachedWorkflows: Number(cached) }),
});
const running = worker.run();
process.stdout.write("ready\n");
process.stdin.resume();
process.stdin.once("end", () => void worker.shutdown());
await running;
service.close();
