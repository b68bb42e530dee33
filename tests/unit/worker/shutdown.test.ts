// The end of a worker: what it finishes, what it cancels, and what it does not wait for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { withContext } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import {
  TaskQueueKind,
  TaskQueueType,
} from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  RespondWorkflowTaskCompletedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Realm, RealmOutcome } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { waits } from "../../support/scripted_service.ts";
import { idleRealm, oneActivity, quietService, worker } from "./support/scripted_worker.ts";

test("a shutdown lets activities finish within the grace period", async () => {
  const service = oneActivity(quietService());
  const timers = new ManualTimers();
  let told = false;
  const activities = {
    work: withContext(async (context) => {
      context.cancelled.addEventListener("abort", () => (told = true));
      await context.sleep(900);
      return "done";
    }),
  };
  const w = await worker({ service, activities, timers, shutdownGraceMs: 1000 });
  const running = w.run();
  await settle();
  assert.equal(w.runningActivities, 1);
  const stopped = w.shutdown();
  await timers.advance(899);
  assert.equal(w.state, "stopping");
  await timers.advance(1);
  await stopped;
  await running;
  assert.equal(told, false);
  assert.equal(service.requests("respondActivityTaskCompleted").length, 1);
});

test("after the grace period activities are canceled, and shutdown waits for them", async () => {
  const service = oneActivity(quietService());
  const timers = new ManualTimers();
  const reasons: unknown[] = [];
  const activities = {
    work: withContext(async (context) => {
      try {
        await context.sleep("1h");
      } finally {
        reasons.push(context.cancelReason);
        await new Promise<void>((resolve) => void timers.after(300, resolve));
      }
    }),
  };
  const w = await worker({ service, activities, timers, shutdownGraceMs: 1000 });
  const running = w.run();
  await settle();
  const stopped = w.shutdown();
  await timers.advance(999);
  assert.deepEqual(reasons, []);
  await timers.advance(1);
  assert.deepEqual(reasons, ["WORKER_SHUTDOWN"]);
  assert.equal(w.state, "stopping");
  await timers.advance(300);
  await stopped;
  await running;
  assert.equal(service.requests("respondActivityTaskFailed").length, 1);
});

test("an activity that ignores the shutdown is abandoned after shutdownForceMs with a warning", async () => {
  const service = oneActivity(quietService());
  const timers = new ManualTimers();
  const warnings: string[] = [];
  let end = () => {};
  const activities = { work: () => new Promise<void>((resolve) => (end = resolve)) };
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const w = await worker({ service, activities, timers, logger, shutdownForceMs: 5000 });
  const running = w.run();
  await settle();
  const stopped = w.shutdown();
  await timers.advance(5000);
  await stopped;
  await running;
  assert.match(warnings[0]!, /still running/);
  end();
});

test("an idle worker stops without logging activities, also if a poll gets no response", async () => {
  const service = Object.assign(quietService(), { losesCancelledPolls: true });
  const timers = new ManualTimers();
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const activities = { work: () => Promise.resolve() };
  const w = await worker({ service, activities, timers, logger, shutdownForceMs: 5000 });
  const running = w.run();
  await settle();
  const stopped = w.shutdown();
  for (let i = 0; i < 20; i++) await timers.advance(5000);
  await stopped;
  await running;
  assert.deepEqual(warnings, []);
  const polls = service.calls.filter(({ method }) => method === "pollActivityTaskQueue");
  assert.ok(
    polls.length > 0 && polls.every(({ options }) => options.signal!.aborted),
    "no poll outlives the worker",
  );
});

test("a started workflow task is completed before the worker stops", async () => {
  const service = quietService();
  let finish: (outcome: RealmOutcome) => void = () => {};
  const realm: Realm = {
    ...idleRealm(),
    runTask: () => new Promise((resolve) => (finish = resolve)),
  };
  let given = false;
  service
    .on("pollWorkflowTaskQueue", (request, options) => {
      if (given || request.taskQueue!.kind === TaskQueueKind.STICKY) {
        return waits({ signal: options.signal! });
      }
      given = true;
      return { taskToken: new Uint8Array([1]), workflowExecution: { workflowId: "w", runId: "r" } };
    })
    .on("respondWorkflowTaskCompleted", () => ({}));
  const w = await worker({ service, realm });
  const running = w.run();
  await settle();
  let stopped = false;
  const stopping = w.shutdown().then(() => (stopped = true));
  await settle();
  assert.equal(stopped, false);
  const value = toBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    create(RespondWorkflowTaskCompletedRequestSchema, {}),
  );
  finish(
    {
      response: { $case: "completed", value },
      evict: false,
      evictionReason: 0,
      warnings: [],
    } as unknown as RealmOutcome,
  );
  await stopping;
  await running;
  assert.equal(service.requests("respondWorkflowTaskCompleted").length, 1);
});

test("runUntil returns the value, stops the worker, and rejects with failures of both", async () => {
  const service = quietService();
  const first = await worker({ service, activities: { a: () => 1 } });
  assert.equal(await first.runUntil(async () => 42), 42);
  assert.equal(first.state, "stopped");
  const second = await worker({ service, activities: { a: () => 1 } });
  await assert.rejects(
    second.runUntil(Promise.reject(new Error("the test failed"))),
    /the test failed/,
  );
  assert.equal(second.state, "stopped");
  const thrower = await worker({ service, activities: { a: () => 1 } });
  const throws = () => {
    throw new Error("before the first await");
  };
  await assert.rejects(thrower.runUntil(throws), /before the first await/);
  assert.equal(thrower.state, "stopped");
  const third = await worker({ service, activities: { a: () => 1 } });
  const waiting = third.runUntil(new Promise(() => {}));
  await settle();
  await third.shutdown();
  await assert.rejects(waiting, /was shut down before/);
});

test("if the service ends the polls of a stopping worker, the worker cancels no poll", async () => {
  const inner = quietService();
  const ends: (() => void)[] = [];
  const poll = () => new Promise<object>((resolve) => ends.push(() => resolve({})));
  inner.on("pollWorkflowTaskQueue", poll).on("pollActivityTaskQueue", poll)
    .on(
      "describeNamespace",
      () => ({ namespaceInfo: { capabilities: { workerPollCompleteOnShutdown: true } } }),
    )
    .on("shutdownWorker", () => {
      for (const end of ends.splice(0)) end();
      return {};
    });
  const service: RawService = { losesCancelledPolls: true, call: (...args) => inner.call(...args) };
  const timers = new ManualTimers();
  const w = await Worker.create({
    service,
    taskQueue: "q",
    logger: silentLogger,
    realm: idleRealm(),
    activities: { a: () => 1 },
    timers,
  });
  const running = w.run();
  await settle();
  assert.equal(ends.length, 6);
  // No time passes: nothing waits for a deadline.
  await w.shutdown();
  await running;
  const polls = inner.calls.filter(({ method }) => method.startsWith("poll"));
  assert.equal(polls.length, 6, "no poll is sent after the farewell");
  assert.ok(polls.every(({ options }) => !options.signal!.aborted));
  const key = inner.requests("pollActivityTaskQueue")[0]!.workerInstanceKey;
  assert.notEqual(key, "");
  const [farewell] = inner.requests("shutdownWorker");
  assert.equal(farewell!.workerInstanceKey, key);
  assert.equal(farewell!.taskQueue, "q");
  assert.deepEqual(farewell!.taskQueueTypes, [TaskQueueType.WORKFLOW, TaskQueueType.ACTIVITY]);
});

test("a stopping worker does not wait forever for a service to end its polls", async () => {
  const inner = quietService()
    .on(
      "describeNamespace",
      () => ({ namespaceInfo: { capabilities: { workerPollCompleteOnShutdown: true } } }),
    );
  const service: RawService = { losesCancelledPolls: true, call: (...args) => inner.call(...args) };
  const timers = new ManualTimers();
  const w = await Worker.create({
    service,
    taskQueue: "q",
    logger: silentLogger,
    activities: { a: () => 1 },
    timers,
  });
  const running = w.run();
  await settle();
  let stopped = false;
  const stopping = w.shutdown().then(() => stopped = true);
  await timers.advance(4000);
  assert.equal(stopped, false);
  await timers.advance(2000);
  await stopping;
  await running;
});
