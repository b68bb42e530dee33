// A worker of the official SDK in a separate process, with that SDK's defaults. It comes from
// tests/system/interop/node_modules. Arguments: address, task queue, cached workflows (0: the SDK's
// default), and a file with bundled workflows ("": bundle them now, as a worker does that is given
// their sources). With `--bundle FILE` it only writes that file. Says "ready" when it polls, and
// ends in order when its standard input does.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const peer = join(process.cwd(), "tests/system/interop");
const { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } = createRequire(
  join(peer, "package.json"),
)(
  "@temporalio/worker",
);
const logger = new DefaultLogger("ERROR");
const sources = {
  workflowsPath: fileURLToPath(new URL("./official_workflows.mjs", import.meta.url)),
  // The workflows lie outside of the folder that has the SDK.
  webpackConfigHook: (config) => ({
    ...config,
    resolve: { ...config.resolve, modules: [join(peer, "node_modules"), "node_modules"] },
  }),
};

if (process.argv[2] === "--bundle") {
  const { code } = await bundleWorkflowCode({ ...sources, logger });
  writeFileSync(process.argv[3], code);
} else {
  const [address, taskQueue, cached, bundle] = process.argv.slice(2);
  Runtime.install({ logger });
  const connection = await NativeConnection.connect({ address });
  const { webpackConfigHook, workflowsPath } = sources;
  const worker = await Worker.create({
    connection,
    taskQueue,
    ...(bundle === ""
      ? { workflowsPath, bundlerOptions: { webpackConfigHook } }
      : { workflowBundle: { codePath: bundle } }),
    activities: { echo: (value) => Promise.resolve(value) },
    ...(cached !== "0" && { maxCachedWorkflows: Number(cached) }),
  });
  const running = worker.run();
  process.stdout.write("ready\n");
  process.stdin.resume();
  process.stdin.once("end", () => worker.shutdown());
  await running;
  await connection.close();
}
