// `requestEagerStart` on a Temporal server and on `temporalex dev`: the worker that shares the
// client's connection takes the first task with the start.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, Connection, WorkflowNotFoundError } from "../../../ts/compat/client/mod.ts";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "../../../ts/compat/worker/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { root } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";

const skip = noServer;
const workflowsPath = join(root, "tests/unit/compat/worker/modules/calls.ts");
const activities = { greet: (name: string) => Promise.resolve(`Hello, ${name}!`) };

const options = (taskQueue: string, workflowId = taskQueue) => ({
  ...{ taskQueue, workflowId, args: ["greet", "Ann"], requestEagerStart: true },
  // Another attempt would come too late.
  workflowTaskTimeout: "60s",
});

function eagerStarts(name: string, startServer: () => Promise<DevServer | OurServer>) {
  describe(name, { skip }, () => {
    let server: DevServer | OurServer;
    let connection: NativeConnection;

    before(async () => {
      if (skip !== false) return;
      server = await startServer();
      Runtime.install({ logger: new DefaultLogger("ERROR") });
      connection = await NativeConnection.connect({ address: server.address });
    });

    after(async () => {
      await connection?.close();
      await server?.stop();
      await Runtime._instance?.shutdown();
    });

    test("the response to the start contains the first task, and its worker continues the run", {
      skip,
    }, async () => {
      const taskQueue = "eager";
      const client = new Client({ connection });
      const worker = await Worker.create({ connection, taskQueue, workflowsPath, activities });
      await worker.runUntil(async () => {
        const handle = await client.workflow.start("call", options(taskQueue));
        assert.equal(handle.eagerlyStarted, true);
        assert.equal(await handle.result(), "Hello, Ann!");
        const again = client.workflow.start("call", options(taskQueue));
        assert.equal((await again).eagerlyStarted, true);
        assert.equal(
          (await client.workflow.start("call", {
            ...options(taskQueue, "plain"),
            requestEagerStart: false,
          })).eagerlyStarted,
          false,
        );
      });
    });

    test(
      "many eager starts at once: one per free slot, and no task is lost",
      { skip },
      async () => {
        const taskQueue = "crowd";
        const client = new Client({ connection });
        const worker = await Worker.create({
          connection,
          taskQueue,
          workflowsPath,
          activities,
          maxConcurrentWorkflowTaskExecutions: 4,
        });
        await worker.runUntil(async () => {
          const ids = Array.from({ length: 40 }, (_, i) => `crowd-${i}`);
          const results = await Promise.all(
            ids.map((id) => client.workflow.execute("call", options(taskQueue, id))),
          );
          assert.deepEqual(new Set(results), new Set(["Hello, Ann!"]));
        });
        const none = client.workflow.getHandle("crowd-40").describe();
        await assert.rejects(none, WorkflowNotFoundError);
      },
    );

    test(
      "without a running worker it is an ordinary start; a worker of another queue is not used",
      {
        skip,
      },
      async () => {
        const client = new Client({ connection });
        const other = await Worker.create({
          connection,
          taskQueue: "other",
          workflowsPath,
          activities,
        });
        await other.runUntil(async () => {
          const handle = await client.workflow.start("call", options("absent"));
          assert.equal(handle.eagerlyStarted, false);
          await handle.terminate();
        });
        const handle = await client.workflow.start("call", options("other", "after"));
        assert.equal(handle.eagerlyStarted, false, "its worker has ended");
        await handle.terminate();
      },
    );

    test("a connection that workers cannot share is rejected", { skip }, async () => {
      const plain = await Connection.connect({ address: server.address });
      try {
        const start = new Client({ connection: plain }).workflow.start(
          "call",
          options("eager", "refused"),
        );
        await assert.rejects(start, /^Error: Eager workflow start requires a NativeConnection/);
      } finally {
        await plain.close();
      }
    });
  });
}

eagerStarts("a Temporal server", () => DevServer.start());
eagerStarts("temporalex dev", () => OurServer.start());
