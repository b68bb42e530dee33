// Calls of the client against a scripted service: starts, retries, refusals by name, lists,
// histories, activities.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ActivityNotFoundError,
  Client,
  Code,
  NamespaceNotFoundError,
  PayloadTooLargeError,
  ServiceError,
  silentLogger,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "../../../ts/client/mod.ts";
import { ApplicationFailure, defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  WorkflowExecutionStatus,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { ScriptedService, unavailable } from "../../support/scripted_service.ts";

const payloads = (...values: unknown[]) => ({
  payloads: values.map((value) => defaultPayloadConverter.toPayload(value)),
});

const values = (
  input: { payloads: { metadata: { [key: string]: Uint8Array }; data: Uint8Array }[] } | undefined,
) => input?.payloads.map((payload) => defaultPayloadConverter.fromPayload(payload));

const client = (service: ScriptedService) =>
  new Client({
    service,
    taskQueue: "q",
    logger: silentLogger,
    retry: { initialIntervalMs: 1, maximumIntervalMs: 2 },
  });

test("a start without an argument list, or with an invalid policy, is rejected by name before anything is sent", async () => {
  const service = new ScriptedService();
  const starts = (options: object) =>
    client(service).start("Order", { id: "order-1", args: [], ...options });
  await assert.rejects(starts({ args: "ada" }), {
    name: "TypeError",
    message: 'the arguments of workflow Order must be an array, not "ada": write [...]',
  });
  await assert.rejects(starts({ idReusePolicy: "REJECT" }), {
    name: "TypeError",
    message:
      'invalid idReusePolicy "REJECT"; valid values: ALLOW_DUPLICATE, ALLOW_DUPLICATE_FAILED_ONLY, REJECT_DUPLICATE, TERMINATE_IF_RUNNING',
  });
  await assert.rejects(
    starts({ idConflictPolicy: "reject" }),
    /^TypeError: invalid idConflictPolicy "reject"; valid values: FAIL, USE_EXISTING, /,
  );
  assert.equal(service.requests("startWorkflowExecution").length, 0);
});

test("a start carries its options, and a retried one keeps its request id", async () => {
  const service = new ScriptedService().on(
    "startWorkflowExecution",
    (_request, _options, attempt) => {
      if (attempt < 3) unavailable();
      return { runId: "r1", started: true };
    },
  );
  const handle = await client(service).start("Order", {
    id: "order-1",
    args: [{ sku: "a" }, 2],
    idReusePolicy: "REJECT_DUPLICATE",
    idConflictPolicy: "USE_EXISTING",
    executionTimeout: "1h",
    runTimeout: 5000,
    taskTimeout: "3s",
    retry: { initialInterval: "2s", maximumAttempts: 3, nonRetryableErrorTypes: ["Declined"] },
    startDelay: "1m",
    memo: { note: "x" },
    searchAttributes: { n: 1, ratio: 0.5, on: true, name: "k", at: new Date(0), tags: ["a"] },
    summary: "one order",
  });
  assert.equal(handle.workflowId, "order-1");
  assert.equal(handle.runId, "r1");
  assert.equal(handle.firstExecutionRunId, "r1");
  const requests = service.requests("startWorkflowExecution");
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map((request) => request.requestId)).size, 1);
  const request = requests[2]!;
  assert.notEqual(request.requestId, "");
  assert.equal(request.namespace, "default");
  assert.equal(request.workflowType?.name, "Order");
  assert.equal(request.taskQueue?.name, "q");
  assert.deepEqual(values(request.input), [{ sku: "a" }, 2]);
  assert.equal(request.workflowIdReusePolicy, WorkflowIdReusePolicy.REJECT_DUPLICATE);
  assert.equal(request.workflowIdConflictPolicy, WorkflowIdConflictPolicy.USE_EXISTING);
  assert.equal(request.workflowExecutionTimeout?.seconds, 3600n);
  assert.equal(request.workflowRunTimeout?.seconds, 5n);
  assert.equal(request.workflowTaskTimeout?.seconds, 3n);
  assert.equal(request.workflowStartDelay?.seconds, 60n);
  assert.equal(request.retryPolicy?.initialInterval?.seconds, 2n);
  assert.equal(request.retryPolicy?.maximumAttempts, 3);
  assert.deepEqual(request.retryPolicy?.nonRetryableErrorTypes, ["Declined"]);
  assert.equal(defaultPayloadConverter.fromPayload(request.memo!.fields["note"]!), "x");
  const types = Object.fromEntries(
    Object.entries(request.searchAttributes!.indexedFields).map((
      [key, payload],
    ) => [key, new TextDecoder().decode(payload.metadata["type"])]),
  );
  assert.deepEqual(types, {
    n: "Int",
    ratio: "Double",
    on: "Bool",
    name: "Keyword",
    at: "Datetime",
    tags: "KeywordList",
  });
  assert.equal(defaultPayloadConverter.fromPayload(request.userMetadata!.summary!), "one order");
});

test("retries end after the configured attempts, and other errors are not retried", async () => {
  const service = new ScriptedService().on(
    "startWorkflowExecution",
    () => unavailable("still away"),
  );
  const patient = new Client({
    service,
    taskQueue: "q",
    retry: { initialIntervalMs: 1, maximumAttempts: 4 },
  });
  await assert.rejects(
    patient.start("W", { id: "1" }),
    (error) => error instanceof ServiceError && error.code === Code.UNAVAILABLE,
  );
  assert.equal(service.calls.length, 4);
  service.on("startWorkflowExecution", () => {
    throw new ServiceError(Code.RESOURCE_EXHAUSTED, "too many open runs", "OpenRunsLimit");
  });
  await assert.rejects(
    patient.start("W", { id: "1" }),
    (error) => error instanceof ServiceError && error.reason === "OpenRunsLimit",
  );
  assert.equal(service.calls.length, 5);
});

test("calls to an overloaded service are retried, calls to a full one are not", async () => {
  const busy = (cause: string, reason = "ResourceExhausted") =>
    new ScriptedService().on("startWorkflowExecution", (_request, _options, attempt) => {
      if (attempt < 3) {
        throw new ServiceError(Code.RESOURCE_EXHAUSTED, "too much", reason, { cause });
      }
      return { runId: "r", started: true };
    });
  const throttled = busy("1");
  await client(throttled).start("Order", { id: "o" });
  assert.equal(throttled.calls.length, 3);
  for (const full of [busy("7"), busy("1", "MessageTooLarge")]) {
    await assert.rejects(client(full).start("Order", { id: "o" }), /too much/);
    assert.equal(full.calls.length, 1);
  }
});

test("the service's error at a call's deadline is forwarded unchanged", async () => {
  const service = new ScriptedService().on(
    "signalWorkflowExecution",
    async (_request, { timeoutMs }) => {
      await new Promise((resolve) => setTimeout(resolve, timeoutMs! + 20));
      throw new ServiceError(Code.PERMISSION_DENIED, "not for you", "Denied", {}, {
        cause: new Error("the policy"),
      });
    },
  );
  await assert.rejects(
    client(service).getHandle("W", "1").with({ timeout: 30 }).signal("s"),
    (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual([error.code, error.message, error.reason], [
        Code.PERMISSION_DENIED,
        "not for you",
        "Denied",
      ]);
      assert.equal((error.cause as Error).message, "the policy");
      return true;
    },
  );
});

test("calls to a closed engine are not retried", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", () => {
    throw new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed");
  });
  await assert.rejects(client(service).start("W", { id: "1" }), /the engine is closed/);
  assert.equal(service.calls.length, 1);
});

test("a start without id or queue, or with an invalid duration, is rejected before anything is sent", async () => {
  const service = new ScriptedService();
  await assert.rejects(client(service).start("W", { id: "" }), /needs an id/);
  for (const method of ["start", "execute"] as const) {
    await assert.rejects(
      client(service)[method]("W", undefined as never),
      /the start of workflow W needs an id/,
    );
  }
  await assert.rejects(new Client({ service }).start("W", { id: "1" }), /has no task queue/);
  const misspelt = { id: "1", args: [], taskqueue: "shop", timeout: "10s" } as never;
  for (const method of ["start", "execute", "signalWithStart", "executeUpdateWithStart"] as const) {
    await assert.rejects(
      (client(service)[method] as Client["start"]).call(client(service), "W", misspelt),
      /^TypeError: the start of workflow W has no option "taskqueue"; did you mean taskQueue\?$/,
      method,
    );
  }
  await assert.rejects(
    client(service).start("W", { id: "1", runTimeout: "soon" }),
    /is not a duration/,
  );
  await assert.rejects(
    client(service).start("W", { id: "1", args: ["x".repeat(3 << 20)] }),
    PayloadTooLargeError,
  );
  assert.equal(service.calls.length, 0);
});

test("a large argument causes a warning without its content", async () => {
  const lines: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields?: object) => lines.push(message, fields),
  };
  const service = new ScriptedService().on("signalWorkflowExecution", () => ({}));
  await new Client({ service, logger }).getHandle("W", "1").signal("big", "secret".repeat(100_000));
  assert.equal(lines.length, 2);
  assert.match(String(lines[0]), /the arguments of signal "big" takes 600\d\d\d bytes/);
  assert.doesNotMatch(JSON.stringify(lines), /secret/);
});

test("an id in use throws a specific error with advice", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", () => {
    throw new ServiceError(Code.ALREADY_EXISTS, "taken", "WorkflowExecutionAlreadyStarted", {
      run_id: "r7",
    });
  });
  await assert.rejects(client(service).start("W", { id: "1" }), (error) => {
    assert.ok(error instanceof WorkflowExecutionAlreadyStartedError);
    assert.equal(error.runId, "r7");
    assert.match(error.message, /idConflictPolicy: "USE_EXISTING"/);
    return true;
  });
});

test("unknown workflows and namespaces throw specific errors", async () => {
  const service = new ScriptedService()
    .on("signalWorkflowExecution", () => {
      throw new ServiceError(Code.NOT_FOUND, "workflow not found");
    })
    .on("describeWorkflowExecution", () => {
      throw new ServiceError(Code.NOT_FOUND, "namespace not found", "NamespaceNotFound");
    });
  const handle = client(service).getHandle(undefined, "1", "r");
  await assert.rejects(
    handle.signal("go"),
    (error) => error instanceof WorkflowNotFoundError && error.runId === "r",
  );
  await assert.rejects(handle.describe(), NamespaceNotFoundError);
  // Ids that the service has already returned are not repeated.
  const said = (message: string) => new WorkflowNotFoundError(message, "order-1", "f00").message;
  const advice =
    "; check the id and the namespace; closed workflows are removed after the retention time";
  assert.equal(
    said("workflow not found"),
    `workflow not found (workflow id order-1, run id f00)${advice}`,
  );
  assert.equal(
    said("workflow not found for ID: order-1"),
    `workflow not found for ID: order-1 (run id f00)${advice}`,
  );
  assert.match(
    said("workflow execution already completed"),
    /; the workflow is closed and accepts no messages; its result is still available$/,
  );
});

test("errors of lists and counts quote the service's reason", async () => {
  const refuse = () => {
    throw new ServiceError(Code.NOT_FOUND, "Namespace default is not found.", "NamespaceNotFound");
  };
  const c = client(
    new ScriptedService().on("listWorkflowExecutions", refuse).on(
      "countWorkflowExecutions",
      refuse,
    ),
  );
  await assert.rejects(c.list()[Symbol.asyncIterator]().next(), NamespaceNotFoundError);
  await assert.rejects(c.count(), NamespaceNotFoundError);
});

test("signals and cancel requests keep their request id over retries, so that they apply once (P2); with() sets one", async () => {
  const service = new ScriptedService()
    .on(
      "signalWorkflowExecution",
      (_request, _options, attempt) => (attempt === 1 ? unavailable() : {}),
    )
    .on(
      "requestCancelWorkflowExecution",
      (_request, _options, attempt) => (attempt === 1 ? unavailable() : {}),
    );
  const handle = client(service).getHandle("W", "1");
  await handle.signal("go", 1);
  await handle.with({ requestId: "mine" }).signal("go", 2);
  await handle.cancel("enough");
  const signals = service.requests("signalWorkflowExecution");
  assert.equal(signals[0]!.requestId, signals[1]!.requestId);
  assert.equal(signals[2]!.requestId, "mine");
  assert.deepEqual(values(signals[2]!.input), [2]);
  const cancels = service.requests("requestCancelWorkflowExecution");
  assert.equal(cancels[0]!.requestId, cancels[1]!.requestId);
  assert.equal(cancels[1]!.reason, "enough");
});

test("list fetches pages as the caller iterates; count returns the number", async () => {
  const service = new ScriptedService()
    .on("listWorkflowExecutions", (request) => {
      const page = request.nextPageToken[0] ?? 0;
      const execution = (n: number) => ({
        execution: { workflowId: `w${n}`, runId: `r${n}` },
        type: { name: "W" },
        status: WorkflowExecutionStatus.RUNNING,
        startTime: { seconds: 10n },
        historyLength: 3n,
        memo: { fields: { a: defaultPayloadConverter.toPayload(1) } },
        searchAttributes: {
          indexedFields: {
            odd: {
              metadata: { encoding: new TextEncoder().encode("binary/encrypted") },
              data: new Uint8Array([1]),
            },
          },
        },
      });
      return {
        executions: [execution(page * 2), execution(page * 2 + 1)],
        nextPageToken: page < 2 ? new Uint8Array([page + 1]) : new Uint8Array(),
      };
    })
    .on("countWorkflowExecutions", () => ({ count: 6n }));
  const c = client(service);
  const seen = [];
  for await (const run of c.list('WorkflowType = "W"', { pageSize: 2 })) seen.push(run);
  assert.deepEqual(seen.map((run) => run.workflowId), ["w0", "w1", "w2", "w3", "w4", "w5"]);
  assert.equal(seen[0]!.status, "RUNNING");
  assert.equal(seen[0]!.startTime!.getTime(), 10_000);
  assert.equal(seen[0]!.historyLength, 3);
  assert.deepEqual(seen[0]!.memo, { a: 1 });
  assert.ok(
    "data" in (seen[0]!.searchAttributes["odd"] as object),
    "a value that cannot be decoded hides nothing else",
  );
  for await (const run of c.list()) if (run.workflowId === "w0") break;
  assert.equal(service.requests("listWorkflowExecutions").length, 4);
  assert.equal(await c.count(), 6);
});

test("history: events over pages, JSON in the form of Temporal's tools", async () => {
  const service = new ScriptedService().on(
    "getWorkflowExecutionHistory",
    (request) =>
      request.nextPageToken.length === 0
        ? {
          history: {
            events: [{
              eventId: 1n,
              eventTime: { seconds: 1n },
              eventType: EventType.WORKFLOW_EXECUTION_STARTED,
              attributes: {
                case: "workflowExecutionStartedEventAttributes",
                value: {
                  workflowType: { name: "W" },
                  input: payloads("x"),
                  workflowRunTimeout: { seconds: 3n },
                },
              },
            }],
          },
          nextPageToken: new Uint8Array([1]),
        }
        : { history: { events: [{ eventId: 2n, eventType: EventType.WORKFLOW_TASK_SCHEDULED }] } },
  );
  const handle = client(service).getHandle("W", "1");
  const ids = [];
  for await (const event of handle.history()) ids.push(event.eventId);
  assert.deepEqual(ids, [1n, 2n]);
  const json = JSON.parse(await handle.historyJson());
  assert.deepEqual(json.events[0], {
    eventId: "1",
    eventTime: "1970-01-01T00:00:01Z",
    eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: "W" },
      input: { payloads: [{ metadata: { encoding: "anNvbi9wbGFpbg==" }, data: "Ingi" }] },
      workflowRunTimeout: "3s",
    },
  });
});

test("completing activities: by token, by id, once (P2)", async () => {
  const service = new ScriptedService()
    .on("respondActivityTaskCompleted", () => ({}))
    .on("respondActivityTaskCompletedById", () => {
      throw new ServiceError(Code.NOT_FOUND, "activity not found");
    })
    .on("respondActivityTaskFailed", () => ({}))
    .on("respondActivityTaskCanceledById", () => ({}))
    .on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }))
    .on("recordActivityTaskHeartbeatById", () => ({}));
  const c = client(service);
  const token = new Uint8Array([7]);
  const ids = { workflowId: "1", activityId: "a" };
  await c.completeActivity(token, { ok: true });
  assert.deepEqual(values(service.requests("respondActivityTaskCompleted")[0]!.result), [{
    ok: true,
  }]);
  await assert.rejects(c.completeActivity(ids, 1), ActivityNotFoundError);
  await c.failActivity(token, ApplicationFailure.nonRetryable("no", { type: "T" }));
  assert.equal(service.requests("respondActivityTaskFailed")[0]!.failure!.message, "no");
  await c.reportCancellation(ids, "cleaned");
  await c.reportCancellation(ids);
  const cancelled = service.requests("respondActivityTaskCanceledById");
  assert.equal(cancelled[0]!.activityId, "a");
  assert.deepEqual(cancelled.map(({ details }) => values(details)), [["cleaned"], undefined]);
  service.on("respondActivityTaskCanceledById", () => {
    throw new ServiceError(Code.NOT_FOUND, "activity not found");
  });
  await assert.rejects(c.reportCancellation(ids), ActivityNotFoundError);
  await assert.rejects(
    c.heartbeatActivity(token, 0.5),
    /cancellation of the activity was requested \(CANCELLED\)/,
  );
  await c.heartbeatActivity(ids);
});

test("a procedure whose failure the service does not accept is not completed in another way", async () => {
  const service = new ScriptedService()
    .on("describeWorkflowExecution", () => ({
      workflowExecutionInfo: {
        execution: { workflowId: "w", runId: "r" },
        type: { name: "W" },
        status: WorkflowExecutionStatus.RUNNING,
      },
      pendingActivities: [{ activityId: "5", activityType: { name: "procedure:approve" } }],
    }))
    .on("respondActivityTaskFailedById", () => {
      throw new ServiceError(Code.PERMISSION_DENIED, "only approvers may answer");
    })
    .on("respondActivityTaskCompletedById", () => ({}));
  await assert.rejects(
    client(service).failProcedure({ workflow: "w", name: "approve" }, new Error("declined")),
    /only approvers may answer/,
  );
  assert.equal(service.requests("respondActivityTaskFailedById")[0]!.activityId, "5");
  assert.deepEqual(service.requests("respondActivityTaskCompletedById"), []);
});
