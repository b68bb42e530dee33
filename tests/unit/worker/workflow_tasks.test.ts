// Workflow tasks against a scripted service and realm: what is reported, what is dropped from the
// cache, and what follows (docs/dev/semantics/tasks.md).
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { silentLogger } from "../../../ts/client/mod.ts";
import { HeldRuns } from "../../../ts/crash_notes/held_runs.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { RunningTasks } from "../../../ts/crash_notes/running_tasks.ts";
import { WorkflowTaskFailedCause } from "../../../ts/messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import {
  PollWorkflowTaskQueueResponseSchema,
  RespondQueryTaskCompletedRequestSchema,
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskCompletedResponseSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  readWorkflowTask,
  runStartOf,
  taskTokenOf,
  type WorkflowTask,
} from "../../../ts/messages/workflow_task.ts";
import { CACHE_UNUSED } from "../../../ts/executor/tasks/realm_outcome.ts";
import type { RealmOutcome } from "../../../ts/realm/realm.ts";
import { isEmptyTask } from "../../../ts/worker/task_bytes.ts";
import { WorkflowTasks } from "../../../ts/worker/workflow/workflow_tasks.ts";
import { scriptedRealm } from "../../support/realms.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

const bytesOf = (fields: object = {}) =>
  toBinary(
    PollWorkflowTaskQueueResponseSchema,
    create(PollWorkflowTaskQueueResponseSchema, {
      taskToken: new Uint8Array([1]),
      workflowExecution: { workflowId: "w", runId: "r" },
      workflowType: { name: "W" },
      attempt: 1,
      startedEventId: 3n,
      history: { events: [{ eventId: 1n }, { eventId: 2n }] },
      ...fields,
    }),
  );
const task = (fields: object = {}) => readWorkflowTask(bytesOf(fields));
const completion = (fields: object = {}) =>
  toBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    create(RespondWorkflowTaskCompletedRequestSchema, {
      taskToken: new Uint8Array([1]),
      returnNewWorkflowTask: true,
      ...fields,
    }),
  );
const outcome = (
  fields: Partial<RealmOutcome>,
): RealmOutcome => ({
  evict: false,
  evictionReason: 0,
  warnings: [],
  cache: CACHE_UNUSED,
  runStartMs: 0,
  ...fields,
} as RealmOutcome);
const completed = (fields: Partial<RealmOutcome> = {}) =>
  outcome({ response: { $case: "completed", value: completion() }, ...fields });

function setting(runTask: (task: WorkflowTask) => RealmOutcome | Promise<RealmOutcome>) {
  const events: string[] = [];
  const logged: string[] = [];
  const failures: string[] = [];
  /** The labels of a metric, as text: "failed WorkflowError". */
  const counted: string[] = [];
  const timers = new ManualTimers();
  const service = new ScriptedService()
    .on("respondWorkflowTaskCompleted", () => ({}))
    .on("respondWorkflowTaskFailed", () => ({}))
    .on("respondQueryTaskCompleted", () => ({}));
  const tasks = new WorkflowTasks({
    service,
    codec: undefined,
    limits: { warnBytes: 10_000, errorBytes: 20_000 },
    namespace: "default",
    maxConcurrentWorkflowTasks: 100,
    identity: "me",
    logger: {
      ...silentLogger,
      warn: (message) => void logged.push(`warn ${message}`),
      error: (message) => void logged.push(`error ${message}`),
    },
    timers,
    taskMetrics: {
      ...{ begin: () => 0, settled() {}, reported() {} },
      failed: (_head: unknown, reason: string) => void counted.push(reason),
    } as never,
    events: {
      workflowTaskFailed: ({ workflowId, attempt, message }) =>
        void failures.push(`${workflowId} ${attempt} ${message}`),
    },
    realm: scriptedRealm({
      runTask: async (task) => {
        events.push(`run ${task.head.runId}`);
        return await runTask(task);
      },
      taskReported: (runId, response) => {
        const { resetHistoryEventId, workflowTask } = fromBinary(
          RespondWorkflowTaskCompletedResponseSchema,
          response,
        );
        assert.equal(workflowTask, undefined, "the next task is not sent twice");
        events.push(`reported ${runId} ${resetHistoryEventId}`);
      },
      evict: (runId) => void events.push(`evict ${runId}`),
    }),
  });
  return { service, tasks, events, logged, failures, counted, timers };
}

test("the head of a task is read without its history, except for the first event's id", () => {
  const timestamp = (seconds: bigint) => ({ seconds, nanos: 5_000_000 });
  const full = task({
    query: { queryType: "q" },
    queries: { x: { queryType: "a" }, y: { queryType: "b" } },
    attempt: 3,
    previousStartedEventId: 7n,
    startedEventId: 12n,
    history: { events: [{ eventId: 9n }, { eventId: 10n }] },
    scheduledTime: timestamp(10n),
    startedTime: timestamp(11n),
  });
  assert.deepEqual(full.head, {
    workflowId: "w",
    runId: "r",
    workflowType: "W",
    attempt: 3,
    query: "q",
    queries: ["a", "b"],
    previousStartedEventId: 7,
    startedEventId: 12,
    firstEventId: 9,
    scheduledMs: 10_005,
    startedMs: 11_005,
  });
  assert.deepEqual([...taskTokenOf(full)], [1]);
  assert.equal(runStartOf(full), undefined, "the history does not begin with the run");
  const unread = bytesOf({ history: undefined });
  const damaged = readWorkflowTask(Uint8Array.of(...unread, 0x42, 2, 0x0a, 9));
  assert.equal(
    damaged.head.firstEventId,
    0,
    "a history that cannot be read is the core's to refuse",
  );
  assert.equal(isEmptyTask(new Uint8Array(0)), true);
  assert.equal(isEmptyTask(bytesOf({ taskToken: new Uint8Array(0) })), true);
  assert.equal(isEmptyTask(bytesOf()), false);
});

test("the task in the response of a completion runs at once, after the realm was notified", async () => {
  const { service, tasks, events } = setting(() => completed());
  service.on(
    "respondWorkflowTaskCompleted",
    (_request, _options, attempt) =>
      attempt === 1
        ? {
          resetHistoryEventId: 3n,
          workflowTask: {
            taskToken: new Uint8Array([2]),
            workflowExecution: { workflowId: "w", runId: "r" },
            workflowType: { name: "W" },
          },
        }
        : {},
  );
  await tasks.handle(task());
  assert.deepEqual(
    events,
    ["run r", "reported r 3", "run r"],
    "an empty response is not passed on",
  );
});

test("a run to evict is evicted after its report", async () => {
  const { tasks, events, logged } = setting(() =>
    outcome({
      response: {
        $case: "failed",
        value: toBinary(
          RespondWorkflowTaskFailedRequestSchema,
          create(RespondWorkflowTaskFailedRequestSchema, { taskToken: new Uint8Array([1]) }),
        ),
      },
      evict: true,
      error: { code: 100, message: "no command scheduled", eventId: 5 } as RealmOutcome["error"],
      warnings: [{ code: 1, message: "extra command", eventId: 7 }],
    })
  );
  await tasks.handle(task());
  assert.deepEqual(events, ["run r", "evict r"]);
  assert.deepEqual(logged, [
    "warn extra command",
    "error a workflow task failed: no command scheduled",
  ]);
});

test("an outcome without a response is not reported", async () => {
  const { tasks, service, events } = setting(() =>
    outcome({ response: { $case: "nothing", value: {} }, evict: true })
  );
  await tasks.handle(task());
  assert.equal(service.calls.length, 0);
  assert.deepEqual(events, ["run r", "evict r"]);
});

test("a query result is sent in its own report", async () => {
  const request = toBinary(
    RespondQueryTaskCompletedRequestSchema,
    create(RespondQueryTaskCompletedRequestSchema, { errorMessage: "x" }),
  );
  const { tasks, service } = setting(() =>
    outcome({ response: { $case: "queryCompleted", value: request } })
  );
  await tasks.handle(task({ query: { queryType: "q" } }));
  assert.equal(service.requests("respondQueryTaskCompleted")[0]!.errorMessage, "x");
});

for (
  const [name, error, logs] of [
    ["NOT_FOUND", new ServiceError(Code.NOT_FOUND, "workflow task not found"), 0],
    ["UnhandledCommand", new ServiceError(Code.INVALID_ARGUMENT, "UnhandledCommand"), 0],
    ["any other refusal", new ServiceError(Code.FAILED_PRECONDITION, "boom"), 1],
  ] as const
) {
  test(`a completion refused with ${name} drops the run from the cache`, async () => {
    const { tasks, service, events, logged } = setting(() => completed());
    service.on("respondWorkflowTaskCompleted", () => {
      throw error;
    });
    await tasks.handle(task());
    assert.deepEqual(events, ["run r", "evict r"]);
    assert.equal(logged.length, logs);
    assert.equal(service.calls.length, 1);
  });
}

test("a completion whose commands the service rejects counts as a failed task for listeners", async () => {
  const { tasks, service, logged, failures, counted } = setting(() => completed());
  service.on("respondWorkflowTaskCompleted", () => {
    throw new ServiceError(
      Code.INVALID_ARGUMENT,
      "BadStartChildExecutionAttributes: WorkflowId exceeds limit",
    );
  });
  await tasks.handle(task({ attempt: 2 }));
  assert.deepEqual(failures, ["w 2 BadStartChildExecutionAttributes: WorkflowId exceeds limit"]);
  assert.deepEqual(logged, ["error a workflow task failed: the service rejected its commands"]);
  assert.deepEqual(counted, ["WorkflowError"]);
});

test("a too large completion fails the task with that cause, whether the worker or the service rejects it", async () => {
  const noticedHere = setting(() =>
    outcome({
      response: { $case: "completed", value: completion({ identity: "x".repeat(5 << 20) }) },
    })
  );
  await noticedHere.tasks.handle(task());
  assert.deepEqual(noticedHere.service.calls.map((call) => call.method), [
    "respondWorkflowTaskFailed",
  ]);
  const noticedThere = setting(() => completed());
  noticedThere.service.on("respondWorkflowTaskCompleted", () => {
    throw new ServiceError(
      Code.RESOURCE_EXHAUSTED,
      "grpc: received message larger than max (5242880 vs. 4194304)",
    );
  });
  await noticedThere.tasks.handle(task());
  for (const { service, events } of [noticedHere, noticedThere]) {
    const [request] = service.requests("respondWorkflowTaskFailed");
    assert.equal(request!.cause, WorkflowTaskFailedCause.GRPC_MESSAGE_TOO_LARGE);
    assert.deepEqual([...request!.taskToken], [1]);
    assert.equal(events.at(-1), "evict r");
  }
});

test("if a realm fails, the first attempt is reported, later ones time out; a query gets the failure", async () => {
  const { tasks, service, events, counted } = setting(() =>
    Promise.reject(new Error("the realm died"))
  );
  await tasks.handle(task());
  assert.deepEqual(counted, ["WorkflowError"]);
  const [request] = service.requests("respondWorkflowTaskFailed");
  assert.equal(request!.cause, WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE);
  assert.equal(request!.failure!.message, "the realm died");
  await tasks.handle(task({ attempt: 2 }));
  assert.equal(service.requests("respondWorkflowTaskFailed").length, 1);
  await tasks.handle(task({ query: { queryType: "q" }, attempt: 1 }));
  assert.equal(service.requests("respondQueryTaskCompleted")[0]!.errorMessage, "the realm died");
  assert.deepEqual(events, ["run r", "evict r", "run r", "evict r", "run r", "evict r"]);
});

test("a failure report that the service rejects is discarded, and the task ends", async () => {
  const { tasks, service, logged } = setting(() => Promise.reject(new Error("the realm died")));
  service.on("respondWorkflowTaskFailed", () => {
    throw new ServiceError(Code.NOT_FOUND, "the task is gone");
  });
  await tasks.handle(task());
  assert.equal(service.requests("respondWorkflowTaskFailed").length, 1);
  assert.deepEqual(logged, ["error a workflow task could not be run"]);
});

test("a task of a held run is a failed task: reported, counted, and not run", async () => {
  const { tasks, service, events, failures, counted } = setting(() => completed());
  const held = [{ workflowId: "w", runId: "r", workflowType: "W", deaths: 2, since: 0 }];
  const note = { read: () => JSON.stringify({ held }), write() {}, version: () => "" };
  tasks.noteRunningTasks(
    new RunningTasks({
      work: { read: () => "", write() {}, remove() {} },
      held: new HeldRuns(note),
    }),
  );
  let reported = false;
  service.on("respondWorkflowTaskFailed", async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    reported = true;
    return {};
  });
  await tasks.handle(task());
  assert.equal(reported, true, "the task counts as running until the service has the report");
  const [request] = service.requests("respondWorkflowTaskFailed");
  assert.equal(request!.cause, WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE);
  assert.match(request!.failure!.message, /held/);
  assert.deepEqual(failures, [`w 1 ${request!.failure!.message}`]);
  assert.deepEqual(counted, ["WorkflowError"]);
  assert.deepEqual(events.filter((each) => each.startsWith("run")), []);
});

test("a completion is retried while the service is unavailable", async () => {
  const { tasks, service, events, timers } = setting(() => completed());
  service.on("respondWorkflowTaskCompleted", (_request, _options, attempt) => {
    if (attempt < 4) throw new ServiceError(Code.UNAVAILABLE, "away");
    return {};
  });
  const done = tasks.handle(task());
  await timers.advance(10_000);
  await done;
  assert.deepEqual(events, ["run r"]);
});

test("a stopping worker does not request further tasks", async () => {
  const { tasks, service } = setting(() => completed());
  await tasks.handle(task());
  tasks.stopping();
  await tasks.handle(task());
  assert.deepEqual(
    service.requests("respondWorkflowTaskCompleted").map((request) =>
      request.returnNewWorkflowTask
    ),
    [
      true,
      false,
    ],
  );
});

test("invalid task bytes are dropped with an error", async () => {
  const { tasks, service, logged } = setting(() => completed());
  assert.equal(tasks.read(new Uint8Array([0x0a, 0xff, 0xff])), undefined);
  assert.equal(service.calls.length, 0);
  assert.match(logged[0]!, /cannot decode/);
  assert.doesNotThrow(() => fromBinary(PollWorkflowTaskQueueResponseSchema, bytesOf()));
});
