// Activities of `@temporalio/activity` on a worker of `temporalex/compat/worker`: their context,
// how they end, what the log says of them.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as activity from "../../../../ts/compat/activity/mod.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  CompleteAsyncError,
  Context,
} from "../../../../ts/compat/activity/mod.ts";
import { AsyncCompletionClient } from "../../../../ts/compat/client/mod.ts";
import { type RawValue, rawValueTypeInfo, ValueError } from "../../../../ts/compat/common/mod.ts";
import {
  ActivityInboundLogInterceptor,
  type ActivityInterceptorsFactory,
  DefaultLogger,
} from "../../../../ts/compat/worker/mod.ts";
import { until } from "../../../support/until.ts";
import { lines, modulePath, setting } from "./support.ts";

const { client, worker, close, connection } = await setting();
after(close);
let count = 0;

const workflowsPath = modulePath("calls");

/** Has a workflow call activities; the workflow's result. */
async function run(
  workflow: string,
  args: unknown[],
  activities: object,
  interceptors: ActivityInterceptorsFactory[] = [],
): Promise<unknown> {
  const taskQueue = `activities-${++count}`;
  const made = await worker(taskQueue, {
    workflowsPath,
    activities,
    interceptors: { activity: interceptors },
  });
  return await made.runUntil(() => client.execute(workflow, { id: taskQueue, taskQueue, args }));
}

test("an activity's info has the fields of the official SDK", async () => {
  const info = await run("call", ["look"], {
    look() {
      const { taskToken, base64TaskToken, ...rest } = activity.activityInfo();
      assert.equal(Context.current().info.activityId, rest.activityId);
      return { ...rest, token: base64TaskToken === btoa(String.fromCharCode(...taskToken)) };
    },
  }) as { [field: string]: unknown };
  assert.deepEqual(Object.keys(info).sort(), [
    ...[
      "activityId",
      "activityNamespace",
      "activityType",
      "attempt",
      "currentAttemptScheduledTimestampMs",
      "heartbeatTimeoutMs",
    ],
    ...[
      "inWorkflow",
      "isLocal",
      "namespace",
      "priority",
      "retryPolicy",
      "scheduleToCloseTimeoutMs",
      "scheduledTimestampMs",
    ],
    ...[
      "startToCloseTimeoutMs",
      "taskQueue",
      "token",
      "workflowExecution",
      "workflowNamespace",
      "workflowType",
    ],
  ]);
  const {
    activityType,
    attempt,
    heartbeatTimeoutMs,
    inWorkflow,
    startToCloseTimeoutMs,
    token,
    workflowType,
    isLocal,
  } = info;
  assert.deepEqual(
    {
      activityType,
      attempt,
      heartbeatTimeoutMs,
      inWorkflow,
      startToCloseTimeoutMs,
      token,
      workflowType,
      isLocal,
    },
    {
      ...{
        activityType: "look",
        attempt: 1,
        heartbeatTimeoutMs: 2000,
        inWorkflow: true,
        startToCloseTimeoutMs: 60_000,
      },
      ...{ token: true, workflowType: "call", isLocal: false },
    },
  );
  assert.deepEqual((info["retryPolicy"] as { maximumAttempts: number }).maximumAttempts, 1);
});

test("the context of a local activity contains its timeouts", async () => {
  const limits = (options: object) =>
    run("limited", ["look", options], {
      look() {
        const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs, isLocal } = activity
          .activityInfo();
        return [startToCloseTimeoutMs, scheduleToCloseTimeoutMs, isLocal];
      },
    });
  assert.deepEqual(await limits({ startToCloseTimeout: "5s" }), [5000, 0, true]);
  assert.deepEqual(await limits({ scheduleToCloseTimeout: "5s" }), [5000, 5000, true]);
  assert.deepEqual(await limits({ scheduleToCloseTimeout: "5s", startToCloseTimeout: "2s" }), [
    2000,
    5000,
    true,
  ]);
  assert.deepEqual(await limits({ scheduleToCloseTimeout: "2s", startToCloseTimeout: "5s" }), [
    2000,
    2000,
    true,
  ]);
});

test("heartbeats, sleep and cancellation use the official classes and messages", async () => {
  const seen: unknown[] = [];
  const result = await run("cancelled", ["wait"], {
    async wait() {
      const { cancelled, cancellationSignal, cancellationDetails } = Context.current();
      assert.equal(cancellationDetails, undefined);
      seen.push(
        activity.cancellationSignal() === cancellationSignal,
        activity.cancelled() === cancelled,
      );
      const beat = setInterval(() => activity.heartbeat({ at: 1 }), 50);
      try {
        await activity.sleep("1 minute");
      } catch (error) {
        const { cancelRequested, paused, workerShutdown } = activity.cancellationDetails()!;
        seen.push(
          { cancelRequested, paused, workerShutdown },
          (error as Error).message,
          error instanceof CancelledFailure,
        );
        seen.push(cancellationSignal.aborted, cancellationSignal.reason === error);
        throw error;
      } finally {
        clearInterval(beat);
      }
    },
  });
  assert.equal(result, "cancelled");
  assert.deepEqual(seen, [
    ...[
      true,
      true,
      { cancelRequested: true, paused: false, workerShutdown: false },
      "CANCELLED",
      true,
      true,
      true,
    ],
  ]);
});

test("an attempt reads the heartbeat details of the previous attempt", async () => {
  const result = await run("retried", ["count"], {
    count() {
      const { heartbeatDetails, attempt } = activity.activityInfo();
      activity.heartbeat({ attempt });
      if (attempt < 3) throw new Error("again");
      return heartbeatDetails;
    },
  });
  assert.deepEqual(result, { attempt: 2 });
});

test("heartbeat details that cannot be converted cancel the activity, and the attempt fails with that error", async () => {
  const result = await run("failure", ["beat"], {
    async beat() {
      activity.heartbeat(1n);
      await activity.cancelled();
    },
  }) as { type: string; message: string };
  assert.equal(result.message, "HEARTBEAT_DETAILS_CONVERSION_FAILED");
  assert.equal(result.type, "CancelledFailure");
});

class NotEnough extends Error {}

test("errors of activities are reported like by the official worker", async () => {
  const plain = await run("failure", ["pay"], {
    pay: () => {
      throw new NotEnough("not enough money");
    },
  }) as { [field: string]: string };
  const { stack, ...rest } = plain;
  assert.deepEqual(rest, {
    ...{
      name: "ApplicationFailure",
      type: "NotEnough",
      message: "not enough money",
      nonRetryable: false,
      details: [],
    },
  });
  // Of this package, no frame: the activity's own is the last one.
  assert.match(
    stack!,
    /^Error: not enough money\n {4}at \S*pay .*activities\.test\.[jt]s:\d+:\d+\)$/,
  );
  const made = await run("failure", ["pay"], {
    pay: () => {
      throw ApplicationFailure.nonRetryable("no", "Declined", { why: "limit" });
    },
  }) as { [field: string]: unknown };
  assert.deepEqual([made["type"], made["nonRetryable"], made["details"]], ["Declined", true, [{
    why: "limit",
  }]]);
});

test("values are converted like in the official SDK: values without a JSON form are lost", async () => {
  const result = await run("call", ["values"], {
    values: () => ({ map: new Map([[1, 2]]), nan: NaN, date: new Date(0) }),
  });
  assert.deepEqual(result, { map: {}, nan: null, date: "1970-01-01T00:00:00.000Z" });
});

test("a result that cannot be converted fails the attempt retryably", async () => {
  let attempts = 0;
  const result = await run("retried", ["big"], { big: () => ++attempts < 2 ? 1n : "small" });
  assert.deepEqual([result, attempts], ["small", 2]);
});

class Greeter {
  readonly #greeting: string;
  hello = (name: string) => `${this.#greeting}, ${name}!`;

  constructor(greeting: string) {
    this.#greeting = greeting;
  }

  bye(name: string) {
    return `Not ${this.#greeting}, ${name}!`;
  }
}

test("activities can be an instance of a class, and `default` handles unknown activity types", async () => {
  const greeter = new Greeter("Hello");
  assert.equal(await run("call", ["hello", "Ann"], greeter), "Hello, Ann!");
  assert.equal(await run("call", ["bye", "Ann"], greeter), "Not Hello, Ann!");
  const other = {
    default: (...args: unknown[]) => [activity.activityInfo().activityType, ...args],
    constant: 1,
  };
  assert.deepEqual(await run("call", ["anything", 1, 2], other), ["anything", 1, 2]);
});

test("an activity can be completed from outside", async () => {
  let token!: Uint8Array;
  const done = run("call", ["later"], {
    later() {
      token = activity.activityInfo().taskToken;
      throw new CompleteAsyncError();
    },
  });
  await until(
    "the activity has ended",
    () => lines.some(({ message }) => message === "Activity will complete asynchronously"),
  );
  await client.completeActivity(token, "from outside");
  assert.equal(await done, "from outside");
});

test("interceptors wrap the function with its headers, log attributes and metric tags", async () => {
  const order: string[] = [];
  const named = (name: string): ActivityInterceptorsFactory => (ctx) => ({
    inbound: {
      async execute(input, next) {
        order.push(`${name} ${ctx.info.activityType} ${Object.keys(input.headers).length}`);
        const result = await next({ ...input, args: [`${input.args[0]}${name}`] });
        return `${result}${name}`;
      },
    },
    outbound: {
      getLogAttributes: (input, next) => next({ ...input, [name]: true }),
      getMetricTags: (input, next) => next({ ...input, [name]: true }),
    },
  });
  const result = await run("call", ["echo", "-"], {
    echo: (text: string) => {
      activity.log.info("echoing", { own: 1 });
      activity.metricMeter.createCounter("c").add(1);
      return text;
    },
  }, [named("a"), named("b")]);
  assert.equal(result, "-abba");
  assert.deepEqual(order, ["a echo 0", "b echo 0"]);
  const { meta, level } = lines.find(({ message }) => message === "echoing")!;
  const { a, b, own, sdkComponent, activityType, workflowType, isLocal, attempt } = meta as {
    [name: string]: unknown;
  };
  assert.deepEqual(
    { level, a, b, own, sdkComponent, activityType, workflowType, isLocal, attempt },
    {
      ...{
        level: "INFO",
        a: true,
        b: true,
        own: 1,
        sdkComponent: "activity",
        activityType: "echo",
        workflowType: "call",
      },
      ...{ isLocal: false, attempt: 1 },
    },
  );
});

test("a shutdown without a grace period cancels activities, and their attempts fail with the official message", async () => {
  const taskQueue = `activities-${++count}`;
  const told: unknown[] = [];
  const made = await worker(taskQueue, {
    workflowsPath,
    activities: {
      async wait() {
        await activity.cancelled().catch((error) => {
          told.push((error as Error).message, activity.cancellationDetails()!.workerShutdown);
          throw error;
        });
      },
    },
  });
  const running = made.run();
  const handle = await client.start("failure", { id: taskQueue, taskQueue, args: ["wait"] });
  await until("the activity runs", () => made.getStatus().numInFlightActivities === 1);
  made.shutdown();
  await running;
  assert.deepEqual(told, ["WORKER_SHUTDOWN", true]);
  const next = await worker(taskQueue, { workflowsPath, activities: {} });
  const { type, message } = await next.runUntil(handle.result()) as {
    type: string;
    message: string;
  };
  assert.deepEqual([type, message], [
    ...["WorkerShutdown", "Worker is shutting down and this activity did not complete in time"],
  ]);
});

test("activities have a client on the worker's connection, with the worker's interceptors", async () => {
  const taskQueue = `activities-${++count}`;
  const started: string[] = [];
  const made = await worker(taskQueue, {
    workflowsPath,
    interceptors: {
      client: {
        workflow: [{
          start(input, next) {
            started.push(input.workflowType);
            return next(input);
          },
        }],
      },
    },
    activities: {
      hello: (name: string) => `Hello, ${name}!`,
      async asks(name: string) {
        const own = activity.getClient();
        assert.equal(own, Context.current().client);
        return await own.workflow.execute("call", {
          taskQueue,
          workflowId: `${taskQueue}-inner`,
          args: ["hello", name],
        });
      },
    },
  });
  const result = made.runUntil(() =>
    client.execute("call", { id: taskQueue, taskQueue, args: ["asks", "Ann"] })
  );
  assert.equal(await result, "Hello, Ann!");
  assert.deepEqual(started, ["call"]);
  // A client of the program's own takes the workers' connection, too.
  const { Client } = await import("../../../../ts/compat/client/mod.ts");
  assert.equal(
    await new Client({ connection }).workflow.getHandle(taskQueue).result(),
    "Hello, Ann!",
  );
  await connection.withDeadline(
    Date.now() + 60_000,
    () => connection.workflowService.getSystemInfo({}),
  );
  const late = connection.withDeadline(
    Date.now() - 1,
    () => connection.workflowService.getSystemInfo({}),
  );
  await assert.rejects(late, /DEADLINE_EXCEEDED|Deadline|deadline/);
});

test("a canceled activity can still use its client, and any other client", async () => {
  const taskQueue = `activities-${++count}`;
  const { Client } = await import("../../../../ts/compat/client/mod.ts");
  const found: unknown[] = [];
  const made = await worker(taskQueue, {
    workflowsPath,
    activities: {
      async wait() {
        const { workflowId } = Context.current().info.workflowExecution!;
        try {
          await activity.sleep("1 minute");
        } catch (error) {
          for (const each of [activity.getClient(), new Client({ connection })]) {
            found.push((await each.workflow.getHandle(workflowId).describe()).workflowId);
          }
          throw error;
        }
      },
    },
  });
  const running = made.run();
  await client.start("failure", { id: taskQueue, taskQueue, args: ["wait"] });
  await until("the activity runs", () => made.getStatus().numInFlightActivities === 1);
  made.shutdown();
  await running;
  assert.deepEqual(found, [taskQueue, taskQueue]);
});

test("the deprecated logging interceptor works with its logger and with attributes of a subclass", async () => {
  const entries: { message: string; meta: Record<string, unknown> | undefined }[] = [];
  const logger = new DefaultLogger("DEBUG", ({ message, meta }) => entries.push({ message, meta }));
  class Marked extends ActivityInboundLogInterceptor {
    protected override logAttributes() {
      return { marked: this.ctx.info.activityType };
    }
  }
  const says = {
    says() {
      activity.log.info("said", { more: 1 });
      return "done";
    },
  };
  const one = (make: (ctx: Context) => ActivityInboundLogInterceptor) =>
    run("call", ["says"], says, [(ctx) => ({ inbound: make(ctx) })]);
  assert.equal(await one((ctx) => new Marked(ctx, logger)), "done");
  assert.deepEqual(entries, [{
    message: "said",
    meta: { sdkComponent: "activity", marked: "says", more: 1 },
  }]);
  await one((ctx) => new ActivityInboundLogInterceptor(ctx));
  assert.equal(entries.length, 1);
  const shared = lines.filter(({ message }) => message === "said");
  assert.equal(shared.length, 1, "without its own logger and class, nothing changes");
  assert.equal(shared[0]!.meta?.["activityType"], "says");
});

test("the context throws outside an activity", () => {
  assert.throws(() => activity.activityInfo(), /Activity context not initialized/);
  assert.throws(() => activity.log.info("x"), /Activity context not initialized/);
  assert.ok(connection.plugins.length === 0);
});

test("an activity's values are converted with the types of its definition", async () => {
  const upper = {
    fromTransferType: (sent: string) => ({ is: sent.toUpperCase() }),
    toTransferType: ({ is }: { is: string }) => is.toLowerCase(),
  };
  const type = { transferTypeConverter: upper };
  const seen: unknown[] = [];
  const typed = (...args: unknown[]) => (seen.push(args), Promise.resolve({ is: "BACK" }));
  activity.setActivityOptions({ typeInfo: { inputTypes: [type], outputType: type } }, typed);
  assert.equal(await run("call", ["typed", "one", "two"], { typed }), "back");
  assert.equal(await run("retried", ["typed", "local"], { typed }), "back");
  assert.equal(await run("call", ["other", "any"], { default: typed }), "back");
  assert.deepEqual(seen, [[{ is: "ONE" }, "two"], [{ is: "LOCAL" }], [{ is: "ANY" }]]);

  const raw = (value: RawValue) => Promise.resolve(value);
  activity.setActivityOptions({
    typeInfo: { inputTypes: [rawValueTypeInfo], outputType: rawValueTypeInfo },
  }, raw);
  assert.deepEqual(await run("call", ["raw", { a: 1 }], { raw }), { a: 1 });
});

test("an argument that cannot be decoded and a result that cannot be encoded fail the attempt", async () => {
  const refusing = {
    fromTransferType: (): never => {
      throw new TypeError("not for us");
    },
    toTransferType: (): never => {
      throw new RangeError("not for them");
    },
  };
  const type = { transferTypeConverter: refusing };
  const reads = () => Promise.resolve("not called");
  activity.setActivityOptions({ typeInfo: { inputTypes: [type] } }, reads);
  const failed = await run("failure", ["reads", 1], { reads }) as {
    message: string;
    type: string;
    nonRetryable: boolean;
  };
  assert.deepEqual(
    [failed.message, failed.type, failed.nonRetryable],
    ["Failed to parse activity args for activity reads: not for us", "TypeError", false],
  );
  const sends = () => Promise.resolve(1);
  activity.setActivityOptions({ typeInfo: { outputType: type } }, sends);
  const unsent = await run("failure", ["sends"], { sends }) as {
    message: string;
    type: string;
    nonRetryable: boolean;
  };
  assert.deepEqual([unsent.message, unsent.type, unsent.nonRetryable], [
    "not for them",
    "RangeError",
    false,
  ]);
});

test("a value that no converter accepts throws the converter's error, also when an activity is completed from outside", async () => {
  const outside = new AsyncCompletionClient({ connection });
  const token = new Uint8Array([1]);
  await assert.rejects(outside.complete(token, () => {}), ValueError);
  await assert.rejects(outside.heartbeat(token, () => {}), ValueError);
  await assert.rejects(outside.reportCancellation(token, () => {}), ValueError);
  await assert.rejects(
    outside.fail(token, ApplicationFailure.create({ details: [() => {}] })),
    ValueError,
  );
});
