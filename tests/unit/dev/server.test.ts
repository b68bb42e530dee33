// The server of `temporalex dev`, in this process: what it says about itself, what it does not
// have, calls that only servers have.
// process: own (its support module has one server)
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, equals, toBinary } from "@bufbuild/protobuf";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { namespaceField } from "../../../ts/api/request_namespace.ts";
import {
  DescribeNamespaceResponseSchema,
  PollWorkflowTaskQueueRequestSchema,
  StartWorkflowExecutionRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { Code, POLLED_QUEUES, ServiceError } from "../../../ts/service/raw.ts";
import { METHOD_NAMES } from "../../../ts/api/raw_methods.ts";
import { grpc, service, typed } from "./support/dev_server.ts";

const matchesError = (code: number, message: RegExp) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && message.test(error.message);

test("the status of a task queue is returned on request", async () => {
  const asked = {
    namespace: "default",
    taskQueue: { name: "unpolled" },
    includeTaskQueueStatus: true,
  };
  const { taskQueueStatus } = await typed().describeTaskQueue(asked);
  assert.deepEqual([taskQueueStatus?.backlogCountHint, taskQueueStatus?.taskIdBlock?.startId], [
    0n,
    1n,
  ]);
  assert.equal(
    (await typed().describeTaskQueue({ ...asked, includeTaskQueueStatus: false })).taskQueueStatus,
    undefined,
  );
});

test("hand-written encoding and decoding agree with the generated messages", async () => {
  for (const [name, { input }] of Object.entries(WorkflowService.method)) {
    const number = input.fields.find((field) => field.name === "namespace")?.number ?? 0;
    assert.equal(namespaceField(name as keyof typeof WorkflowService.method) >>> 3, number, name);
  }
  assert.deepEqual([...METHOD_NAMES].sort(), Object.keys(WorkflowService.method).sort());
  const namespace = await typed().describeNamespace({ namespace: "orders" });
  const expected = create(DescribeNamespaceResponseSchema, {
    namespaceInfo: {
      name: "orders",
      id: "orders",
      state: 1,
      description: "embedded engine",
      capabilities: {
        syncUpdate: true,
        asyncUpdate: true,
        workerPollCompleteOnShutdown: true,
        standaloneActivities: true,
        workerHeartbeats: true,
      },
    },
    config: {
      workflowExecutionRetentionTtl: {},
      historyArchivalState: 1,
      visibilityArchivalState: 1,
    },
    replicationConfig: {
      activeClusterName: "temporalex",
      clusters: [{ clusterName: "temporalex" }],
    },
  });
  assert.ok(equals(DescribeNamespaceResponseSchema, namespace, expected));
});

test("system info describes the server and lists only supported capabilities", async () => {
  const { capabilities } = await typed().getSystemInfo({});
  assert.deepEqual(
    Object.entries(capabilities!).filter(([, value]) => value === true).map(([name]) => name)
      .sort(),
    [
      "activityFailureIncludeHeartbeat",
      "countGroupByExecutionStatus",
      "eagerWorkflowStart",
      "encodedFailureAttributes",
      "internalErrorDifferentiation",
      "nexus",
      "sdkMetadata",
      "signalAndQueryHeader",
      "supportsSchedules",
      "upsertMemo",
    ],
  );
  const cluster = await typed().getClusterInfo({});
  assert.deepEqual([cluster.clusterName, cluster.persistenceStore, cluster.historyShardCount], [
    "temporalex",
    "memory",
    1,
  ]);
  const { keys } = await typed().getSearchAttributes({});
  assert.ok("WorkflowType" in keys && !("Custom" in keys));
  // What visibility queries know is what it claims.
  for (const name of Object.keys(keys)) {
    await typed().countWorkflowExecutions({ namespace: "default", query: `${name} IS NOT NULL` });
  }
});

test("an unsupported method fails with UNIMPLEMENTED and what to use instead, in each protocol", async () => {
  const path = "/temporal.api.workflowservice.v1.WorkflowService/";
  for (
    const [method, words] of [
      ["FetchWorkerConfig", /configuration of workers/],
      ["ListWorkflowRules", /workflow rules/],
      ["StartNexusOperationExecution", /Nexus operations without a workflow/],
      ["SomethingNew", /does not have SomethingNew/],
    ] as const
  ) {
    const answer = await grpc(path + method);
    assert.deepEqual([answer.http, answer.status], [200, String(Code.UNIMPLEMENTED)], method);
    assert.match(answer.message, words);
  }
  const other = await grpc("/acme.Service/Do");
  assert.deepEqual([other.status, other.message], [
    "12",
    "temporalex dev does not have the service acme.Service",
  ]);
  assert.equal((await grpc("/")).http, 404);
  const operator = await grpc("/temporal.api.operatorservice.v1.OperatorService/ListClusters");
  assert.equal(operator.status, "12");
  assert.match(operator.message, /other clusters/);
});

test("history is read backward in pages; page tokens of another run are rejected", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "backwards" });
  for (let i = 0; i < 5; i++) await handle.signal("go", i);
  const execution = { workflowId: "backwards", runId: "" };
  const pages: string[][] = [];
  let nextPageToken = new Uint8Array(0);
  do {
    const page = await typed().getWorkflowExecutionHistoryReverse({
      namespace: "default",
      execution,
      maximumPageSize: 3,
      nextPageToken,
    });
    pages.push(page.history!.events.map(({ eventId }) => String(eventId)));
    nextPageToken = page.nextPageToken as Uint8Array<ArrayBuffer>;
  } while (nextPageToken.length > 0);
  assert.deepEqual(pages, [["7", "6", "5"], ["4", "3", "2"], ["1"]]);
  await assert.rejects(
    typed().getWorkflowExecutionHistoryReverse({
      namespace: "default",
      execution,
      nextPageToken: new Uint8Array([1]),
    }),
    /invalid nextPageToken/,
  );
  await assert.rejects(
    typed().getWorkflowExecutionHistoryReverse({
      namespace: "default",
      execution: { workflowId: "absent" },
    }),
    /not found for ID: absent/,
  );
});

test("delete removes a closed run, ends an open run first, and makes an older run the latest", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const first = await client.start("Work", { id: "twice" });
  await first.terminate();
  const second = await client.start("Work", { id: "twice" });
  const following = second.result().then(() => "result", (error: Error) => error.message);
  const current = async () =>
    (await typed().describeWorkflowExecution({
      namespace: "default",
      execution: { workflowId: "twice" },
    })).workflowExecutionInfo;
  assert.equal((await current())?.execution?.runId, second.runId);
  await typed().deleteWorkflowExecution({
    namespace: "default",
    workflowExecution: { workflowId: "twice" },
  });
  assert.match(await following, /terminated|not found/, "the waiting call gets the end");
  assert.equal((await current())?.execution?.runId, first.runId);
  await assert.rejects(client.getHandle("Work", "twice", second.runId).historyBytes(), /not found/);
  await typed().deleteWorkflowExecution({
    namespace: "default",
    workflowExecution: { workflowId: "twice", runId: first.runId! },
  });
  await assert.rejects(current(), /not found/);
  await assert.rejects(
    typed().deleteWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: "twice" },
    }),
    /not found for ID: twice/,
  );
  await assert.rejects(
    typed().deleteWorkflowExecution({ namespace: "default" }),
    /WorkflowId is not set/,
  );
  // The id is free again.
  await client.start("Work", { id: "twice", idReusePolicy: "REJECT_DUPLICATE" });
});

test("update-with-start is rejected as a whole and names the operation that failed", async () => {
  const client = new Client({ service, taskQueue: "pairs", logger: silentLogger });
  const options = { id: "pair", update: "add", updateArgs: [1], timeout: 1000 };
  // The queue has no worker: the workflow exists, and its update waits.
  await assert.rejects(
    client.executeUpdateWithStart("Work", { ...options, updateId: "u" }),
    /deadline|within/i,
  );
  const { status, taskQueue } = await client.getHandle("Work", "pair").describe();
  assert.deepEqual([status, taskQueue], ["RUNNING", "pairs"]);
  await assert.rejects(
    client.executeUpdateWithStart("Work", { ...options, idConflictPolicy: "FAIL" }),
    (error: Error) => error.name === "WorkflowExecutionAlreadyStartedError",
  );
  const start = {
    case: "startWorkflow" as const,
    value: create(StartWorkflowExecutionRequestSchema, { workflowId: "other" }),
  };
  const update = {
    case: "updateWorkflow" as const,
    value: create(UpdateWorkflowExecutionRequestSchema, {}),
  };
  for (const operations of [[], [start], [update, start], [start, update, update]]) {
    const request = {
      namespace: "default",
      operations: operations.map((operation) => ({ operation })),
    };
    await assert.rejects(typed().executeMultiOperation(request), /exactly \[Start, Update\]/);
  }
  const both = { namespace: "default", operations: [{ operation: start }, { operation: update }] };
  await assert.rejects(
    typed().executeMultiOperation(both),
    /could not be executed: WorkflowType is not set/,
  );
  await assert.rejects(client.getHandle("Work", "other").describe(), /not found/);
});

test("describeTaskQueue lists the pollers of a queue", async () => {
  const poll = create(PollWorkflowTaskQueueRequestSchema, {
    namespace: "default",
    taskQueue: { name: "polled" },
    identity: "worker-7",
  });
  await assert.rejects(
    service.call("pollWorkflowTaskQueue", toBinary(PollWorkflowTaskQueueRequestSchema, poll), {
      timeoutMs: 500,
    }),
    matchesError(Code.DEADLINE_EXCEEDED, /./),
  );
  const plain = await typed().describeTaskQueue({
    namespace: "default",
    taskQueue: { name: "polled" },
  });
  assert.deepEqual(plain.pollers.map(({ identity }) => identity), ["worker-7"]);
  // For the warning of a client that waits in vain (tests/unit/client/no_worker.test.ts).
  const queues = plain.$unknown?.map((
    { no, data },
  ) => [no, new TextDecoder().decode(data.subarray(1))]);
  assert.deepEqual(queues, [[POLLED_QUEUES, '["polled"]']]);
  const { versionsInfo } = await typed().describeTaskQueue({
    namespace: "default",
    taskQueue: { name: "polled" },
    apiMode: 1,
  });
  assert.deepEqual(versionsInfo[""]!.typesInfo[1]!.pollers.map(({ identity }) => identity), [
    "worker-7",
  ]);
  assert.deepEqual(versionsInfo[""]!.typesInfo[2]!.pollers, []);
  await assert.rejects(typed().describeTaskQueue({ namespace: "default" }), /TaskQueue is not set/);
  const client = new Client({ service, taskQueue: "waiting", logger: silentLogger });
  for (const id of ["w1", "w2"]) await client.start("Work", { id });
  const waiting = await typed().describeTaskQueue({
    namespace: "default",
    taskQueue: { name: "waiting" },
    reportStats: true,
  });
  assert.equal(waiting.stats?.approximateBacklogCount, 2n);
});
