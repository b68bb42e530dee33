#!/usr/bin/env node
// Records the histories in tests/unit/compat/histories: runs the programs in
// tests/unit/compat/programs with the official TypeScript SDK against a Temporal dev server. Not
// part of the tests; run it again when a program changes.
//   OFFICIAL_SDK=<folder whose node_modules holds
//   @temporalio/{worker,client,workflow,activity,common,nexus,proto} 1.24.0 and protobufjs 8.x>
//   TEMPORAL_CLI=<the dev server's binary> node tests/unit/compat/record.mjs [program...]
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { buildDist } from "../../../tools/build_dist.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const sdk = process.env.OFFICIAL_SDK;
if (sdk === undefined) {
  throw new Error("OFFICIAL_SDK must name a folder with the official packages in its node_modules");
}
const require = createRequire(join(sdk, "x.js"));
const { Worker, NativeConnection, Runtime, DefaultLogger } = require("@temporalio/worker");
const { Client, Connection } = require("@temporalio/client");
const { activityInfo } = require("@temporalio/activity");
const { ApplicationFailure } = require("@temporalio/common");
const { temporal } = require("@temporalio/proto");
const { startWorkflow, WorkflowRunOperationHandler } = require("@temporalio/nexus");
const nexus = require("nexus-rpc");

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
process.on("SIGINT", () => process.exit(1));
process.on("SIGTERM", () => process.exit(1));
// Node 20 cannot load TypeScript.
buildDist();
const { freePort } = await import("../../../dist/tests/support/ports.js");
const { HistorySchema } = await import(
  "../../../dist/ts/messages/generated/temporal/api/history/v1/message_pb.js"
);

const toPlain = (history) =>
  toJson(
    HistorySchema,
    fromBinary(HistorySchema, temporal.api.history.v1.History.encode(history).finish()),
  );

/** What the client does with each program while it runs. */
const DRIVERS = {
  cancelled: async (handle) => {
    await sleep(1500);
    await handle.signal("release", "go");
    await sleep(600);
    await handle.cancel();
  },
  messages: async (handle) => {
    // Before the first task is done: buffered and dispatched together.
    const calls = [
      handle.signal("add", "first"),
      handle.executeUpdate("ask", { args: ["one"], updateId: "u1" }),
    ];
    await sleep(150);
    await handle.executeUpdate("ask", { args: ["bad"], updateId: "u2" }).catch(() => {});
    calls.push(
      handle.executeUpdate("ask", { args: ["two"], updateId: "u3" }),
      handle.executeUpdate("later", { args: ["x"], updateId: "u4" }),
    );
    calls.push(handle.signal("add", "second"), handle.signal("add", "third"));
    await Promise.all(calls);
    await handle.signal("stop");
  },
};

const operations = {
  echo: nexus.operation({ name: "say-again" }),
  ...Object.fromEntries(
    ["refuses", "gives", "bad", "runs"].map((name) => [name, nexus.operation()]),
  ),
};
/** What programs call at the endpoint "desk", which leads to the queue of the program `nexus`. */
const desk = nexus.serviceHandler(nexus.service("desk", operations), {
  echo: async (_, text) => `${text} again`,
  async refuses() {
    throw new nexus.OperationError("failed", "refused", {
      cause: ApplicationFailure.nonRetryable("deep", "Deep"),
    });
  },
  async gives() {
    throw new nexus.OperationError("canceled", "given up");
  },
  async bad() {
    throw new nexus.HandlerError("BAD_REQUEST", "not so");
  },
  runs: new WorkflowRunOperationHandler((context, how) =>
    startWorkflow(context, "behind", {
      args: [how],
      workflowId: context.requestId,
      taskQueue: "nexus",
    })
  ),
});

const names = process.argv.slice(2).length > 0
  ? process.argv.slice(2)
  : readdirSync(join(here, "programs")).map((file) => file.replace(/\.ts$/, ""));
const work = mkdtempSync(join(tmpdir(), "record-"));
symlinkSync(join(sdk, "node_modules"), join(work, "node_modules"));
const port = await freePort();
const server = spawn(process.env.TEMPORAL_CLI ?? "temporal", [
  "server",
  "start-dev",
  "--headless",
  "--ip",
  "127.0.0.1",
  "--port",
  String(port),
  "--http-port",
  String(await freePort()),
  "--log-level",
  "error",
], { stdio: "ignore" });
process.on("exit", () => server.kill());
try {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  let connection;
  for (let i = 0; connection === undefined; i++) {
    connection = await NativeConnection.connect({ address: `127.0.0.1:${port}` }).catch(() =>
      undefined
    );
    if (connection === undefined && i > 100) throw new Error("the dev server does not answer");
    await sleep(200);
  }
  const endpoint = [
    "--name",
    "desk",
    "--target-namespace",
    "default",
    "--target-task-queue",
    "nexus",
  ];
  const cli = process.env.TEMPORAL_CLI ?? "temporal";
  execFileSync(cli, [
    "operator",
    "nexus",
    "endpoint",
    "create",
    "--address",
    `127.0.0.1:${port}`,
    ...endpoint,
  ]);
  const client = new Client({
    connection: await Connection.connect({ address: `127.0.0.1:${port}` }),
    identity: "recorder",
  });
  mkdirSync(join(here, "histories"), { recursive: true });
  for (const name of names) {
    copyFileSync(join(here, "programs", `${name}.ts`), join(work, `${name}.ts`));
    const worker = await Worker.create({
      connection,
      identity: "recorder",
      taskQueue: name,
      workflowsPath: join(work, `${name}.ts`),
      // Takes every name; those that begin with "fail" succeed at the third attempt.
      activities: {
        default: () => {
          const { activityType, attempt } = activityInfo();
          if (activityType.startsWith("fail") && attempt < 3) throw new Error(`attempt ${attempt}`);
        },
      },
      ...(name === "nexus" && { nexusServices: [desk] }),
      bundlerOptions: {
        webpackConfigHook: (config) => ({
          ...config,
          resolve: { ...config.resolve, symlinks: false },
        }),
      },
    });
    const running = worker.run();
    const handle = await client.workflow.start(name, {
      taskQueue: name,
      workflowId: name,
      args: [],
      workflowRunTimeout: "2m",
    });
    await DRIVERS[name]?.(handle);
    const outcome = await handle.result().then(
      (value) => `completed ${JSON.stringify(value)}`,
      (e) => `${e.name}: ${e.cause?.message}`,
    );
    const history = await handle.fetchHistory();
    const events = toPlain(history).events.map((event) => JSON.stringify(event));
    writeFileSync(
      join(here, "histories", `${name}.json`),
      `{"events":[\n${events.join(",\n")}\n]}\n`,
    );
    console.log(`${name}: ${history.events.length} events, ${outcome}`);
    worker.shutdown();
    await running;
  }
} finally {
  rmSync(work, { recursive: true });
}
process.exit(0);
