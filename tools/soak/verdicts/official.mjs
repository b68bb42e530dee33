// The official replayer, in a separate process: `node official.mjs JOBS.json`. A job is { modules,
// histories: [{ id, workflowId, file }] }; prints { begins: id } and { id, verdict, name, message }
// for each history.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname } from "node:path";

const require = createRequire(
  new URL("../../../tests/system/interop/package.json", import.meta.url),
);
// Each of its packages bundles a copy of protobufjs, and types of two copies do not mix: use one
// copy for all.
/** @type {any} */
const loader = Module;
const resolve = loader._resolveFilename;
const copy = dirname(
  createRequire(require.resolve("@temporalio/common")).resolve("protobufjs/package.json"),
);
loader._resolveFilename = function (request, ...rest) {
  return resolve.call(this, request.replace(/^protobufjs(?=\/|$)/, copy), ...rest);
};
const { bundleWorkflowCode, DefaultLogger, Runtime, Worker } = require("@temporalio/worker");
const { historyFromJSON } = require("@temporalio/common/lib/proto-utils");
const home = dirname(require.resolve("@temporalio/workflow/package.json"));

Runtime.install({
  logger: new DefaultLogger("ERROR", () => {}),
  telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  shutdownSignals: [],
});
// The SDK shuts its Runtime down when the last worker closes, which races with the next one's
// start.
Runtime.instance().backRefs?.add({});
process.on("unhandledRejection", () => {});

const print = process.stdout.write.bind(process.stdout);
console.log =
  console.info =
  console.warn =
  console.error =
    () => {};

const verdictOf = (error) =>
  error === undefined
    ? "OK"
    : error.name === "DeterminismViolationError"
    ? "NONDETERMINISM"
    : "TASK_FAILURE";

for (const { modules, histories } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const bundled = await bundleWorkflowCode({
    workflowsPath: modules,
    logger: new DefaultLogger("ERROR", () => {}),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, modules: [`${home}/../..`, "node_modules"] },
    }),
  }).catch((error) => {
    process.stderr.write(
      `${modules} is not bundled: ${String(error?.message ?? error).slice(0, 300)}\n`,
    );
  });
  if (bundled === undefined) continue;
  const { code } = bundled;
  for (const { id, workflowId, file } of histories) {
    print(`${JSON.stringify({ begins: id })}\n`);
    const history = historyFromJSON(JSON.parse(readFileSync(file, "utf8")));
    const one = (async function* () {
      yield { workflowId, history };
    })();
    let error;
    const judged = (async () => {
      for await (
        const result of Worker.runReplayHistories({ workflowBundle: { code }, replayName: id }, one)
      ) {
        return result.error;
      }
    })();
    let timer;
    const late = new Promise((done) =>
      timer = setTimeout(
        done,
        30_000,
        Object.assign(new Error("no verdict within 30 s"), { name: "Hang" }),
      )
    );
    try {
      error = await Promise.race([judged, late]);
    } catch (thrown) {
      error = thrown;
    }
    clearTimeout(timer);
    print(
      `${
        JSON.stringify({
          id,
          verdict: verdictOf(error),
          name: error?.name ?? "",
          message: String(error?.message ?? ""),
        })
      }\n`,
    );
  }
}
process.exit(0);
