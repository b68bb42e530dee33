// A worker of this package in a separate process, with its defaults; Node and Deno. Arguments:
// address, task queue, cached workflows (0: the default), and the folder of the published package
// ("": the checkout). Says "ready" when it polls, and ends in order when its standard input does.
import process from "node:process";
import { pathToFileURL } from "node:url";
import type * as Temporal from "../../ts/grpc/mod.ts";
import type * as Workers from "../../ts/worker/mod.ts";

const [address, taskQueue, cached, folder] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
];
const published = `${pathToFileURL(folder)}/dist/node`;
const [{ Connection }, { Worker }] = folder === ""
  ? await Promise.all([import("../../ts/grpc/mod.ts"), import("../../ts/worker/mod.ts")])
  : await Promise.all([
    import(`${published}/grpc/mod.js`) as Promise<typeof Temporal>,
    import(`${published}/worker/mod.js`) as Promise<typeof Workers>,
  ]);
const connection = Connection.connect({ address });
const worker = await Worker.create({
  // The workflows are loaded while the connection is made.
  service: connection,
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
await (await connection).close();
