// Temporal's own TypeScript SDK on the workflows of tests/system/interop/flows/official_locals.ts.
//   node locals.mjs serve ADDRESS TASK_QUEUE   a worker, until its standard input ends; writes a line per activity that it begins
//   node locals.mjs replay FOLDER              replays each history of the folder and prints { NAME: "ok" or what went wrong }
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { activityInfo, Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import proto from "@temporalio/proto";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from "@temporalio/worker";

const here = dirname(fileURLToPath(import.meta.url));
const [what, where, taskQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR", () => {}), shutdownSignals: [] });

// A folder where the SDK's packages are found from.
const work = mkdtempSync(join(tmpdir(), "temporalex-locals-"));
symlinkSync(join(here, "../node_modules"), join(work, "node_modules"));
const program = join(work, "official_locals.ts");
copyFileSync(join(here, "../flows/official_locals.ts"), program);
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: program,
  logger: new DefaultLogger("ERROR"),
  webpackConfigHook: (config) => ({ ...config, resolve: { ...config.resolve, symlinks: false } }),
}).finally(() => rmSync(work, { recursive: true }));

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
  for (const name of readdirSync(where)) {
    const history = proto.temporal.api.history.v1.History.decode(readFileSync(join(where, name)));
    found[name] = await Worker.runReplayHistory({ workflowBundle }, history, name)
      .then(() => "ok", (error) => `${error.name}: ${error.message}`);
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
