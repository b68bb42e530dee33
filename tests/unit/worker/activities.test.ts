// Activities against a scripted service: what they can do, and the one report in which each attempt
// ends (docs/dev/semantics/activities.md).
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ActivityContext,
  activityContext,
  activityInfo,
  ApplicationFailure,
  CancelledFailure,
  completeAsync,
  heartbeat,
  sleep,
  withContext,
} from "../../../ts/activity/mod.ts";
import { DEFAULT_PAYLOAD_LIMITS, silentLogger } from "../../../ts/client/mod.ts";
import { defaultPayloadConverter, fromFailure } from "../../../ts/converter/mod.ts";
import { MessageCodec } from "../../../ts/codec/message_codec.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { PollActivityTaskQueueResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { NATIVE_ACTIVITIES } from "../../../ts/worker/activities/activity_dialect.ts";
import { ActivityRegistry, prefixed } from "../../../ts/worker/activities/activity_registry.ts";
import { ActivityTasks } from "../../../ts/worker/activities/activity_tasks.ts";
import { DEFAULT_HEARTBEAT_THROTTLE } from "../../../ts/worker/activities/heartbeats.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

const payloads = (...values: unknown[]) => ({
  payloads: values.map((value) => defaultPayloadConverter.toPayload(value)),
});
const value = (
  set: { payloads: { metadata: { [key: string]: Uint8Array }; data: Uint8Array }[] } | undefined,
) => set?.payloads.map((payload) => defaultPayloadConverter.fromPayload(payload))[0];

function setting(activities: object, codec?: MessageCodec) {
  const timers = new ManualTimers();
  const service = new ScriptedService()
    .on("respondActivityTaskCompleted", () => ({}))
    .on("respondActivityTaskFailed", () => ({}))
    .on("respondActivityTaskCanceled", () => ({}))
    .on("recordActivityTaskHeartbeat", () => ({}));
  const registry = new ActivityRegistry(activities);
  const log: { level: string; message: string; fields: object | undefined }[] = [];
  const logTo = (level: string) => (message: string, fields?: object) =>
    void log.push({ level, message, fields });
  const tasks = new ActivityTasks({
    service,
    typed: typedService(service),
    namespace: "default",
    identity: "me",
    taskQueue: "q",
    converter: defaultPayloadConverter,
    codec,
    limits: DEFAULT_PAYLOAD_LIMITS,
    throttle: DEFAULT_HEARTBEAT_THROTTLE,
    logger: { ...silentLogger, warn: logTo("warn"), error: logTo("error") },
    timers,
    reportTimers: timers,
    events: {},
    dialect: NATIVE_ACTIVITIES,
    find: (type) => NATIVE_ACTIVITIES.call(registry.find(type)),
  });
  const run = (
    type: string,
    args: unknown[] = [],
    fields: MessageInitShape<typeof PollActivityTaskQueueResponseSchema> = {},
  ) =>
    tasks.handle(toBinary(
      PollActivityTaskQueueResponseSchema,
      create(PollActivityTaskQueueResponseSchema, {
        taskToken: new Uint8Array([1, 2]),
        workflowExecution: { workflowId: "w", runId: "r" },
        workflowType: { name: "W" },
        activityType: { name: type },
        activityId: "5",
        attempt: 1,
        input: payloads(...args),
        ...(fields as object),
      }),
    ));
  const outcomes = () =>
    service.calls.map((call) => call.method).filter((method) =>
      method !== "recordActivityTaskHeartbeat"
    );
  const failure = () =>
    fromFailure(
      service.requests("respondActivityTaskFailed").at(-1)!.failure!,
    ) as ApplicationFailure;
  return { timers, service, tasks, run, outcomes, failure, log };
}

test("a result is reported with the token of its task; arguments arrive in order", async () => {
  const { run, service } = setting({ add: (a: number, b: number) => a + b });
  await run("add", [2, 3]);
  const [request] = service.requests("respondActivityTaskCompleted");
  assert.equal(value(request!.result), 5);
  assert.deepEqual([...request!.taskToken], [1, 2]);
  assert.equal(request!.identity, "me");
});

test("a void result is one payload", async () => {
  const { run, service } = setting({ nothing: async () => {} });
  await run("nothing");
  assert.equal(service.requests("respondActivityTaskCompleted")[0]!.result!.payloads.length, 1);
});

test("the context has ids, attempt, timeouts, details of the last attempt and a stable idempotency key (P2)", async () => {
  const seen: ActivityContext["info"][] = [];
  const { run } = setting({ look: async () => void seen.push(activityInfo()) });
  const fields = {
    heartbeatDetails: payloads({ done: 3 }),
    heartbeatTimeout: { seconds: 5n },
    startToCloseTimeout: { seconds: 60n },
    scheduledTime: { seconds: 7n },
  };
  await run("look", [], { ...fields, attempt: 1 });
  await run("look", [], { ...fields, attempt: 2, taskToken: new Uint8Array([9]) });
  const [first, second] = seen;
  assert.equal(first!.idempotencyKey, "w/r/5");
  assert.equal(second!.idempotencyKey, first!.idempotencyKey);
  assert.deepEqual([first!.attempt, second!.attempt], [1, 2]);
  assert.deepEqual(first!.heartbeatDetails, { done: 3 });
  assert.equal(first!.heartbeatTimeoutMs, 5000);
  assert.equal(first!.startToCloseTimeoutMs, 60_000);
  assert.equal(first!.scheduleToCloseTimeoutMs, undefined);
  assert.equal(first!.scheduledTime!.getTime(), 7000);
  assert.equal(first!.workflowType, "W");
  assert.equal(first!.taskQueue, "q");
});

test("concurrent activities keep separate contexts over awaits", async () => {
  const seen: string[] = [];
  const { run } = setting({
    who: async (name: string) => {
      await settle();
      seen.push(`${name}:${activityInfo().activityId}`);
    },
  });
  await Promise.all([
    run("who", ["a"], { activityId: "1" }),
    run("who", ["b"], { activityId: "2" }),
  ]);
  assert.deepEqual(seen.sort(), ["a:1", "b:2"]);
});

test("an activity made with withContext receives its context, and workflows call it without the parameter", async () => {
  const charge = withContext((context, amount: number) => `${context.info.activityType}:${amount}`);
  const direct: (amount: number) => string = charge;
  const { run, service } = setting({ charge });
  await run("charge", [5]);
  assert.equal(value(service.requests("respondActivityTaskCompleted")[0]!.result), "charge:5");
  assert.throws(() => direct(5), /no activity is running/);
  assert.throws(() => activityContext(), /no activity is running/);
});

test("a context can be destructured", async () => {
  const { run, service } = setting({
    taken: withContext(
      async (
        { heartbeat: beat, sleep: wait, throwIfCancelled, info, cancelled, logger },
        ms: number,
      ) => {
        beat("alive");
        const waited = wait(ms);
        throwIfCancelled();
        logger.debug("waits");
        await waited.catch(() => {});
        return `${info.activityId} ${cancelled.aborted}`;
      },
    ),
  });
  service.on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }));
  await run("taken", [60_000]);
  assert.equal(value(service.requests("respondActivityTaskCompleted").at(-1)!.result), "5 true");
});

test("methods keep their `this`; activity names are keys, not function names", async () => {
  class Payments {
    #rate = 2;
    charge(amount: number) {
      return amount * this.#rate;
    }
  }
  const { run, service } = setting([new Payments(), {
    renamed: function other() {
      return "ok";
    },
  }]);
  await run("charge", [4]);
  await run("renamed");
  assert.deepEqual(
    service.requests("respondActivityTaskCompleted").map((request) => value(request.result)),
    [8, "ok"],
  );
  assert.throws(
    () => new ActivityRegistry([{ a: () => 1 }, { a: () => 2 }]),
    /two activities are named "a", in activities\[0\] and activities\[1\]/,
  );
});

test("prefixed activities have the prefixed type, and stay methods of their object", async () => {
  class Payments {
    #rate = 3;
    charge(amount: number) {
      return amount * this.#rate;
    }
  }
  const { run, service } = setting([
    { charge: () => "plain" },
    prefixed("payment.", new Payments()),
  ]);
  await run("charge");
  await run("payment.charge", [2]);
  assert.deepEqual(
    service.requests("respondActivityTaskCompleted").map((request) => value(request.result)),
    ["plain", 6],
  );
});

test("a thrown ApplicationFailure keeps its fields; any other error is converted to one", async () => {
  const { run, failure, log } = setting({
    decline: () => {
      throw ApplicationFailure.nonRetryable("no", {
        type: "Declined",
        details: [1],
        cause: new Error("inner"),
      });
    },
    crash: async () => {
      throw new TypeError("x is not a function");
    },
  });
  await run("decline", ["secret"]);
  assert.equal(failure().type, "Declined");
  assert.equal(failure().nonRetryable, true);
  assert.deepEqual(failure().details, [1]);
  assert.equal((failure().cause as Error).message, "inner");
  await run("crash");
  assert.equal(failure().type, "TypeError");
  assert.equal(failure().nonRetryable, false);
  assert.match(failure().stack!, /activities\.test/);
  assert.equal(log.filter((entry) => entry.level === "warn").length, 2);
  assert.doesNotMatch(JSON.stringify(log), /secret/);
});

test("an unknown activity fails with the names that the worker has", async () => {
  const { run, failure } = setting({ charge: () => 1, refund: () => 2 });
  await run("chrage");
  assert.equal(failure().type, "NotFoundError");
  assert.equal(failure().nonRetryable, false);
  assert.match(failure().message, /no activity "chrage"; it has charge, refund/);
});

test("results that cannot be encoded fail without a retry, because a retry would repeat the work", async () => {
  const { run, failure } = setting({ big: () => "x".repeat(3 << 20), odd: () => 1n });
  await run("big");
  assert.equal(failure().type, "PayloadTooLargeError");
  assert.equal(failure().nonRetryable, true);
  await run("odd");
  assert.equal(failure().type, "PayloadConverterError");
  assert.equal(failure().nonRetryable, true);
});

test("an activity whose result cannot be encoded counts as running until its failure is reported", async () => {
  const codec = MessageCodec.of({
    codec: {
      encode: () => Promise.reject(new Error("no key")),
      decode: (payloads) => Promise.resolve(payloads),
    },
  });
  const { run, service, failure } = setting({ work: () => "done" }, codec);
  let reported = false;
  service.on("respondActivityTaskFailed", async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    reported = true;
    return {};
  });
  await run("work", [], { input: undefined });
  assert.equal(reported, true);
  assert.equal(service.requests("respondActivityTaskCompleted").length, 0);
  assert.match(failure().message, /could not encode .*no key/);
});

test("a cancellation arrives with a heartbeat's response and is reported as a cancellation", async () => {
  const { run, service, outcomes } = setting({
    work: async () => {
      heartbeat("started");
      await sleep("1h");
    },
  });
  service.on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }));
  await run("work");
  assert.deepEqual(outcomes(), ["respondActivityTaskCanceled"]);
  assert.equal(value(service.requests("recordActivityTaskHeartbeat")[0]!.details), "started");
});

test("details of a cancellation are reported; an AbortError of the signal counts as the cancellation", async () => {
  const { run, service, outcomes } = setting({
    tidy: withContext(async (context) => {
      context.heartbeat();
      await new Promise((resolve) => context.cancelled.addEventListener("abort", resolve));
      assert.equal(context.cancelReason, "CANCELLED");
      assert.throws(() => context.throwIfCancelled(), CancelledFailure);
      throw new CancelledFailure("stopped", [{ undone: true }]);
    }),
    fetching: withContext(async (context) => {
      context.heartbeat();
      await new Promise((_, reject) =>
        context.cancelled.addEventListener(
          "abort",
          () => reject(new DOMException("aborted", "AbortError")),
        )
      );
    }),
  });
  service.on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }));
  await run("tidy");
  assert.deepEqual(value(service.requests("respondActivityTaskCanceled")[0]!.details), {
    undone: true,
  });
  await run("fetching");
  assert.deepEqual(outcomes(), ["respondActivityTaskCanceled", "respondActivityTaskCanceled"]);
});

test("an activity may complete although it was canceled", async () => {
  const { run, service, outcomes } = setting({
    stubborn: withContext(async (context) => {
      context.heartbeat();
      await new Promise((resolve) => context.cancelled.addEventListener("abort", resolve));
      return "done anyway";
    }),
  });
  service.on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }));
  await run("stubborn");
  assert.deepEqual(outcomes(), ["respondActivityTaskCompleted"]);
});

test("a CancelledFailure without a cancellation request is a failure", async () => {
  const { run, outcomes, failure } = setting({
    moody: () => {
      throw new CancelledFailure("do not feel like it");
    },
  });
  await run("moody");
  assert.deepEqual(outcomes(), ["respondActivityTaskFailed"]);
  assert.equal(failure().type, "CancelledFailure");
});

test("a heartbeat with NOT_FOUND cancels the activity, and its outcome is not reported", async () => {
  const { run, service, outcomes } = setting({
    lost: async () => {
      heartbeat();
      await sleep("1h");
    },
  });
  service.on("recordActivityTaskHeartbeat", () => {
    throw new ServiceError(Code.NOT_FOUND, "timed out");
  });
  await run("lost");
  assert.deepEqual(outcomes(), []);
});

test("paused and reset activities get that reason and fail with that type; a cancellation takes precedence", async () => {
  for (
    const [answer, reason, outcome] of [
      [{ activityPaused: true }, "PAUSED", "respondActivityTaskFailed"],
      [{ activityReset: true, activityPaused: true }, "RESET", "respondActivityTaskFailed"],
      [{ activityReset: true, cancelRequested: true }, "CANCELLED", "respondActivityTaskCanceled"],
    ] as const
  ) {
    let told: string | undefined;
    const { run, service, outcomes, failure } = setting({
      work: withContext(async (context) => {
        context.heartbeat();
        try {
          await context.sleep("1h");
        } finally {
          told = context.cancelReason;
        }
      }),
    });
    service.on("recordActivityTaskHeartbeat", () => answer);
    await run("work");
    assert.equal(told, reason);
    assert.deepEqual(outcomes(), [outcome]);
    if (outcome === "respondActivityTaskFailed") assert.equal(failure().type, reason);
  }
});

test("a failing activity sends its pending heartbeat first, a completing one does not", async () => {
  const activities = {
    fail: () => {
      for (let i = 0; i < 5; i++) heartbeat(i);
      throw new Error("after 4");
    },
    finish: () => {
      for (let i = 0; i < 5; i++) heartbeat(i);
    },
  };
  const failing = setting(activities);
  await failing.run("fail");
  assert.deepEqual(
    failing.service.requests("recordActivityTaskHeartbeat").map((request) =>
      value(request.details)
    ),
    [0, 4],
  );
  assert.equal(failing.service.calls.at(-1)!.method, "respondActivityTaskFailed");
  const finishing = setting(activities);
  await finishing.run("finish");
  await finishing.timers.advance(100_000);
  assert.deepEqual(
    finishing.service.requests("recordActivityTaskHeartbeat").map((request) =>
      value(request.details)
    ),
    [0],
  );
  assert.equal(finishing.timers.pending, 0);
});

test("a failed heartbeat call is ignored; details that cannot be encoded throw to the caller", async () => {
  const { run, service, outcomes, log } = setting({
    work: () => {
      heartbeat(1);
      assert.throws(() => heartbeat(2n), /cannot be encoded as JSON/);
      assert.throws(() => heartbeat("x".repeat(3 << 20)), /the details of a heartbeat work takes/);
      return "ok";
    },
  });
  service.on("recordActivityTaskHeartbeat", () => {
    throw new ServiceError(Code.UNAVAILABLE, "away");
  });
  await run("work");
  await settle();
  assert.deepEqual(outcomes(), ["respondActivityTaskCompleted"]);
  assert.equal(log[0]!.message, "a heartbeat could not be sent to the service");
});

test("the worker itself cancels an attempt five seconds after its timeout at the service", async () => {
  let told: string | undefined;
  const { run, timers, failure } = setting({
    slow: withContext(async (context) => {
      try {
        await context.sleep("1h");
      } finally {
        told = context.cancelReason;
      }
    }),
  });
  const done = run("slow", [], { startToCloseTimeout: { seconds: 10n } });
  await timers.advance(14_999);
  assert.equal(told, undefined);
  await timers.advance(1);
  await done;
  assert.equal(told, "TIMED_OUT");
  assert.equal(failure().type, "TIMED_OUT");
});

test("heartbeats extend the heartbeat deadline, not the start-to-close deadline", async () => {
  const beats = withContext(async (context) => {
    for (;;) {
      context.heartbeat();
      await context.sleep(1000);
    }
  });
  const alive = setting({ beats });
  const living = alive.run("beats", [], {
    heartbeatTimeout: { seconds: 2n },
    startToCloseTimeout: { seconds: 60n },
  });
  await alive.timers.advance(50_000);
  assert.deepEqual(alive.outcomes(), []);
  alive.tasks.cancelAll("WORKER_SHUTDOWN");
  await living;
  const late = setting({ beats });
  const ending = late.run("beats", [], {
    heartbeatTimeout: { seconds: 20n },
    startToCloseTimeout: { seconds: 3n },
  });
  await late.timers.advance(8000);
  await ending;
  assert.equal(late.failure().type, "TIMED_OUT");
});

test("activities stopped by the worker's shutdown count as failed, and are retryable", async () => {
  const { run, tasks, failure, outcomes } = setting({ work: () => sleep("1h") });
  const done = run("work");
  await settle();
  assert.equal(tasks.running, 1);
  tasks.cancelAll("WORKER_SHUTDOWN");
  await done;
  assert.deepEqual(outcomes(), ["respondActivityTaskFailed"]);
  assert.equal(failure().type, "WORKER_SHUTDOWN");
  assert.equal(failure().nonRetryable, false);
  assert.equal(tasks.running, 0);
});

test("an activity that is completed from outside is not reported by the worker", async () => {
  const { run, outcomes } = setting({
    ask: () => completeAsync(),
    later: async () => completeAsync(),
  });
  await run("ask");
  await run("later");
  assert.deepEqual(outcomes(), []);
});

test("reports are retried while the service is unavailable, and dropped when the task is gone", async () => {
  const { run, service, timers, log } = setting({ work: () => 1 });
  let away = 3;
  service.on("respondActivityTaskCompleted", () => {
    if (away-- > 0) throw new ServiceError(Code.UNAVAILABLE, "away");
    return {};
  });
  const done = run("work");
  await timers.advance(10_000);
  await done;
  assert.equal(service.requests("respondActivityTaskCompleted").length, 4);
  service.on("respondActivityTaskCompleted", () => {
    throw new ServiceError(Code.NOT_FOUND, "gone");
  });
  await run("work");
  assert.equal(log.length, 0);
  service.on("respondActivityTaskCompleted", () => {
    throw new ServiceError(Code.UNAVAILABLE, "away");
  });
  const lost = run("work");
  await timers.advance(120_000);
  await lost;
  assert.match(
    log.at(-1)!.message,
    /could not be reported; the activity will time out and be retried/,
  );
});

test("arguments that cannot be decoded fail the activity; a task that cannot be decoded is dropped with an error", async () => {
  const { run, tasks, failure, log } = setting({ work: () => 1 });
  const encrypted = {
    metadata: { encoding: new TextEncoder().encode("binary/encrypted") },
    data: new Uint8Array([1]),
  };
  await run("work", [], { input: { payloads: [encrypted] } });
  assert.match(failure().message, /check that the payload codec/);
  await tasks.handle(new Uint8Array([0xff, 0xff]));
  assert.match(log.at(-1)!.message, /cannot decode/);
});
