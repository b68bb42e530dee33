// Temporal's own TypeScript SDK on the workflows of tests/system/interop/flows/official_locals.ts.
//   node locals.mjs serve ADDRESS TASK_QUEUE   a worker, until its standard input ends; writes a line per activity that it begins
//   node locals.mjs replay FOLDER              replays each history of the folder and prints { NAME: "ok" or what went wrong }
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { activityInfo, Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import proto from "@temporalio/proto";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [what, where, taskQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR", () => {}), shutdownSignals: [] });

const workflowBundle = await bundleOf(join(here, "../flows/official_locals.ts"));

const begins = (run) => (...args) => {
  process.stdout.write(`${activityInfo().activityType}\n`);
  return run(...args);
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const activities = Object.fromEntries(
  Object.entries({
    slow: (ms) => sleep(ms).then(() => `slept ${ms}`),
    quick: async (name) => `quick ${name}`,
    async flaky(name) {
      if (activityInfo().attempt < 3) throw new Error(`attempt ${activityInfo().attempt}`);
      return `${name} at the third`;
    },
    async refuses() {
      throw ApplicationFailure.nonRetryable("no", "Refused");
    },
    listens: () => Context.current().cancelled,
  }).map(([name, run]) => [name, begins(run)]),
);

if (what === "replay") {
  const found = {};
  const histories = readdirSync(where).map((workflowId) => ({
    workflowId,
    history: proto.temporal.api.history.v1.History.decode(readFileSync(join(where, workflowId))),
  }));
  const replays = Worker.runReplayHistories({ workflowBundle }, histories);
  for await (const { workflowId, error } of replays) {
    found[workflowId] = error === undefined ? "ok" : `${error.name}: ${error.message}`;
  }
  process.stdout.write(JSON.stringify(found));
  process.exit(0);
}
const connection = await NativeConnection.connect({ address: where });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle,
  activities,
  stickyQueueScheduleToStartTimeout: "1s",
});
process.stdin.on("end", () => worker.shutdown()).resume();
process.stdout.write("ready\n");
await worker.run();
process.exit(0);
