// A workflow on a task queue without a worker (a misspelled name): the client that waits for its
// result warns once, and keeps waiting.
// takes: 9 s
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  type LogFields,
  type Logger,
  ServiceError,
  silentLogger,
} from "../../../ts/client/mod.ts";
import { PendingWorkflowTaskState } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { POLLED_QUEUES } from "../../../ts/service/raw.ts";
import { type Activities, EmbeddedEngine, Worker } from "../../../ts/mod.ts";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { activities, executeChild, sleep, workflow } from "../../../ts/workflow/mod.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { together } from "../../support/together.ts";

const echo = workflow("echo", async (text: string, ms: number) => {
  if (ms > 0) await sleep(ms);
  return text;
});

const pays = workflow("pays", async (taskQueue: string) => {
  const { charge } = activities<{ charge(): Promise<string> }>({ taskQueue, startToClose: "10s" });
  return await charge();
});
const parent = workflow(
  "parent",
  async (taskQueue: string) =>
    await executeChild(echo, { id: "order-1-echo", taskQueue, args: ["sent", 0] }),
);

class Warnings implements Logger {
  readonly all: string[] = [];
  readonly fields: (LogFields | undefined)[] = [];
  debug() {}
  info() {}
  error() {}
  warn(message: string, fields?: LogFields) {
    this.all.push(message);
    this.fields.push(fields);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** The hint comes six seconds after a wait began; much later none comes any more. */
const HINTED_MS = 7_500;

async function within(
  queues: readonly string[],
  body: (
    client: Client,
    warnings: Warnings,
    work: (queue: string, activities?: Activities) => Promise<Worker>,
  ) => Promise<void>,
): Promise<void> {
  const service = await EmbeddedEngine.open({ store: new MemoryStore() });
  const workers: Worker[] = [];
  const work = async (taskQueue: string, functions?: Activities) => {
    const given = { service, taskQueue, workflows: { echo, pays, parent }, logger: silentLogger };
    const worker = await Worker.create({ ...given, ...(functions && { activities: functions }) });
    workers.push(worker);
    void worker.run();
    return worker;
  };
  try {
    for (const queue of queues) await work(queue);
    const logger = new Warnings();
    await body(new Client({ service, taskQueue: "default", logger }), logger, work);
  } finally {
    for (const worker of workers) await worker.shutdown();
    await service.close();
  }
}

together({
  "the warning names the workflow, the queue and the queues that have workers; the result comes when a worker does":
    () =>
      within(["default", "mail"], async (client, { all, fields }, work) => {
        const handle = await client.start(echo, {
          id: "order-1",
          taskQueue: "defualt",
          args: ["done", 0],
        });
        const result = handle.result();
        await pause(HINTED_MS);
        assert.deepEqual(all, [
          'workflow "order-1" waits for a worker: no worker polls its task queue "defualt"; workers poll "default", "mail"',
        ]);
        assert.deepEqual(fields, [{ workflowId: "order-1", taskQueue: "defualt" }]);
        await work("defualt");
        assert.equal(await result, "done");
        assert.equal(all.length, 1);
      }),

  "without a worker a warning is logged, once for many workflows on one queue": () =>
    within([], async (client, { all }) => {
      const handles = await Promise.all(
        [1, 2, 3].map((n) => client.start(echo, { id: `order-${n}`, args: ["done", 0] })),
      );
      const results = handles.map((handle) => handle.result().catch(() => "closed"));
      await pause(HINTED_MS);
      assert.equal(all.length, 1, all.join("\n"));
      assert.match(
        all[0]!,
        /^workflow "order-\d" waits for a worker: no worker polls its task queue "default"; no task queue has a worker$/,
      );
      for (const handle of handles) await handle.terminate();
      assert.deepEqual(await Promise.all(results), ["closed", "closed", "closed"]);
    }),

  "an activity that no worker takes is named with its task queue, on another queue and where the worker has no activities":
    () =>
      within(["default"], async (client, { all, fields }, work) => {
        await work("charging", { charge: () => "charged" });
        const misspelt = client.start(pays, { id: "order-1", args: ["chargin"] });
        const own = client.start(pays, { id: "order-2", args: ["default"] });
        const results = [await misspelt, await own].map((handle) => handle.result());
        await pause(HINTED_MS);
        assert.deepEqual([...all].sort(), [
          'workflow "order-1" waits for its activity "charge": no worker polls activities of task queue "chargin"; workers poll "charging"',
          'workflow "order-2" waits for its activity "charge": no worker polls activities of task queue "default"; workers poll "charging"',
        ]);
        assert.deepEqual(fields.map((each) => each?.["taskQueue"]).sort(), ["chargin", "default"]);
        for (const queue of ["chargin", "default"]) await work(queue, { charge: () => "charged" });
        assert.deepEqual(await Promise.all(results), ["charged", "charged"]);
        assert.equal(all.length, 2);
      }),

  "a child that no worker takes is named with its task queue": () =>
    within(["default"], async (client, { all }, work) => {
      const result = client.execute(parent, { id: "order-1", args: ["mial"] });
      await pause(HINTED_MS);
      assert.deepEqual(all, [
        'workflow "order-1" waits for its child "order-1-echo": no worker polls task queue "mial"; workers poll "default"',
      ]);
      await work("mial");
      assert.equal(await result, "sent");
    }),

  "no warning if a worker polls, has polled lately, or is not needed yet": () =>
    within(["default"], async (client, { all }, work) => {
      const gone = await work("gone");
      // A worker that is shut down at once sends no poll.
      await client.execute(echo, { id: "served", taskQueue: "gone", args: ["", 0] });
      await gone.shutdown();
      const waiting = [
        client.execute(echo, { id: "sleeps", args: ["slept", HINTED_MS - 500] }),
        client.start(echo, {
          id: "delayed",
          taskQueue: "unpolled",
          startDelay: "1h",
          args: ["", 0],
        }).then((handle) => handle.result()),
        client.execute(echo, { id: "gone", taskQueue: "gone", args: ["", 0] }),
      ];
      for (const each of waiting) each.catch(() => {});
      await pause(HINTED_MS);
      assert.deepEqual(all, []);
      assert.equal(await waiting[0], "slept");
      for (const id of ["delayed", "gone"]) await client.getHandle(echo, id).terminate();
    }),

  "a service that does not tell, or refuses, costs one call and no word": async () => {
    const scripted = (describeTaskQueue: () => object) =>
      new ScriptedService()
        .on("getWorkflowExecutionHistory", (_, options) => waits(options))
        .on("describeWorkflowExecution", () => ({
          workflowExecutionInfo: { status: 1 },
          executionConfig: { taskQueue: { name: "q" } },
          pendingWorkflowTask: { state: PendingWorkflowTaskState.SCHEDULED },
        }))
        .on("describeTaskQueue", describeTaskQueue as never);
    const wait = async (service: ScriptedService) => {
      const logger = new Warnings();
      const client = new Client({ service, taskQueue: "q", logger });
      const given = new AbortController();
      const result = client.getHandle(undefined, "w", "r").with({ signal: given.signal }).result();
      result.catch(() => {});
      await pause(HINTED_MS);
      given.abort(new Error("enough"));
      await assert.rejects(result, /enough/);
      return { warnings: logger.all, calls: service.requests("describeTaskQueue").length };
    };
    const [refuses, away, polled, silent] = await Promise.all([
      wait(scripted(() => {
        throw new ServiceError(Code.UNIMPLEMENTED, "no such method");
      })),
      wait(scripted(() => {
        throw new ServiceError(Code.PERMISSION_DENIED, "not yours");
      })),
      wait(scripted(() => ({ pollers: [{ identity: "worker-1" }] }))),
      wait(scripted(() => ({ pollers: [] }))),
    ]);
    assert.deepEqual([refuses, away, polled], Array(3).fill({ warnings: [], calls: 1 }));
    // A cluster does not say which other queues there are.
    assert.deepEqual(silent, {
      warnings: ['workflow "w" waits for a worker: no worker polls its task queue "q"'],
      calls: 1,
    });
  },
});

test("an embedded engine lists the pollers of a queue, and other polled queues except those of single workers", async () => {
  await within(["default"], async (client) => {
    assert.equal(await client.execute(echo, { id: "e", args: ["done", 0] }), "done");
  });
  const service = await EmbeddedEngine.open({ store: new MemoryStore() });
  const worker = await Worker.create({
    service,
    taskQueue: "mail",
    workflows: { echo },
    identity: "me",
    logger: silentLogger,
  });
  void worker.run();
  try {
    await new Client({ service, taskQueue: "mail", logger: silentLogger }).execute(echo, {
      id: "e",
      args: ["done", 0],
    });
    const asked = { namespace: "default", taskQueue: { name: "mail" } };
    const { pollers, $unknown } = await typedService(service).describeTaskQueue(asked);
    assert.deepEqual(pollers.map(({ identity }) => identity), ["me"]);
    assert.deepEqual(
      $unknown?.map(({ no, data }) => [no, new TextDecoder().decode(data.subarray(1))]),
      [[
        POLLED_QUEUES,
        '["mail"]',
      ]],
    );
    await assert.rejects(
      typedService(service).describeTaskQueue({ ...asked, namespace: "other" }),
      /Namespace other is not found/,
    );
    await assert.rejects(
      typedService(service).describeTaskQueue({ namespace: "default" }),
      /TaskQueue is not set/,
    );
  } finally {
    await worker.shutdown();
    await service.close();
  }
});
