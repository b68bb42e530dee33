// What describe shows of a response, field by field, also where a service says what this version
// does not know.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import {
  ApplicationFailure,
  defaultPayloadConverter,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { WorkflowExecutionStatus } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const at = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 500_000_000 });
const date = (seconds: number) => new Date(seconds * 1000 + 500);
/** Of no enum. */
const ODD = 99;

async function describe(response: object) {
  const service = new ScriptedService().on("describeWorkflowExecution", () => response);
  return await new Client({ service, taskQueue: "q", logger: silentLogger }).getHandle(
    undefined,
    "w",
  ).describe();
}

const givenActivities = [
  {
    activityId: "5",
    activityType: { name: "charge" },
    state: 2,
    attempt: 3,
    maximumAttempts: 4,
    scheduledTime: at(3),
    lastStartedTime: at(4),
    lastHeartbeatTime: at(5),
    heartbeatDetails: { payloads: [payload("half"), payload("other")] },
    lastFailure: toFailure(new ApplicationFailure("no", { type: "T" }), defaultPayloadConverter),
    lastWorkerIdentity: "me",
  },
  { activityId: "6", state: ODD },
  {
    activityId: "10",
    activityType: { name: "procedure:approve" },
    state: 1,
    scheduledTime: at(3),
    expirationTime: at(6),
  },
  { activityId: "9", activityType: { name: "procedure:approve" }, state: 1, scheduledTime: at(3) },
];

test("a description contains everything that the service reports about a run", async () => {
  const time = payload("2026-01-02T03:04:05.000Z");
  const description = await describe({
    executionConfig: {
      taskQueue: { name: "from config" },
      workflowExecutionTimeout: { seconds: 60n },
      workflowRunTimeout: { seconds: 0n },
      defaultWorkflowTaskTimeout: { seconds: 10n, nanos: 5_000_000 },
    },
    workflowExtendedInfo: { cancelRequested: true },
    workflowExecutionInfo: {
      execution: { workflowId: "w", runId: "r" },
      type: { name: "W" },
      status: WorkflowExecutionStatus.RUNNING,
      startTime: at(1),
      executionTime: at(2),
      historyLength: 7n,
      historySizeBytes: 700n,
      parentExecution: { workflowId: "p", runId: "pr" },
      firstRunId: "first",
      memo: { fields: { note: payload("a note") } },
      searchAttributes: {
        indexedFields: {
          Due: {
            ...time,
            metadata: { ...time.metadata, type: new TextEncoder().encode("Datetime") },
          },
          Plain: time,
        },
      },
    },
    pendingActivities: givenActivities,
    pendingChildren: [
      { workflowId: "c", runId: "cr", workflowTypeName: "C", parentClosePolicy: 2 },
      { parentClosePolicy: ODD },
    ],
    pendingWorkflowTask: { state: 1, attempt: 2, scheduledTime: at(6) },
  });
  const {
    raw: _raw,
    rawDescription: _all,
    typedSearchAttributes: _typed,
    pendingActivities,
    ...shown
  } = description;
  assert.deepEqual(shown, {
    workflowId: "w",
    runId: "r",
    type: "W",
    status: "RUNNING",
    taskQueue: "from config",
    startTime: date(1),
    closeTime: undefined,
    executionTime: date(2),
    historyLength: 7,
    historySizeBytes: 700,
    parent: { workflowId: "p", runId: "pr" },
    firstRunId: "first",
    memo: { note: "a note" },
    searchAttributes: {
      Due: new Date("2026-01-02T03:04:05.000Z"),
      Plain: "2026-01-02T03:04:05.000Z",
    },
    cancelRequested: true,
    paused: undefined,
    executionTimeoutMs: 60_000,
    runTimeoutMs: undefined,
    taskTimeoutMs: 10_005,
    pendingProcedures: [
      { name: "approve", id: "9", since: date(3), expires: undefined },
      { name: "approve", id: "10", since: date(3), expires: date(6) },
    ],
    pendingChildren: [
      { workflowId: "c", runId: "cr", workflowType: "C", parentClosePolicy: "ABANDON" },
      { workflowId: "", runId: "", workflowType: "", parentClosePolicy: "UNKNOWN" },
    ],
    pendingWorkflowTask: {
      state: "SCHEDULED",
      attempt: 2,
      scheduledTime: date(6),
      startedTime: undefined,
    },
  });
  const [first, second] = pendingActivities;
  assert.equal(pendingActivities.length, 2, "procedures stand by themselves");
  const { lastFailure, ...rest } = first!;
  assert.equal(lastFailure?.message, "no");
  assert.deepEqual(rest, {
    activityId: "5",
    activityType: "charge",
    state: "STARTED",
    attempt: 3,
    maximumAttempts: 4,
    scheduledTime: date(3),
    lastStartedTime: date(4),
    lastHeartbeatTime: date(5),
    heartbeatDetails: "half",
    lastWorkerIdentity: "me",
  });
  assert.equal(second!.state, "UNKNOWN");
  assert.equal(second!.activityType, "");
  assert.equal(second!.lastFailure, undefined);
});

test("a sparse description contains the known fields", async () => {
  const little = await describe({
    workflowExecutionInfo: { status: ODD },
    pendingWorkflowTask: { state: ODD },
  });
  const {
    workflowId,
    runId,
    type,
    status,
    taskQueue,
    parent,
    memo,
    cancelRequested,
    executionTimeoutMs,
  } = little;
  assert.deepEqual(
    {
      workflowId,
      runId,
      type,
      status,
      taskQueue,
      parent,
      memo,
      cancelRequested,
      executionTimeoutMs,
    },
    {
      ...{
        workflowId: "",
        runId: "",
        type: "",
        status: "UNKNOWN",
        taskQueue: "",
        parent: undefined,
        memo: {},
      },
      ...{ cancelRequested: false, executionTimeoutMs: undefined },
    },
  );
  assert.equal(little.pendingWorkflowTask!.state, "UNKNOWN");
  assert.equal((await describe({ workflowExecutionInfo: { taskQueue: "own" } })).taskQueue, "own");
  assert.equal((await describe({ workflowExecutionInfo: {} })).pendingWorkflowTask, undefined);
});
