// Temporal's own replayer over a folder of histories (protobuf), with what it cost. It comes from
// tests/system/interop/node_modules. Arguments: a bundle and the folder; with `--bundle MODULE FILE` it
// only makes the bundle.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

const peer = join(process.cwd(), "tests/system/interop");
const require = createRequire(join(peer, "package.json"));
const { bundleWorkflowCode, DefaultLogger, Runtime, Worker } = require("@temporalio/worker");
const { temporal } = require("@temporalio/proto");
const logger = new DefaultLogger("ERROR", () => {});

if (process.argv[2] === "--bundle") {
  const [, , , workflowsPath, file] = process.argv;
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    logger,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, modules: [join(peer, "node_modules"), "node_modules"] },
    }),
  });
  writeFileSync(file, code);
  console.log("{}");
} else {
  const [, , codePath, folder] = process.argv;
  // The programs of the corpus write to the console.
  console.log = () => {};
  Runtime.install({
    logger,
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
    shutdownSignals: [],
  });
  const histories = async function* () {
    for (const file of readdirSync(folder).sort()) {
      const history = temporal.api.history.v1.History.decode(readFileSync(join(folder, file)));
      yield {
        workflowId: history.events[0].workflowExecutionStartedEventAttributes.workflowId || file,
        history,
      };
    }
  };
  let all = 0;
  let ok = 0;
  for await (
    const { error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, histories())
  ) {
    all++;
    if (error === undefined) ok++;
    else process.stderr.write(`${error.message}\n`);
  }
  const { user, system } = process.cpuUsage();
  const figures = { histories: all, ok, cpuMs: (user + system) / 1000 };
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
}
