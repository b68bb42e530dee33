// runtime: node (rules of the server; other files cover the runtime)
// Worker versioning on a real Temporal dev server: two versions of a deployment work at once; a
// pinned run stays with its version, an auto-upgrade run continues with the one that became
// current, and so do activities.
// takes: 10 s
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { NativeConnection, Worker as CompatWorker } from "../../../ts/compat/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

const taskQueue = "versioned";
const deploymentName = "shop";
/** Two workflows of one version; both wait for a signal and then call an activity. */
const code = (version: string) =>
  `import { activities, signal, waitForSignal, workflow } from "temporalex/workflow";
const acts = activities({ startToClose: "10s" });
const run = async () => { await acts.version("first"); await waitForSignal(signal("go")); return "${version}, activity of " + await acts.version("second"); };
export const stays = workflow("Stays", { versioningBehavior: "PINNED", run });
export const moves = workflow("Moves", { run });
`;

let server: DevServer, service: GrpcService, client: Client, folder: string;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue, logger: silentLogger });
  folder = mkdtempSync(join(tmpdir(), "temporalex-versions-"));
});

after(async () => {
  service?.close();
  await server?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

async function startWorker(buildId: string): Promise<Worker> {
  const path = join(folder, `${buildId}.ts`);
  writeFileSync(path, code(buildId));
  const worker = await Worker.create({
    service,
    taskQueue,
    workflows: path,
    activities: { version: () => buildId },
    logger: silentLogger,
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId },
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  });
  worker.run().catch(() => {});
  return worker;
}

/** As an operator does it. The version is known to the server once a worker of it has polled. */
async function setCurrent(buildId: string, deployment = deploymentName): Promise<void> {
  const version = ["--deployment-name", deployment, "--build-id", buildId, "--yes"];
  const args = [
    "worker",
    "deployment",
    "set-current-version",
    ...version,
    "--address",
    server.address,
  ];
  await until(`version ${buildId} is current`, async () => {
    try {
      await promisify(execFile)(temporalCli()!, args);
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return false;
    }
  });
}

const waitsForSignal = async (handle: WorkflowHandle): Promise<boolean> => {
  const { events } = await handle.fetchHistory();
  return events.filter((event) => event.attributes.case === "workflowTaskCompletedEventAttributes")
    .length >= 2;
};

/** Versions and behaviors of the run's completed tasks. */
async function completions(handle: WorkflowHandle): Promise<string[]> {
  const found: string[] = [];
  for (const { attributes } of (await handle.fetchHistory()).events) {
    if (attributes.case !== "workflowTaskCompletedEventAttributes") continue;
    const { versioningBehavior, deploymentVersion, workerDeploymentName } = attributes.value;
    assert.equal(workerDeploymentName, deploymentName);
    found.push(`${deploymentVersion?.buildId} ${versioningBehavior}`);
  }
  return found;
}

test("a pinned run stays on v1, an auto-upgrade run moves to v2, each with its activities", {
  skip: noServer,
}, async () => {
  const workers = [await startWorker("v1")];
  try {
    await setCurrent("v1");
    const stays = await client.start("Stays", { id: "stays" });
    const moves = await client.start("Moves", { id: "moves" });
    for (const handle of [stays, moves]) await until("it waits", () => waitsForSignal(handle));
    workers.push(await startWorker("v2"));
    await setCurrent("v2");
    for (const handle of [stays, moves]) await handle.signal("go");
    assert.equal(await stays.result(), "v1, activity of v1");
    assert.equal(await moves.result(), "v2, activity of v2");
    const stayed = await completions(stays);
    assert.deepEqual(stayed, stayed.map(() => "v1 1"), "PINNED");
    const moved = await completions(moves);
    assert.deepEqual([moved[0], moved.at(-1)], ["v1 2", "v2 2"], "AUTO_UPGRADE");
    const late = await client.start("Stays", { id: "late" });
    await late.signal("go");
    assert.equal(
      await late.result(),
      "v2, activity of v2",
      "new runs begin on the current version",
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.shutdown()));
  }
});

test("workflowInfo() of a Temporal program has the version, while a task is open and on replay", {
  skip: noServer,
}, async () => {
  const path = join(folder, "info.mjs");
  writeFileSync(
    path,
    `import { sleep, workflowInfo } from "@temporalio/workflow";
const now = () => [workflowInfo().currentBuildId, workflowInfo().currentDeploymentVersion];
export async function version() { const first = now(); await sleep(1); return [first, now()]; }
`,
  );
  const connection = await NativeConnection.connect({ address: server.address });
  const version = { deploymentName: "info", buildId: "v7" };
  // With and without the run in memory: the last task replays the first one, whose version is in
  // history by then.
  for (const maxCachedWorkflows of [10, 0]) {
    const worker = await CompatWorker.create({
      ...{ connection, taskQueue: "info", workflowsPath: path, maxCachedWorkflows },
      workerDeploymentOptions: {
        useWorkerVersioning: true,
        version,
        defaultVersioningBehavior: "PINNED",
      },
    });
    await worker.runUntil(async () => {
      await setCurrent("v7", "info");
      const handle = await client.start("version", {
        id: `info-${maxCachedWorkflows}`,
        taskQueue: "info",
      });
      assert.deepEqual(
        await handle.result(),
        [["v7", version], ["v7", version]],
        `${maxCachedWorkflows} runs in memory`,
      );
    });
  }
  await connection.close();
});
