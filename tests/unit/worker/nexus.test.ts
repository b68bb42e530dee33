// Nexus tasks against a scripted service: the one report in which each ends, in both forms that
// servers take; deadlines and shutdown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import {
  type Failure,
  FailureSchema,
} from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { RequestSchema } from "../../../ts/messages/generated/temporal/api/nexus/v1/message_pb.ts";
import { PollNexusTaskQueueResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { NexusOutcome, NexusRequest } from "../../../ts/worker/nexus/nexus_call.ts";
import { NexusTasks } from "../../../ts/worker/nexus/nexus_tasks.ts";
import { nexusTimeoutMs } from "../../../ts/worker/nexus/nexus_timeout.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { WorkerMetrics } from "../../../ts/worker/metrics/worker_metrics.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { until } from "../../support/until.ts";

type Run = (request: NexusRequest) => Promise<NexusOutcome>;
type Request = MessageInitShape<typeof RequestSchema>;

const payload = defaultPayloadConverter.toPayload("yes");
const failed = (failureInfo: Failure["failureInfo"], message = "no"): Failure =>
  create(
    FailureSchema,
    { message, stackTrace: "at x", source: "TypeScriptSDK", failureInfo } as never,
  );
const handlerFailure = failed({
  case: "nexusHandlerFailureInfo",
  value: { type: "BAD_REQUEST", retryBehavior: 2 } as never,
});

function setting(run: Run, service = new ScriptedService()) {
  service.on("respondNexusTaskCompleted", () => ({})).on("respondNexusTaskFailed", () => ({}));
  const timers = new ManualTimers();
  const registry = new MetricsRegistry();
  const log: string[] = [];
  const logTo = (level: string) => (message: string) => void log.push(`${level} ${message}`);
  const tasks = new NexusTasks({
    service,
    services: { names: ["s"], run },
    ...{ namespace: "default", identity: "me", codec: undefined, timers, reportTimers: timers },
    logger: { ...silentLogger, warn: logTo("warn"), error: logTo("error") },
    metrics: new WorkerMetrics(registry, "default", "q"),
  });
  const handle = (request: Request) => {
    const task = create(PollNexusTaskQueueResponseSchema, {
      taskToken: Uint8Array.of(1, 2),
      pollerGroupId: "group",
      request,
    });
    return tasks.handle(toBinary(PollNexusTaskQueueResponseSchema, task));
  };
  return { service, timers, registry, log, tasks, handle };
}

const start = (more: Request = {}): Request => ({
  header: { "Request-Timeout": "2s", "X-Own": "A" },
  endpoint: "e",
  variant: {
    case: "startOperation",
    value: {
      ...{
        service: "s",
        operation: "o",
        requestId: "r",
        callback: "http://back",
        callbackHeader: { Token: "t" },
        payload,
      },
      links: [{ url: "temporal:///x", type: "T" }],
    },
  },
  ...more,
});

test("start and cancellation reach the service unchanged, with lowercase header names", async () => {
  const requests: NexusRequest[] = [];
  const outcomes: NexusOutcome[] = [{ kind: "sync", payload, links: [{ url: "u", type: "T" }] }, {
    kind: "cancelRequested",
  }];
  const { service, handle } = setting((request) => {
    requests.push(request);
    return Promise.resolve(outcomes[requests.length - 1]!);
  });
  await handle(start());
  await handle({
    variant: {
      case: "cancelOperation",
      value: { service: "s", operation: "o", operationToken: "token" },
    },
  });
  const { deadline, signal, ...first } = requests[0]!;
  assert.ok(Math.abs(deadline!.getTime() - Date.now() - 2000) < 1000);
  assert.equal(signal.aborted, false);
  const { variant, ...rest } = first;
  assert.deepEqual(rest, {
    endpoint: "e",
    service: "s",
    operation: "o",
    headers: { "request-timeout": "2s", "x-own": "A" },
  });
  assert.ok(variant.kind === "start");
  const { links, payload: sent, ...told } = variant.start;
  assert.deepEqual(told, {
    requestId: "r",
    callbackUrl: "http://back",
    callbackHeaders: { token: "t" },
  });
  assert.deepEqual([links[0]!.url, defaultPayloadConverter.fromPayload(sent!)], [
    "temporal:///x",
    "yes",
  ]);
  assert.deepEqual(requests[1]!.variant, { kind: "cancel", token: "token" });
  assert.equal(requests[1]!.deadline, undefined);
  const [completed, cancelled] = service.requests("respondNexusTaskCompleted");
  assert.deepEqual([completed!.namespace, completed!.identity, completed!.pollerGroupId], [
    "default",
    "me",
    "group",
  ]);
  assert.deepEqual([...completed!.taskToken], [1, 2]);
  const started = completed!.response!.variant;
  assert.ok(started.case === "startOperation" && started.value.variant.case === "syncSuccess");
  assert.equal(defaultPayloadConverter.fromPayload(started.value.variant.value.payload!), "yes");
  assert.deepEqual(started.value.variant.value.links.map(({ url }) => url), ["u"]);
  assert.equal(cancelled!.response!.variant.case, "cancelOperation");
});

test("failures are sent as Temporal failures if the server supports them, else as JSON in Nexus failures", async () => {
  const outcomes: NexusOutcome[] = [
    {
      kind: "operationFailed",
      failure: failed({ case: "canceledFailureInfo", value: {} as never }),
    },
    {
      kind: "operationFailed",
      failure: failed({ case: "applicationFailureInfo", value: { type: "X" } as never }),
    },
    { kind: "handlerFailed", failure: handlerFailure },
  ];
  for (const temporalFailureResponses of [false, true]) {
    const left = [...outcomes];
    const { service, registry, handle } = setting(() => Promise.resolve(left.shift()!));
    for (const _ of outcomes) await handle(start({ capabilities: { temporalFailureResponses } }));
    const variants = service.requests("respondNexusTaskCompleted").map(({ response }) => {
      assert.ok(response!.variant.case === "startOperation");
      return response!.variant.value.variant;
    });
    const { error, failure } = service.requests("respondNexusTaskFailed")[0]!;
    const text = registry.text();
    for (const reason of ["operation_canceled", "operation_failed", "handler_error_BAD_REQUEST"]) {
      assert.match(
        text,
        new RegExp(`temporal_nexus_task_execution_failed\\{.*failure_reason="${reason}".*\\} 1`),
      );
    }
    if (temporalFailureResponses) {
      assert.deepEqual(
        variants.map(({ case: kind, value }) => [kind, (value as Failure).message]),
        [
          ["failure", "no"],
          ["failure", "no"],
        ],
      );
      assert.equal(failure!.failureInfo.case, "nexusHandlerFailureInfo");
      assert.equal(error, undefined);
      continue;
    }
    const old = variants.map((variant) => {
      assert.ok(variant.case === "operationError");
      const { operationState, failure } = variant.value;
      return [
        operationState,
        failure!.message,
        failure!.metadata,
        JSON.parse(new TextDecoder().decode(failure!.details)),
      ];
    });
    const metadata = { type: "temporal.api.failure.v1.Failure" };
    const common = { source: "TypeScriptSDK", stackTrace: "at x" };
    assert.deepEqual(old, [
      ["canceled", "no", metadata, { ...common, canceledFailureInfo: {} }],
      ["failed", "no", metadata, { ...common, applicationFailureInfo: { type: "X" } }],
    ]);
    const { errorType, retryBehavior, failure: inner } = error!;
    assert.deepEqual([errorType, retryBehavior], ["BAD_REQUEST", 2]);
    const { type } = JSON.parse(new TextDecoder().decode(inner!.details)).nexusHandlerFailureInfo;
    assert.equal(type, "BAD_REQUEST");
  }
});

test("a service that throws, invalid task bytes and a report of a closed task end only their task", async () => {
  const service = new ScriptedService();
  const { tasks, handle, log } = setting(() => Promise.reject(new Error("a defect")), service);
  await handle(start());
  const { error } = service.requests("respondNexusTaskFailed")[0]!;
  assert.deepEqual([error!.errorType, error!.failure!.message], ["INTERNAL", "a defect"]);
  await tasks.handle(Uint8Array.of(255));
  service.on("respondNexusTaskFailed", () => {
    throw new ServiceError(Code.NOT_FOUND, "gone");
  });
  await handle(start());
  service.on("respondNexusTaskFailed", () => {
    throw new ServiceError(Code.INVALID_ARGUMENT, "no");
  });
  await handle(start());
  assert.deepEqual(log.filter((line) => !line.includes("could not be handled")), [
    "error cannot decode a Nexus task from the service",
    "error the result of a Nexus task could not be reported; the service will send the task again",
  ]);
  assert.equal(tasks.running, 0);
});

test("a handler is canceled after its request timeout, and its task ends with the handler", async () => {
  let end!: (outcome: NexusOutcome) => void;
  let signal!: AbortSignal;
  const { service, timers, tasks, handle } = setting((request) => {
    signal = request.signal;
    return new Promise((resolve) => end = resolve);
  });
  const handled = handle(start());
  await settle();
  await timers.advance(1999);
  assert.deepEqual([signal.aborted, tasks.running], [false, 1]);
  await timers.advance(1);
  assert.equal(signal.reason, "TIMED_OUT");
  assert.equal(service.calls.length, 0);
  end({ kind: "async", token: "t", links: [] });
  await handled;
  const { variant } = service.requests("respondNexusTaskCompleted")[0]!.response!;
  assert.ok(variant.case === "startOperation" && variant.value.variant.case === "asyncSuccess");
  assert.equal(variant.value.variant.value.operationToken, "t");
  assert.equal(tasks.running, 0);
});

test("the timeout header accepts the specified units", () => {
  const warned: string[] = [];
  const ms = (header: string | undefined) =>
    nexusTimeoutMs(header, { warn: (message) => void warned.push(message) });
  assert.deepEqual([ms("10m"), ms(" 30s "), ms("500ms"), ms("9.5s"), ms(undefined)], [
    600_000,
    30_000,
    500,
    9500,
    undefined,
  ]);
  assert.deepEqual(warned, []);
  assert.deepEqual([ms("1h"), ms("soon"), ms("1.2.3s")], [undefined, undefined, undefined]);
  assert.equal(warned.length, 3);
});

test("a worker polls for Nexus tasks only if it has services; shutdown cancels handlers and waits for them", async (t) => {
  const tasks: Request[] = [start()];
  const service = new ScriptedService()
    .on("pollNexusTaskQueue", (_, options) => {
      const request = tasks.shift();
      return request === undefined ? waits(options) : { taskToken: Uint8Array.of(7), request };
    })
    .on("pollActivityTaskQueue", (_, options) => waits(options))
    .on("respondNexusTaskCompleted", () => ({}));
  const stopped: unknown[] = [];
  const common = { service, taskQueue: "q", identity: "me", logger: silentLogger };
  const without = await Worker.create({ ...common, activities: { a() {} } });
  const other = without.run();
  t.after(() => without.shutdown());
  await until("a poll", () => service.requests("pollActivityTaskQueue").length > 0);
  await without.shutdown();
  await other;
  assert.equal(service.requests("pollNexusTaskQueue").length, 0);
  const worker = await Worker.create({
    ...common,
    ...{
      maxConcurrentNexusTasks: 1,
      nexusTaskPollerBehavior: { type: "simple-maximum", maximum: 1 },
    },
    nexus: {
      names: ["s"],
      run: ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            stopped.push(signal.reason);
            setTimeout(() => resolve({ kind: "sync", payload, links: [] }), 10);
          })
        ),
    },
  });
  const running = worker.run();
  t.after(() => worker.shutdown());
  await until("the handler runs", () => worker.runningNexusHandlers === 1);
  const [poll] = service.requests("pollNexusTaskQueue");
  assert.deepEqual([poll!.namespace, poll!.identity, poll!.taskQueue!.name], [
    "default",
    "me",
    "q",
  ]);
  assert.match(poll!.workerInstanceKey, /./);
  assert.equal(service.requests("pollNexusTaskQueue").length, 1, "the one slot is taken");
  await worker.shutdown();
  await running;
  assert.deepEqual(stopped, ["WORKER_SHUTDOWN"]);
  assert.equal(service.requests("respondNexusTaskCompleted").length, 1);
});
