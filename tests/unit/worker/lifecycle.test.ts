// The life of a worker against a scripted service: start, graceful shutdown, refusal by the
// service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import {
  TaskQueueKind,
} from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { Worker, type WorkerOptions, WorkerPollError } from "../../../ts/worker/mod.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { type ScriptedService, waits } from "../../support/scripted_service.ts";
import { activityTask, idleRealm, quietService, worker } from "./support/scripted_worker.ts";

test("a worker polls its queue and its sticky queue, and cancels the polls when it stops", async () => {
  const service = quietService();
  const realm = idleRealm();
  const w = await worker({
    service,
    realm,
    activities: { a: () => 1 },
    maxTaskQueueActivitiesPerSecond: 7,
  });
  assert.equal(w.state, "created");
  const running = w.run();
  await settle();
  assert.equal(w.state, "running");
  const queues = service.requests("pollWorkflowTaskQueue").map((request) => request.taskQueue!);
  assert.equal(
    queues.filter((queue) => queue.kind === TaskQueueKind.NORMAL && queue.name === "q").length,
    2,
  );
  const sticky = queues.filter((queue) => queue.kind === TaskQueueKind.STICKY);
  assert.equal(sticky.length, 2);
  assert.equal(new Set(sticky.map((queue) => queue.name)).size, 1);
  assert.equal(sticky[0]!.normalName, "q");
  assert.equal(service.requests("pollActivityTaskQueue").length, 2);
  assert.equal(
    service.requests("pollActivityTaskQueue")[0]!.taskQueueMetadata!.maxTasksPerSecond,
    7,
  );
  await w.shutdown();
  await running;
  assert.equal(w.state, "stopped");
  assert.ok(
    service.calls.filter((call) => call.method.startsWith("poll")).every((call) =>
      call.options.signal!.aborted
    ),
  );
  assert.equal(service.requests("shutdownWorker")[0]!.stickyTaskQueue, sticky[0]!.name);
  assert.equal(realm.disposed, true);
  assert.throws(() => w.run(), /once per worker/);
});

test("a worker waits for a service that is a promise, and rejects with its error", async () => {
  const service = quietService();
  let arrive!: (service: ScriptedService) => void;
  const coming = new Promise<ScriptedService>((resolve) => arrive = resolve);
  const making = Worker.create({
    service: coming,
    taskQueue: "q",
    logger: silentLogger,
    realm: idleRealm(),
  });
  await settle();
  assert.equal(service.calls.length, 0);
  arrive(service);
  const w = await making;
  const running = w.run();
  await settle();
  assert.ok(service.requests("pollWorkflowTaskQueue").length > 0);
  await w.shutdown();
  await running;

  const realm = idleRealm();
  const refused = Promise.reject(new ServiceError(Code.UNAVAILABLE, "not reachable"));
  await assert.rejects(Worker.create({ service: refused, taskQueue: "q", realm }), /not reachable/);
  assert.equal(realm.disposed, true, "the realm that was made meanwhile is not left behind");
  // A value that is not a service would be polled in vain for ever.
  for (const none of [Promise.resolve({}), {}, undefined, { then: () => {} }]) {
    const making = Worker.create({
      service: none as unknown as RawService,
      taskQueue: "q",
      realm: idleRealm(),
    });
    await assert.rejects(making, /service must be an EmbeddedEngine or a connection/);
  }
  // The first failure is reported, and the other one is not an unhandled rejection.
  const both = Promise.reject(new ServiceError(Code.UNAVAILABLE, "not reachable"));
  await assert.rejects(
    Worker.create({
      service: both,
      taskQueue: "q",
      workflows: new URL("file:///no/such/module.ts"),
    }),
    /no such file/,
  );
  for (const wrong of [{ taskQueue: "" }, { taskQueue: "q" }]) {
    const failing = Promise.reject(new ServiceError(Code.UNAVAILABLE, "not reachable"));
    await assert.rejects(Worker.create({ service: failing, ...wrong } as unknown as WorkerOptions));
  }
});

test("the shutdown of a worker that never ran completes when its realm is disposed", async () => {
  const realm = idleRealm();
  let gone!: () => void;
  realm.dispose = () => new Promise<void>((resolve) => gone = resolve);
  const w = await worker({ service: quietService(), realm });
  let stopped = false;
  const shutdown = w.shutdown().then(() => stopped = true);
  await settle();
  assert.equal(stopped, false);
  gone();
  await shutdown;
  assert.equal(w.state, "stopped");
});

test("an idle worker has no running tasks", async () => {
  const w = await worker({
    service: quietService(),
    realm: idleRealm(),
    activities: { a: () => 1 },
  });
  const running = w.run();
  await settle();
  assert.deepEqual([w.busyWorkflowTasks, w.busyTasks, w.runningActivities], [0, 0, 0]);
  assert.deepEqual([w.workflowTypes, w.activityTypes], [[], ["a"]]);
  const without = await worker({ service: quietService(), realm: idleRealm() });
  assert.deepEqual([without.runningActivities, without.busyTasks, without.activityTypes], [
    0,
    0,
    [],
  ]);
  await without.shutdown();
  await w.shutdown();
  await running;
});

test("a permanent rejection stops the worker and is logged once", async () => {
  const refuse = () => {
    throw new ServiceError(Code.NOT_FOUND, "Namespace default is not found.", "NamespaceNotFound");
  };
  const service = quietService().on("pollWorkflowTaskQueue", refuse).on(
    "pollActivityTaskQueue",
    refuse,
  );
  const logged: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void logged.push(message) };
  const w = await worker({ service, realm: idleRealm(), activities: { a: () => 1 }, logger });
  await assert.rejects(w.run(), /Namespace default is not found/);
  assert.deepEqual(logged, ["the worker stops"]);
});

test("a worker without a cache has no sticky queue", async () => {
  const service = quietService();
  const w = await worker({ service, realm: idleRealm(), cachedWorkflows: 0 });
  const running = w.run();
  await settle();
  assert.ok(
    service.requests("pollWorkflowTaskQueue").every((request) =>
      request.taskQueue!.kind === TaskQueueKind.NORMAL
    ),
  );
  assert.equal(
    service.requests("pollActivityTaskQueue").length,
    0,
    "no activities, no polls for them",
  );
  await w.shutdown();
  await running;
  assert.equal(service.requests("shutdownWorker").length, 0);
});

test("invalid options are rejected", async () => {
  const service = quietService();
  await assert.rejects(worker({ service }), /needs workflows or activities/);
  await assert.rejects(worker({ service, realm: idleRealm(), taskQueue: "" }), /taskQueue/);
  await assert.rejects(
    worker({ service, realm: idleRealm(), taskQueue: undefined as never }),
    /needs a taskQueue/,
  );
  await assert.rejects(
    worker({ service, realm: idleRealm(), maxConcurrentWorkflowTasks: 1 }),
    /at least 2/,
  );
  await assert.rejects(
    worker({ service, realm: idleRealm(), maxConcurrentWorkflowTasks: 1, cachedWorkflows: 1 }),
    /at least 2/,
  );
  await assert.rejects(worker({ service, realm: idleRealm(), cachedWorkflows: -1 }), /at least 0/);
  await assert.rejects(
    worker({ service, realm: idleRealm(), shutdownGraceMs: Number.NaN }),
    /milliseconds/,
  );
  await (await worker({
    service,
    realm: idleRealm(),
    maxConcurrentWorkflowTasks: 1,
    cachedWorkflows: 0,
  })).shutdown();
});

test("a service that permanently rejects the worker ends run() with a specific error", async () => {
  const timers = new ManualTimers();
  const service = quietService().on("pollActivityTaskQueue", () => {
    throw new ServiceError(Code.NOT_FOUND, "namespace not found");
  });
  const w = await worker({ service, activities: { a: () => 1 }, timers });
  const running = w.run();
  const refused = assert.rejects(running, WorkerPollError);
  await timers.advance(60_000);
  await refused;
  assert.equal(w.state, "stopped");
  await w.shutdown();
});

test("activity polls of a service that loses canceled polls run to their end, and their tasks are completed", async () => {
  const timers = new ManualTimers();
  const inner = quietService();
  const polls: ((task: typeof activityTask | undefined) => void)[] = [];
  inner.on(
    "pollActivityTaskQueue",
    () => new Promise((resolve) => polls.push((task) => resolve(task ?? {}))),
  );
  const service: RawService = { losesCancelledPolls: true, call: (...args) => inner.call(...args) };
  const ran: string[] = [];
  const w = await Worker.create({
    service,
    taskQueue: "q",
    logger: silentLogger,
    timers,
    activities: { work: () => void ran.push("ran") },
    shutdownGraceMs: 1000,
  });
  const running = w.run();
  await settle();
  assert.ok(
    inner.calls.filter((call) => call.method === "pollActivityTaskQueue").every((call) =>
      call.options.timeoutMs === 5000
    ),
  );
  const stopped = w.shutdown();
  await settle();
  polls[0]!(activityTask);
  await settle();
  assert.deepEqual(ran, ["ran"]);
  assert.equal(w.state, "stopping", "the other poll may bring one too");
  polls[1]!(undefined);
  await stopped;
  await running;
  assert.equal(inner.requests("respondActivityTaskCompleted").length, 1);
});

test("maxActivitiesPerSecond holds in every second, also after a pause", async () => {
  const timers = new ManualTimers();
  const at: number[] = [];
  let paused = false;
  const service = quietService().on("pollActivityTaskQueue", async (_request, options) => {
    if (paused) {
      await Promise.race([
        waits({ signal: options.signal! }),
        new Promise<void>((resolve) => void timers.after(5000, resolve)),
      ]);
    }
    paused = false;
    return activityTask;
  });
  const w = await worker({
    service,
    timers,
    maxActivitiesPerSecond: 10,
    activities: { work: () => void at.push(timers.now()) },
  });
  const running = w.run();
  await timers.advance(1950);
  assert.equal(at.length, 20);
  paused = true;
  await timers.advance(7000);
  for (let from = 0; from < 9000; from += 100) {
    const within = at.filter((time) => time >= from && time < from + 1000).length;
    assert.ok(within <= 11, `${within} in the second from ${from}`);
  }
  assert.ok(at.length > 30);
  await w.shutdown();
  await running;
  await assert.rejects(
    async () =>
      void await (await worker({ service, activities: { a: () => 1 }, maxActivitiesPerSecond: 0 }))
        .run(),
    /above 0/,
  );
});

test("the payload limit of the namespace applies unless the worker has its own", async () => {
  for (
    const [payloadLimits, refused] of [[undefined, true], [{ errorBytes: 5000 }, false]] as const
  ) {
    const tasks = [activityTask];
    const inner = quietService()
      .on("pollActivityTaskQueue", async (_request, options) => {
        // After the response about the namespace.
        await settle();
        const task = tasks.shift();
        return task ?? waits({ signal: options.signal!, timeoutMs: 50 });
      })
      .on(
        "describeNamespace",
        () => ({ namespaceInfo: { limits: { blobSizeLimitError: 1000n } } }),
      );
    const service: RawService = {
      losesCancelledPolls: true,
      call: (...args) => inner.call(...args),
    };
    const w = await Worker.create({
      service,
      taskQueue: "q",
      logger: silentLogger,
      activities: { work: () => "x".repeat(2000) },
      ...(payloadLimits && { payloadLimits }),
    });
    const running = w.run();
    for (
      let i = 0;
      i < 50 && inner.calls.every(({ method }) => !method.startsWith("respond"));
      i++
    ) await settle();
    assert.equal(inner.requests("respondActivityTaskFailed").length, refused ? 1 : 0);
    assert.equal(inner.requests("respondActivityTaskCompleted").length, refused ? 0 : 1);
    await w.shutdown();
    await running;
  }
});
