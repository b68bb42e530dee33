// Update-with-start against a scripted service: what is sent, what is asked again, and which error
// each refusal becomes.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  DeadlineExceededError,
  ServiceError,
  silentLogger,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import {
  ApplicationFailure,
  defaultPayloadConverter,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { OPERATION_ABORTED } from "../../../ts/service/raw.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import { WorkflowIdConflictPolicy } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { ScriptedService, unavailable, waits } from "../../support/scripted_service.ts";

const payloads = (...values: unknown[]) => ({
  payloads: values.map((value) => defaultPayloadConverter.toPayload(value)),
});
const client = (service: ScriptedService) =>
  new Client({
    service,
    taskQueue: "q",
    logger: silentLogger,
    retry: { initialIntervalMs: 1, maximumIntervalMs: 2 },
  });

type Outcome = { case: "success" | "failure"; value: unknown };
/** The service's responses to the two operations. */
function multiResponse(stage: number, outcome?: Outcome, started = true) {
  const updateRef = { updateId: "u", workflowExecution: { workflowId: "w", runId: "r" } };
  return {
    responses: [
      { response: { case: "startWorkflow" as const, value: { runId: "r", started } as never } },
      {
        response: {
          case: "updateWorkflow" as const,
          value: { stage, updateRef, ...(outcome && { outcome: { value: outcome } }) } as never,
        },
      },
    ],
  };
}
const aborted = new ServiceError(Code.ABORTED, "Operation was aborted.", OPERATION_ABORTED);
function refuse(code: Code, ...operations: (ServiceError | undefined)[]): never {
  throw new ServiceError(
    code,
    "Update-with-Start could not be executed.",
    "MultiOperationExecution",
    {},
    { operations },
  );
}
const OPTIONS = { id: "w", update: "add", updateArgs: [2], updateId: "u", timeout: "1m" };

test("the wait for an update's outcome uses the remaining time of the caller", async () => {
  const service = new ScriptedService()
    .on("executeMultiOperation", () => multiResponse(Stage.ACCEPTED))
    .on("pollWorkflowExecutionUpdate", (_request, options) => waits(options));
  await assert.rejects(
    client(service).executeUpdateWithStart("Order", { ...OPTIONS, timeout: 300 }),
    (error) => error instanceof DeadlineExceededError,
  );
  // The service itself ends polls after a while; none lasts longer than the caller waits.
  for (const { options } of service.calls) {
    assert.ok(options.timeoutMs! <= 300, `${options.timeoutMs}`);
  }
});

test("checking whether an update was rejected or failed uses the remaining time of the caller", async () => {
  const failure = toFailure(new ApplicationFailure("no"), defaultPayloadConverter);
  const service = new ScriptedService()
    .on(
      "executeMultiOperation",
      () => multiResponse(Stage.COMPLETED, { case: "failure", value: failure }),
    )
    .on("pollWorkflowExecutionUpdate", (_request, options) => waits(options));
  const asked = client(service).executeUpdateWithStart("Order", { ...OPTIONS, timeout: 300 });
  await assert.rejects(asked, (error) => error instanceof WorkflowUpdateFailedError);
  const polls = service.calls.filter(({ method }) => method === "pollWorkflowExecutionUpdate");
  assert.ok(polls.length > 0);
  for (const { options } of polls) assert.ok(options.timeoutMs! <= 300, `${options.timeoutMs}`);
});

test("both operations are sent, by default with the policy to use a running workflow", async () => {
  const service = new ScriptedService().on(
    "executeMultiOperation",
    () => multiResponse(Stage.COMPLETED, { case: "success", value: payloads(5) }),
  );
  assert.equal(
    await client(service).executeUpdateWithStart("Order", {
      ...OPTIONS,
      args: ["a"],
      memo: { m: 1 },
    }),
    5,
  );
  const [request] = service.requests("executeMultiOperation");
  assert.equal(request!.namespace, "default");
  const [start, update] = request!.operations.map((each) => each.operation);
  assert.ok(start?.case === "startWorkflow" && update?.case === "updateWorkflow");
  assert.equal(start.value.workflowId, "w");
  assert.equal(start.value.workflowType?.name, "Order");
  assert.equal(start.value.workflowIdConflictPolicy, WorkflowIdConflictPolicy.USE_EXISTING);
  assert.notEqual(start.value.requestId, "");
  assert.equal(defaultPayloadConverter.fromPayload(start.value.input!.payloads[0]!), "a");
  assert.deepEqual([
    update.value.workflowExecution?.workflowId,
    update.value.workflowExecution?.runId,
  ], ["w", ""]);
  assert.equal(update.value.request?.input?.name, "add");
  assert.equal(update.value.request?.meta?.updateId, "u");
  assert.equal(
    defaultPayloadConverter.fromPayload(update.value.request!.input!.args!.payloads[0]!),
    2,
  );
});

test("retries keep both ids, over an unavailable service and a service that has not accepted yet", async () => {
  const service = new ScriptedService().on(
    "executeMultiOperation",
    (_request, _options, attempt) => {
      if (attempt === 1) unavailable();
      return attempt === 2 ? multiResponse(Stage.ADMITTED) : multiResponse(Stage.ACCEPTED);
    },
  ).on(
    "pollWorkflowExecutionUpdate",
    () => ({ outcome: { value: { case: "success", value: payloads("done") } } }),
  );
  const { workflow, update } = await client(service).startUpdateWithStart("Order", {
    ...OPTIONS,
    waitFor: "accepted",
  });
  assert.deepEqual([workflow.workflowId, workflow.runId, update.updateId, update.runId], [
    "w",
    "r",
    "u",
    "r",
  ]);
  assert.equal(await update.result(), "done");
  const ids = service.requests("executeMultiOperation").map(({ operations }) => {
    const [start, update] = operations.map((each) => each.operation);
    return start?.case === "startWorkflow" && update?.case === "updateWorkflow"
      ? `${start.value.requestId} ${update.value.request?.meta?.updateId}`
      : "";
  });
  assert.equal(ids.length, 3);
  assert.equal(new Set(ids).size, 1);
});

test("a rejected start throws its specific error, also for the update", async () => {
  const service = new ScriptedService().on("executeMultiOperation", () =>
    refuse(
      Code.ALREADY_EXISTS,
      new ServiceError(Code.ALREADY_EXISTS, "already started", "WorkflowExecutionAlreadyStarted", {
        run_id: "other",
      }),
      aborted,
    ));
  const asked = client(service).executeUpdateWithStart("Order", {
    ...OPTIONS,
    idConflictPolicy: "FAIL",
  });
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof WorkflowExecutionAlreadyStartedError, String(error));
    assert.deepEqual([error.workflowId, error.workflowType, error.runId], ["w", "Order", "other"]);
    return true;
  });
});

test("a rejected update throws its specific error", async () => {
  const notFound = new ServiceError(
    Code.NOT_FOUND,
    "workflow execution already completed",
    "NotFound",
  );
  const service = new ScriptedService().on(
    "executeMultiOperation",
    () => refuse(Code.NOT_FOUND, undefined, notFound),
  );
  await assert.rejects(client(service).executeUpdateWithStart("Order", OPTIONS), (error) => {
    assert.ok(error instanceof WorkflowNotFoundError, String(error));
    assert.match(error.message, /already completed/);
    return true;
  });
  const exhausted = new ScriptedService().on(
    "executeMultiOperation",
    () =>
      refuse(
        Code.RESOURCE_EXHAUSTED,
        aborted,
        new ServiceError(Code.RESOURCE_EXHAUSTED, "limit on updates"),
      ),
  );
  await assert.rejects(client(exhausted).executeUpdateWithStart("Order", OPTIONS), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.code, error.message], [Code.RESOURCE_EXHAUSTED, "limit on updates"]);
    assert.ok(
      (error.cause as ServiceError).operations.length === 2,
      "the whole refusal is its cause",
    );
    return true;
  });
});

test("a workflow that closes meanwhile aborts both operations, which are retried a limited number of times", async () => {
  const closing = () =>
    refuse(Code.ABORTED, aborted, new ServiceError(Code.ABORTED, "workflow is closing"));
  const service = new ScriptedService().on(
    "executeMultiOperation",
    (_request, _options, attempt) =>
      attempt < 3
        ? closing()
        : multiResponse(Stage.COMPLETED, { case: "success", value: payloads(1) }),
  );
  assert.equal(await client(service).executeUpdateWithStart("Order", OPTIONS), 1);
  const always = new ScriptedService().on("executeMultiOperation", closing);
  await assert.rejects(
    client(always).executeUpdateWithStart("Order", OPTIONS),
    /workflow is closing/,
  );
  assert.equal(always.calls.length, 10);
});

test("a workflow that has as many updates as it may have is retried as the client's retry options say", async () => {
  const full = () =>
    refuse(
      Code.RESOURCE_EXHAUSTED,
      aborted,
      new ServiceError(Code.RESOURCE_EXHAUSTED, "too many updates", "ResourceExhausted", {
        cause: "2",
      }),
    );
  const service = new ScriptedService().on(
    "executeMultiOperation",
    (_request, _options, attempt) =>
      attempt < 20
        ? full()
        : multiResponse(Stage.COMPLETED, { case: "success", value: payloads(1) }),
  );
  const patient = (maximumAttempts: number) =>
    new Client({
      service,
      taskQueue: "q",
      logger: silentLogger,
      retry: { initialIntervalMs: 0.1, maximumIntervalMs: 1, maximumAttempts },
    });
  await assert.rejects(
    patient(5).executeUpdateWithStart("Order", OPTIONS),
    /too many updates/,
  );
  assert.equal(service.calls.length, 5);
  assert.equal(await patient(20).executeUpdateWithStart("Order", OPTIONS), 1);
  assert.equal(service.calls.length, 20);
});

test("the result of a rejected update rejects, and the workflow's handle is usable", async () => {
  const failure = toFailure(new ApplicationFailure("not that many"), defaultPayloadConverter);
  const service = new ScriptedService()
    .on(
      "executeMultiOperation",
      () => multiResponse(Stage.COMPLETED, { case: "failure", value: failure }, false),
    )
    .on("pollWorkflowExecutionUpdate", () => {
      throw new ServiceError(Code.NOT_FOUND, "no such update");
    });
  const { workflow, update } = await client(service).startUpdateWithStart("Order", {
    ...OPTIONS,
    waitFor: "accepted",
  });
  assert.equal(workflow.runId, "r");
  assert.equal(
    workflow.firstExecutionRunId,
    undefined,
    "a run that was there need not be the first of its chain",
  );
  await assert.rejects(update.result(), (error) => {
    assert.ok(error instanceof WorkflowUpdateRejectedError, String(error));
    assert.match(error.message, /not that many/);
    return true;
  });
});

test("the deadline covers all attempts, and the error contains the update id", async () => {
  const service = new ScriptedService().on(
    "executeMultiOperation",
    (_request, options) => waits(options),
  );
  await assert.rejects(
    client(service).executeUpdateWithStart("Order", { ...OPTIONS, timeout: 30 }),
    (error) => {
      assert.ok(error instanceof DeadlineExceededError, String(error));
      assert.equal(error.updateId, "u");
      return true;
    },
  );
});

test("an unexpected response is an error, and the call does not hang", async () => {
  const service = new ScriptedService().on("executeMultiOperation", () => ({ responses: [] }));
  await assert.rejects(
    client(service).executeUpdateWithStart("Order", OPTIONS),
    /unexpected response to an update-with-start/,
  );
});
