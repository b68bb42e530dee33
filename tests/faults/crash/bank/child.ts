// A process that runs clerks until it is killed; `finish` as its second argument: until all have
// ended. It prints "open", and "started" for each clerk whose start is acknowledged.
import process from "node:process";
import { open, silentLogger } from "../../../../ts/mod.ts";
import * as reducers from "./reducers.ts";
import { clerk } from "./workflows.ts";

const [path, mode, clerks] = process.argv.slice(2);
const app = await open({
  path: path!,
  workflows: new URL("./workflows.ts", import.meta.url),
  reducers,
  migrations: reducers.migrations,
  logger: silentLogger,
  serve: false,
  engine: { synchronous: "NORMAL" },
});
console.log("open");
if (mode === "finish") {
  // A run whose task was the only running one at two kills would be suspected and held: these kills
  // come from outside.
  for (const { workflowId } of app.engine.heldRuns()) app.engine.release(workflowId);
  for await (const run of app.client.list("ExecutionStatus = 'Running'")) {
    await app.client.getHandle(clerk, run.workflowId).result();
  }
  await app.close();
  console.log("finished");
} else {
  for (let n = 0;; n++) {
    const runs = Array.from({ length: Number(clerks) }, (_, i) => `clerk-${process.pid}-${n}-${i}`);
    await Promise.all(runs.map(async (id) => {
      const handle = await app.client.start(clerk, { id, args: [40] });
      console.log("started");
      await handle.result();
    }));
  }
}
