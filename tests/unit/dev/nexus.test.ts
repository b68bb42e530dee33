// Nexus in the process of `temporalex dev`: endpoints, operations, retries, timeouts, cancellation,
// callbacks and restarts, with raw calls. The same with official workers on both servers:
// tests/system/interop/nexus.test.ts and nexus_callers.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NexusHandlerErrorRetryBehavior } from "../../../ts/messages/generated/temporal/api/enums/v1/nexus_pb.ts";
import { MemoryStore } from "../../../ts/engine/mod.ts";
import {
  type Command,
  complete,
  encoded,
  nameOf,
  NexusSession,
  schedule,
} from "../../support/nexus_session.ts";

const text = (payload: { data: Uint8Array } | undefined) =>
  JSON.parse(new TextDecoder().decode(payload!.data));
const sync = (value: unknown) => ({
  variant: { case: "syncSuccess" as const, value: { payload: encoded(value) } },
});
const async = (operationToken: string) => ({
  variant: { case: "asyncSuccess" as const, value: { operationToken } },
});

/** A session whose workflow has scheduled an operation (event 5). */
async function calling(more: object = {}): Promise<NexusSession> {
  const session = await NexusSession.open();
  session.endpoint();
  await session.start();
  await session.task([schedule(more)]);
  return session;
}

/** A workflow of the handler's namespace that completes the operation of a request. */
async function startHandler(
  session: NexusSession,
  // deno-lint-ignore no-explicit-any
  { value }: any,
): Promise<void> {
  const { callback: url, callbackHeader: header, requestId } = value;
  await session.start("handler", {
    requestId,
    completionCallbacks: [{ variant: { case: "nexus", value: { url, header } } }],
    links: [{
      variant: {
        case: "workflowEvent",
        value: { namespace: "default", workflowId: "caller", runId: "r" },
      },
    }],
  }, "orders");
}

test("nexus in process: an operation of another namespace completes with its result", async () => {
  const session = await calling();
  const request = await session.request();
  assert.equal(request.case, "startOperation");
  const { service, operation, payload, callback, links, requestId } = request.value;
  assert.deepEqual([service, operation, text(payload), callback], [
    "payments",
    "charge",
    { cents: 5 },
    "temporal://system",
  ]);
  assert.match(links[0].url, /^temporal:\/\/\/namespaces\/default\/workflows\/caller\/.*eventID=5/);
  await session.respond(request.token, sync("paid"));
  const ended = await session.until("NEXUS_OPERATION_COMPLETED");
  assert.ok(ended.attributes.case === "nexusOperationCompletedEventAttributes");
  assert.equal(text(ended.attributes.value.result), "paid");
  assert.equal(ended.attributes.value.requestId, requestId);
  assert.deepEqual((await session.events()).map(nameOf), [
    "WORKFLOW_EXECUTION_STARTED",
    "WORKFLOW_TASK_SCHEDULED",
    "WORKFLOW_TASK_STARTED",
    "WORKFLOW_TASK_COMPLETED",
    "NEXUS_OPERATION_SCHEDULED",
    "NEXUS_OPERATION_COMPLETED",
    "WORKFLOW_TASK_SCHEDULED",
  ]);
  await assert.rejects(session.respond(request.token, sync("again")), /not found or already/);
  const { capabilities } = await session.call("getSystemInfo", {});
  assert.equal(capabilities.nexus, true);
  await session.close();
});

test("nexus in process: an asynchronous operation ends with its workflow", async () => {
  const session = await calling();
  const request = await session.request();
  await startHandler(session, request);
  await session.respond(request.token, async("token"));
  await session.until("NEXUS_OPERATION_STARTED");
  const { pendingNexusOperations: [pending] } = await session.call("describeWorkflowExecution", {
    execution: { workflowId: "caller" },
  });
  assert.deepEqual([pending.endpoint, pending.operationToken, pending.state], [
    "billing",
    "token",
    3,
  ]);
  const [started] = await session.events("handler", "orders");
  assert.equal(started!.links.length, 1);
  await session.task([complete("shipped")], "orders");
  const ended = await session.until("NEXUS_OPERATION_COMPLETED");
  assert.ok(ended.attributes.case === "nexusOperationCompletedEventAttributes");
  assert.equal(text(ended.attributes.value.result), "shipped");
  let state = 0;
  for (let round = 0; state !== 5 && round < 500; round++) {
    const { callbacks } = await session.call("describeWorkflowExecution", {
      execution: { workflowId: "handler" },
    }, "orders");
    state = callbacks[0].state;
  }
  assert.equal(state, 5, "the callback succeeded");
  await session.close();
});

test("nexus in process: a callback that is faster than the response starts the operation", async () => {
  const session = await calling();
  const request = await session.request();
  await startHandler(session, request);
  await session.task([complete("at once")], "orders");
  await session.until("NEXUS_OPERATION_COMPLETED");
  const names = (await session.events()).map(nameOf);
  assert.deepEqual(names.slice(4), [
    "NEXUS_OPERATION_SCHEDULED",
    "NEXUS_OPERATION_STARTED",
    "NEXUS_OPERATION_COMPLETED",
    "WORKFLOW_TASK_SCHEDULED",
  ]);
  await session.respond(request.token, async("late"));
  assert.equal(
    (await session.events()).filter((e) => nameOf(e) === "NEXUS_OPERATION_STARTED").length,
    1,
  );
  await session.close();
});

test("nexus in process: retryable errors are retried with the same request id", async () => {
  const session = await calling();
  const first = await session.request();
  await session.call("respondNexusTaskFailed", {
    taskToken: first.token,
    error: { errorType: "INTERNAL", failure: { message: "try later" } },
  }, "orders");
  let pending;
  do {
    const described = await session.call("describeWorkflowExecution", {
      execution: { workflowId: "caller" },
    });
    pending = described.pendingNexusOperations[0];
  } while (pending.attempt === 0);
  assert.equal(pending.state, 2);
  assert.equal(pending.lastAttemptFailure.message, "handler error (INTERNAL): try later");
  session.clock.advanceBy(1_000);
  const second = await session.request();
  assert.equal(second.value.requestId, first.value.requestId);
  await session.respond(second.token, sync("paid"));
  await session.until("NEXUS_OPERATION_COMPLETED");
  await session.close();
});

test("nexus in process: final errors and failed operations fail the operation", async () => {
  const rejected = await calling();
  const request = await rejected.request();
  await rejected.call("respondNexusTaskFailed", {
    taskToken: request.token,
    error: {
      errorType: "INTERNAL",
      failure: { message: "never" },
      retryBehavior: NexusHandlerErrorRetryBehavior.NON_RETRYABLE,
    },
  }, "orders");
  const ended = await rejected.until("NEXUS_OPERATION_FAILED");
  assert.ok(ended.attributes.case === "nexusOperationFailedEventAttributes");
  const { failure } = ended.attributes.value;
  assert.equal(failure?.message, "nexus operation completed unsuccessfully");
  assert.equal(failure?.cause?.failureInfo.case, "nexusHandlerFailureInfo");
  assert.equal(failure?.cause?.cause?.message, "never");
  await rejected.close();
  for (const operationState of ["failed", "canceled"]) {
    const session = await calling();
    await session.respond((await session.request()).token, {
      variant: {
        case: "operationError",
        value: { operationState, failure: { message: "no money" } },
      },
    });
    const event = await session.until(`NEXUS_OPERATION_${operationState.toUpperCase()}`);
    const { failure } = event.attributes.value as {
      failure: { cause: { message: string; failureInfo: { case: string } } };
    };
    assert.equal(failure.cause.message, "no money");
    assert.equal(
      failure.cause.failureInfo.case,
      operationState === "failed" ? "applicationFailureInfo" : "canceledFailureInfo",
    );
    await session.close();
  }
});

test("nexus in process: operations time out", async () => {
  const seconds = (value: number) => ({ seconds: BigInt(value), nanos: 0 });
  const cases = [
    [{ scheduleToCloseTimeout: seconds(5) }, false, 3],
    [{ scheduleToStartTimeout: seconds(5) }, false, 2],
    [{ startToCloseTimeout: seconds(5) }, true, 1],
  ] as const;
  for (const [timeouts, starts, timeoutType] of cases) {
    const session = await calling(timeouts);
    const request = await session.request();
    if (starts) {
      await session.respond(request.token, async("t"));
      await session.until("NEXUS_OPERATION_STARTED");
    }
    session.clock.advanceBy(5_000);
    const event = await session.until("NEXUS_OPERATION_TIMED_OUT");
    assert.ok(event.attributes.case === "nexusOperationTimedOutEventAttributes");
    const { cause } = event.attributes.value.failure!;
    assert.ok(cause?.failureInfo.case === "timeoutFailureInfo");
    assert.equal(cause.failureInfo.value.timeoutType as number, timeoutType);
    await session.close();
  }
});

test("nexus in process: a cancellation reaches the handler once the operation has started", async () => {
  const session = await calling();
  const request = await session.request();
  await session.call("signalWorkflowExecution", {
    workflowExecution: { workflowId: "caller" },
    signalName: "cancel",
  });
  const cancel: Command = {
    commandType: 18,
    attributes: {
      case: "requestCancelNexusOperationCommandAttributes",
      value: { scheduledEventId: 5n },
    },
  };
  await session.task([cancel]);
  await session.until("NEXUS_OPERATION_CANCEL_REQUESTED");
  await startHandler(session, request);
  await session.respond(request.token, async("token"));
  const canceling = await session.request();
  assert.equal(canceling.case, "cancelOperation");
  assert.equal(canceling.value.operationToken, "token");
  await session.call("respondNexusTaskCompleted", {
    taskToken: canceling.token,
    response: { variant: { case: "cancelOperation", value: {} } },
  }, "orders");
  const sent = await session.until("NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED");
  assert.equal(sent.workerMayIgnore, true);
  await session.task([{
    commandType: 7,
    attributes: { case: "cancelWorkflowExecutionCommandAttributes", value: {} },
  }], "orders");
  await session.until("NEXUS_OPERATION_CANCELED");
  await session.task();
  // The end is not pending any more.
  const failed = await session.start("again").then(() => session.task([cancel])).catch((e) => e);
  assert.match(String(failed), /non-existing or already completed operation/);
  await session.close();
});

test("nexus in process: operations and callbacks survive a restart", async () => {
  const stores = { default: new MemoryStore(), orders: new MemoryStore() };
  let session = await NexusSession.open(stores);
  const endpoint = session.endpoint();
  await session.start();
  await session.task([schedule()]);
  const lost = await session.request();
  await session.close();
  session = await NexusSession.open(stores, [endpoint], session.clock);
  const request = await session.request();
  assert.equal(request.value.requestId, lost.value.requestId);
  await startHandler(session, request);
  await session.respond(request.token, async("token"));
  await session.until("NEXUS_OPERATION_STARTED");
  await session.close();
  session = await NexusSession.open(stores, [endpoint], session.clock);
  await session.task([complete("shipped")], "orders");
  const ended = await session.until("NEXUS_OPERATION_COMPLETED");
  assert.ok(ended.attributes.case === "nexusOperationCompletedEventAttributes");
  assert.equal(text(ended.attributes.value.result), "shipped");
  await session.close();
});

test("nexus in process: the callback of a chain of runs is called by the last run", async () => {
  const session = await calling();
  const request = await session.request();
  await startHandler(session, request);
  await session.respond(request.token, async("token"));
  await session.task([{
    commandType: 10,
    attributes: {
      case: "continueAsNewWorkflowExecutionCommandAttributes",
      value: { workflowType: { name: "W" }, taskQueue: { name: "callers" } },
    },
  }], "orders");
  await session.task([complete("second run")], "orders");
  const ended = await session.until("NEXUS_OPERATION_COMPLETED");
  assert.ok(ended.attributes.case === "nexusOperationCompletedEventAttributes");
  assert.equal(text(ended.attributes.value.result), "second run");
  await session.close();
});

test("nexus in process: unknown endpoints and foreign callbacks are rejected", async () => {
  const session = await NexusSession.open();
  await session.start();
  await assert.rejects(session.task([schedule()]), /endpoint "billing" not found/);
  const callback = { variant: { case: "nexus", value: { url: "http://127.0.0.1/back" } } };
  await assert.rejects(
    session.start("other", { completionCallbacks: [callback] }),
    /invalid callback URL "http:\/\/127.0.0.1\/back": only callbacks of Nexus operations/,
  );
  const endpoint = session.endpoint();
  assert.throws(() => session.endpoint(), /already registered/);
  await assert.rejects(session.namespaces.delete("orders"), /target of a Nexus endpoint billing/);
  const { endpoints } = session.namespaces;
  assert.throws(() => endpoints.update(endpoint.id, 7, endpoint), /version mismatch/);
  assert.equal(endpoints.update(endpoint.id, 1, { ...endpoint, taskQueue: "q" }).version, 2);
  endpoints.delete(endpoint.id);
  assert.deepEqual(endpoints.list(), []);
  await session.close();
});
