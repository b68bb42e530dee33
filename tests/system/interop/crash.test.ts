// Workers that are killed in the middle of a task, and a server that is killed and comes back,
// while workflows run: nothing is lost, no command and no completion is recorded twice (P2), and
// every history replays.
// takes: 60 s
// runtime: node (long; suite_worker and scenarios run workers on a server in each runtime)
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { delay } from "@std/async/delay";
import {
  Client,
  ServiceError,
  silentLogger,
  type WorkflowHandle,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import { openWorkerRealm } from "../../../ts/realm/worker_realm.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { ask, close, saga } from "./flows/sagas.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const workflows = new URL("./flows/sagas.ts", import.meta.url);
const RUNS = 6, STEPS = 3;
type Saga = WorkflowHandle<typeof saga>;

const start = (client: Client): Promise<Saga[]> =>
  Promise.all(
    Array.from({ length: RUNS }, (_, i) =>
      client.start(saga, { id: `saga-${i}`, args: [`s${i}`, STEPS], taskTimeout: "2s" })),
  );

const expected = (name: string): string[] =>
  Array.from(
    { length: STEPS },
    (_, i) => ["", "-left", "-right"].map((side) => `${name}-${i}${side} paid`),
  ).flat();

/**
 * Every run has its result, each command and completion is in history once, and the history
 * replays.
 */
async function judge(handles: Saga[]): Promise<void> {
  const realm = await openWorkerRealm({
    workflows,
    cacheSize: 0,
    runOptions: { namespace: "default", identity: "replay" },
  });
  try {
    for (const [i, handle] of handles.entries()) {
      const asks = (n: number) => handle.executeUpdate(ask, { args: [n], updateId: `ask-${n}` });
      // Until its activities are done it refuses updates, and the server does where its task was
      // lost three times in a row.
      await until(
        "the saga asks",
        () =>
          asks(1).then(() => true, async (error: Error & { reason?: string }) => {
            const notYet = error instanceof WorkflowUpdateRejectedError ||
              [error, error.cause].some((e) =>
                e instanceof ServiceError && e.reason === "WorkflowNotReady"
              );
            if (!notYet) throw error;
            await delay(50);
            return false;
          }),
      );
      for (let n = 1; n <= 3; n++) assert.equal(await asks(n), n * (n + 1) / 2);
      await handle.signal(close);
      const { paid, asked } = await handle.result();
      assert.deepEqual(paid, expected(`s${i}`));
      assert.equal(asked, 6);
      const { events } = await handle.fetchHistory();
      const count = (kind: string) =>
        events.filter(({ attributes }) => attributes.case === `${kind}EventAttributes`).length;
      assert.deepEqual(
        [
          "activityTaskScheduled",
          "activityTaskCompleted",
          "timerStarted",
          "timerFired",
          "markerRecorded",
        ].map(count),
        [3 * STEPS, 3 * STEPS, STEPS, STEPS, 1],
      );
      assert.deepEqual(
        ["workflowExecutionUpdateAccepted", "workflowExecutionUpdateCompleted"].map(count),
        [3, 3],
      );
      const { verdict, error } = await realm.replay(handle.workflowId, await handle.historyBytes());
      assert.equal(verdict, "ok", error?.message);
    }
  } finally {
    await realm.dispose();
  }
}

class WorkerProcess {
  readonly child: ChildProcess;
  readonly gone: Promise<string>;
  said = "";

  constructor(address: string, taskQueue: string, ...killAt: string[]) {
    const file = fileURLToPath(new URL("./flows/worker_child.ts", import.meta.url));
    const first = "Deno" in globalThis ? ["run", "-A", "--no-check", "-q"] : [];
    this.child = spawn(process.execPath, [...first, file, address, taskQueue, ...killAt], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.child.stdout!.on("data", (chunk) => this.said += chunk);
    this.gone = new Promise((resolve) =>
      this.child.once("exit", (code, signal) => resolve(String(signal ?? code)))
    );
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.gone;
  }
}

test("killed workers lose no work and repeat no recorded step", { skip: noServer }, async () => {
  const server = await DevServer.start();
  const service = new GrpcService({ address: server.address });
  const client = new Client({ service, taskQueue: "sagas", logger: silentLogger });
  const workers: WorkerProcess[] = [];
  const worker = (...killAt: string[]) =>
    workers[workers.push(new WorkerProcess(server.address, "sagas", ...killAt)) - 1]!;
  try {
    const handles = await start(client);
    // A workflow task and an activity were done, and the service got neither report.
    assert.equal(await worker("respondWorkflowTaskCompleted", "14").gone, "SIGKILL");
    assert.equal(await worker("respondActivityTaskCompleted", "6").gone, "SIGKILL");
    // From outside, at some moment.
    const third = worker();
    await until("it works", () => third.said.split("exec").length > 8);
    await third.kill();
    worker();
    await judge(handles);
    const executions = workers.flatMap(({ said }) =>
      said.split("\n").filter((line) => line.startsWith("exec"))
    );
    assert.ok(
      executions.length > RUNS * STEPS * 3,
      "an activity whose report was lost has run again",
    );
  } finally {
    for (const one of workers) await one.kill();
    service.close();
    await server.stop();
  }
});

test("after a server is killed and restarted, clients and workers continue automatically", {
  skip: noServer,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-server-"));
  const file = join(folder, "server.db");
  let server = await DevServer.start([], { file });
  const { address } = server;
  const service = new GrpcService({ address });
  const client = new Client({ service, taskQueue: "sagas", logger: silentLogger });
  const done: string[] = [];
  const worker = await Worker.create({
    service,
    taskQueue: "sagas",
    workflows,
    activities: {
      async pay(input: string) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        done.push(input);
        return `${input} paid`;
      },
    },
    logger: silentLogger,
  });
  try {
    await worker.runUntil(async () => {
      const handles = await start(client);
      const results = handles.map((handle) => handle.result());
      for (const result of results) result.catch(() => {});
      for (const wanted of [10, 40]) {
        await until("some work is done", () => done.length > wanted);
        await server.kill();
        await new Promise((resolve) => setTimeout(resolve, 300));
        server = await DevServer.start([], { file, address });
      }
      await judge(handles);
      // Callers that had been waiting all the time got their results, too.
      assert.equal((await Promise.all(results)).length, RUNS);
    });
  } finally {
    service.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
