// Updates and queries of the client against a scripted service: their stages, failures and
// deadlines.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  DeadlineExceededError,
  QueryFailedError,
  QueryRejectedError,
  ServiceError,
  silentLogger,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import {
  ApplicationFailure,
  defaultPayloadConverter,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import { QueryRejectCondition } from "../../../ts/messages/generated/temporal/api/enums/v1/query_pb.ts";
import { WorkflowExecutionStatus } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { ScriptedService, unavailable, waits } from "../../support/scripted_service.ts";

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

test("an update is sent with one id until it is accepted, then polls for the outcome", async () => {
  const service = new ScriptedService()
    .on("updateWorkflowExecution", (request, _options, attempt) => {
      if (attempt === 1) unavailable();
      const updateRef = {
        workflowExecution: { workflowId: "1", runId: "r9" },
        updateId: request.request!.meta!.updateId,
      };
      return { updateRef, stage: attempt === 2 ? Stage.ADMITTED : Stage.ACCEPTED };
    })
    .on(
      "pollWorkflowExecutionUpdate",
      (_request, _options, attempt) =>
        attempt < 3 ? { stage: Stage.ACCEPTED } : {
          stage: Stage.COMPLETED,
          outcome: { value: { case: "success", value: payloads(42) } },
        },
    );
  assert.equal(await client(service).getHandle("W", "1").update("add", { sku: "x" }, 2), 42);
  const asked = service.requests("updateWorkflowExecution");
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked.map((request) => request.request!.meta!.updateId)).size, 1);
  assert.deepEqual(values(asked[0]!.request!.input!.args), [{ sku: "x" }, 2]);
  assert.equal(asked[0]!.waitPolicy!.lifecycleStage, Stage.COMPLETED);
  const polled = service.requests("pollWorkflowExecutionUpdate");
  assert.equal(polled[0]!.updateRef!.workflowExecution!.runId, "r9");
  assert.equal(polled[0]!.updateRef!.updateId, asked[0]!.request!.meta!.updateId);
});

test("startUpdate returns at acceptance; its handle waits for the result once", async () => {
  const service = new ScriptedService()
    .on("updateWorkflowExecution", () => ({ stage: Stage.ACCEPTED }))
    .on(
      "pollWorkflowExecutionUpdate",
      () => ({ outcome: { value: { case: "success", value: payloads("ok") } } }),
    );
  const handle = await client(service).getHandle("W", "1").startUpdate("add", {
    waitFor: "accepted",
    updateId: "u1",
    args: [1],
  });
  assert.equal(handle.updateId, "u1");
  assert.equal(
    service.requests("updateWorkflowExecution")[0]!.waitPolicy!.lifecycleStage,
    Stage.ACCEPTED,
  );
  assert.equal(await handle.result(), "ok");
  assert.equal(await handle.result(), "ok");
  assert.equal(service.requests("pollWorkflowExecutionUpdate").length, 1);
});

test("a failed update and a rejected one are distinguishable", async () => {
  const failure = toFailure(ApplicationFailure.nonRetryable("sold out", { type: "SoldOut" }));
  const service = new ScriptedService()
    .on(
      "updateWorkflowExecution",
      () => ({ stage: Stage.COMPLETED, outcome: { value: { case: "failure", value: failure } } }),
    )
    .on(
      "pollWorkflowExecutionUpdate",
      () => ({ stage: Stage.COMPLETED, outcome: { value: { case: "failure", value: failure } } }),
    );
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.update("add"), (error) => {
    assert.ok(
      error instanceof WorkflowUpdateFailedError && !(error instanceof WorkflowUpdateRejectedError),
    );
    assert.ok(error.cause instanceof ApplicationFailure && error.cause.type === "SoldOut");
    return true;
  });
  service.on("pollWorkflowExecutionUpdate", () => {
    throw new ServiceError(Code.NOT_FOUND, "no such update");
  });
  await assert.rejects(handle.executeUpdate("add", { updateId: "u5" }), (error) => {
    assert.ok(error instanceof WorkflowUpdateRejectedError);
    assert.equal(error.updateId, "u5");
    return true;
  });
});

test("the error of an update past its deadline contains the id for a retry", async () => {
  const service = new ScriptedService().on(
    "updateWorkflowExecution",
    (_request, options) => waits(options),
  );
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.executeUpdate("add", { timeout: 20 }), (error) => {
    assert.ok(error instanceof DeadlineExceededError);
    assert.equal(
      error.updateId,
      service.requests("updateWorkflowExecution")[0]!.request!.meta!.updateId,
    );
    assert.match(error.message, /retry with updateId/);
    return true;
  });
  service
    .on("updateWorkflowExecution", () => ({ stage: Stage.ACCEPTED }))
    .on("pollWorkflowExecutionUpdate", (_request, options) => waits(options));
  await assert.rejects(handle.executeUpdate("add", { timeout: 20, updateId: "mine" }), (error) => {
    assert.ok(error instanceof DeadlineExceededError);
    assert.equal(error.updateId, "mine");
    return true;
  });
});

test("queries: results, rejections, failures", async () => {
  const service = new ScriptedService().on(
    "queryWorkflow",
    () => ({ queryResult: payloads({ phase: "open" }) }),
  );
  const handle = client(service).getHandle("W", "1");
  assert.deepEqual(await handle.query("status", "short"), { phase: "open" });
  assert.deepEqual(values(service.requests("queryWorkflow")[0]!.query!.queryArgs), ["short"]);
  service.on(
    "queryWorkflow",
    () => ({ queryRejected: { status: WorkflowExecutionStatus.FAILED } }),
  );
  await assert.rejects(
    handle.with({ queryRejectCondition: "NOT_COMPLETED_CLEANLY" }).query("status"),
    (error) => error instanceof QueryRejectedError && error.status === "FAILED",
  );
  assert.equal(
    service.requests("queryWorkflow")[1]!.queryRejectCondition,
    QueryRejectCondition.NOT_COMPLETED_CLEANLY,
  );
  service.on("queryWorkflow", () => {
    throw new ServiceError(Code.INVALID_ARGUMENT, 'Unknown query "stats"', "QueryFailed");
  });
  await assert.rejects(
    handle.query("stats"),
    (error) => {
      assert.ok(error instanceof QueryFailedError && /Unknown query/.test(error.message));
      assert.deepEqual([error.name, error.queryType], ["QueryFailedError", "stats"]);
      return true;
    },
  );
});

test("a query without a response ends at its deadline", async () => {
  const service = new ScriptedService().on("queryWorkflow", (_request, options) => waits(options));
  await assert.rejects(
    client(service).getHandle("W", "1").with({ timeout: 20 }).query("status"),
    /query "status" did not complete/,
  );
});
