// Temporal's own TypeScript SDK on the callers of tests/system/interop/official/nexus_callers.mjs,
// and the services that they call.
//   node nexus.mjs serve ADDRESS TASK_QUEUE    a worker with the workflows and the services, until its standard input ends
//   node nexus.mjs replay FOLDER               replays each history of the folder and prints { NAME: "ok" or what went wrong }
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ApplicationFailure } from "@temporalio/common";
import { startWorkflow, WorkflowRunOperationHandler } from "@temporalio/nexus";
import proto from "@temporalio/proto";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import * as nexus from "nexus-rpc";
import { bundleOf } from "./bundles.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [what, where, taskQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR", () => {}), shutdownSignals: [] });

const workflowBundle = await bundleOf(join(here, "nexus_callers.mjs"));

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
  process.stdout.write(`\n${JSON.stringify(found)}\n`);
  process.exit(0);
}

const desk = nexus.service("desk", {
  echo: nexus.operation({ name: "say-again" }),
  ...Object.fromEntries(
    ["nothing", "refuses", "gives", "badRequest", "busy", "runs"].map((
      name,
    ) => [name, nexus.operation()]),
  ),
});
const services = [nexus.serviceHandler(desk, {
  async echo(_, text) {
    return `${text} again`;
  },
  async nothing() {},
  async refuses(_, why) {
    throw new nexus.OperationError("failed", `refused: ${why}`, {
      cause: ApplicationFailure.nonRetryable("deep", "Deep", 1),
    });
  },
  async gives() {
    throw new nexus.OperationError("canceled", "canceled by the handler");
  },
  async badRequest() {
    throw new nexus.HandlerError("BAD_REQUEST", "not so");
  },
  async busy() {
    throw new nexus.HandlerError("UNAVAILABLE", "later");
  },
  runs: new WorkflowRunOperationHandler(async (context, how) => {
    if (how === "starts late") await new Promise((resolve) => setTimeout(resolve, 5000));
    return await startWorkflow(context, "behind", {
      args: [how],
      workflowId: context.requestId,
      taskQueue,
    });
  }),
})];
const connection = await NativeConnection.connect({ address: where });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle,
  nexusServices: services,
});
process.stdin.on("end", () => worker.shutdown()).resume();
process.stdout.write("ready\n");
await worker.run();
process.exit(0);
