// Terminating, deleting, resetting and counting against a scripted service: which event a reset
// goes to, and what a repeated request that finds nothing left to do means.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  type ResetOptions,
  ServiceError,
  silentLogger,
  WorkflowNotFoundError,
} from "../../../ts/client/mod.ts";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  ResetReapplyExcludeType,
  ResetReapplyType,
} from "../../../ts/messages/generated/temporal/api/enums/v1/reset_pb.ts";
import { ScriptedService, unavailable } from "../../support/scripted_service.ts";

const client = (service: ScriptedService) =>
  new Client({
    service,
    taskQueue: "q",
    logger: silentLogger,
    identity: "me",
    retry: { initialIntervalMs: 1, maximumIntervalMs: 2 },
  });
const completedAlready = () =>
  new ServiceError(Code.NOT_FOUND, "workflow execution already completed", "NotFound");

function terminatedBy(identity: string, reason: string) {
  const attributes = {
    case: "workflowExecutionTerminatedEventAttributes",
    value: { identity, reason },
  };
  return {
    history: {
      events: [
        { eventId: 5n, eventType: EventType.WORKFLOW_EXECUTION_TERMINATED, attributes } as never,
      ],
    } as never,
  };
}

test("a termination whose response was lost succeeds if it ended the run, and fails if another call did", async () => {
  const repeated = (by: string, reason: string) =>
    new ScriptedService()
      .on("terminateWorkflowExecution", (_request, _options, attempt) => {
        if (attempt === 1) unavailable("the connection was lost");
        throw completedAlready();
      })
      .on("getWorkflowExecutionHistory", () => terminatedBy(by, reason));
  await client(repeated("me", "stuck")).getHandle("Order", "w").terminate("stuck");
  for (const [by, reason] of [["another", "stuck"], ["me", "another reason"]] as const) {
    await assert.rejects(
      client(repeated(by, reason)).getHandle("Order", "w").terminate("stuck"),
      (error) => error instanceof WorkflowNotFoundError,
    );
  }
});

test("a termination that is rejected at once does not read history", async () => {
  const service = new ScriptedService().on("terminateWorkflowExecution", () => {
    throw completedAlready();
  });
  await assert.rejects(
    client(service).getHandle("Order", "w").terminate("stuck"),
    (error) => error instanceof WorkflowNotFoundError,
  );
  assert.equal(service.calls.length, 1);
});

test("a deletion applies to its run, and a repeated deletion reports that it is gone", async () => {
  const service = new ScriptedService().on(
    "deleteWorkflowExecution",
    (_request, _options, attempt) => {
      if (attempt === 1) unavailable();
      throw new ServiceError(Code.NOT_FOUND, "workflow not found", "NotFound");
    },
  );
  await client(service).getHandle("Order", "w", "r").delete();
  const { workflowExecution } = service.requests("deleteWorkflowExecution")[0]!;
  assert.deepEqual([workflowExecution?.workflowId, workflowExecution?.runId], ["w", "r"]);
  const never = new ScriptedService().on("deleteWorkflowExecution", () => {
    throw new ServiceError(Code.NOT_FOUND, "workflow not found", "NotFound");
  });
  await assert.rejects(
    client(never).getHandle("Order", "w").delete(),
    (error) => error instanceof WorkflowNotFoundError,
  );
});

const {
  WORKFLOW_EXECUTION_STARTED,
  WORKFLOW_TASK_SCHEDULED,
  WORKFLOW_TASK_STARTED,
  WORKFLOW_TASK_COMPLETED,
} = EventType;
const event = (eventId: number, eventType: EventType, attributes?: object) =>
  ({ eventId: BigInt(eventId), eventType, ...(attributes && { attributes }) }) as never;
const EVENTS = [
  event(1, WORKFLOW_EXECUTION_STARTED, {
    case: "workflowExecutionStartedEventAttributes",
    value: { continuedExecutionRunId: "before" },
  }),
  event(2, WORKFLOW_TASK_SCHEDULED),
  event(3, WORKFLOW_TASK_STARTED),
  event(4, WORKFLOW_TASK_COMPLETED),
  event(5, EventType.TIMER_STARTED),
  event(6, WORKFLOW_TASK_SCHEDULED),
  event(7, WORKFLOW_TASK_STARTED),
  event(8, WORKFLOW_TASK_COMPLETED),
];

/** A service whose history comes in pages of three events, in either direction. */
function withHistory(events: readonly never[] = EVENTS): ScriptedService {
  const page = (all: readonly never[], token: Uint8Array) => {
    const from = token[0] ?? 0;
    return {
      history: { events: all.slice(from, from + 3) } as never,
      nextPageToken: from + 3 < all.length ? Uint8Array.of(from + 3) : new Uint8Array(0),
    };
  };
  return new ScriptedService()
    .on("getWorkflowExecutionHistory", (request) => page(events, request.nextPageToken))
    .on(
      "getWorkflowExecutionHistoryReverse",
      (request) => page([...events].reverse(), request.nextPageToken),
    )
    .on("describeWorkflowExecution", () => ({
      workflowExecutionInfo: {
        autoResetPoints: {
          points: [
            { buildId: "old", runId: "r0", firstWorkflowTaskCompletedId: 4n, resettable: false },
            { buildId: "new", runId: "r1", firstWorkflowTaskCompletedId: 8n, resettable: true },
          ],
        },
      },
    }))
    .on("resetWorkflowExecution", () => ({ runId: "next" }));
}

test("a reset uses the given event and returns the handle of the new run", async () => {
  const service = withHistory();
  const again = await client(service).getHandle("Order", "w", "r").reset({
    eventId: 8,
    reason: "a bug",
    reapplyExclude: ["SIGNAL", "UPDATE"],
    requestId: "once",
  });
  assert.deepEqual([again.workflowId, again.runId], ["w", "next"]);
  const [request] = service.requests("resetWorkflowExecution");
  assert.deepEqual([request!.workflowExecution?.workflowId, request!.workflowExecution?.runId], [
    "w",
    "r",
  ]);
  assert.equal(request!.workflowTaskFinishEventId, 8n);
  assert.deepEqual([request!.reason, request!.requestId, request!.identity], [
    "a bug",
    "once",
    "me",
  ]);
  assert.equal(request!.resetReapplyType, ResetReapplyType.ALL_ELIGIBLE);
  assert.deepEqual(request!.resetReapplyExcludeTypes, [
    ResetReapplyExcludeType.SIGNAL,
    ResetReapplyExcludeType.UPDATE,
  ]);
});

test("a reset works with a service that reads histories only forward", async () => {
  const forward = withHistory().on("getWorkflowExecutionHistoryReverse", () => {
    throw new ServiceError(Code.UNIMPLEMENTED, "not here");
  });
  const both = withHistory();
  for (const service of [forward, both]) {
    await client(service).getHandle("Order", "w").reset({
      type: "LAST_WORKFLOW_TASK",
      reason: "x",
    });
  }
  const [wanted, got] = [both, forward].map((service) =>
    service.requests("resetWorkflowExecution")[0]!.workflowTaskFinishEventId
  );
  assert.equal(got, wanted);
});

test("a reset keeps its request id over retries", async () => {
  const service = withHistory().on("resetWorkflowExecution", (_request, _options, attempt) => {
    if (attempt === 1) unavailable();
    return { runId: "next" };
  });
  await client(service).getHandle("Order", "w").reset({
    type: "LAST_WORKFLOW_TASK",
    reason: "x",
    reapplyExclude: "ALL",
  });
  const requests = service.requests("resetWorkflowExecution");
  assert.equal(new Set(requests.map((request) => request.requestId)).size, 1);
  assert.notEqual(requests[0]!.requestId, "");
  assert.equal(requests[0]!.resetReapplyExcludeTypes.length, 4);
});

test("each kind of reset point is found in the history, over several pages", async () => {
  const points: [ResetOptions, string, bigint][] = [
    [{ type: "FIRST_WORKFLOW_TASK", reason: "" }, "", 4n],
    [{ type: "LAST_WORKFLOW_TASK", reason: "" }, "", 8n],
    [{ type: "LAST_CONTINUED_AS_NEW", reason: "" }, "before", 8n],
    [{ buildId: "new", reason: "" }, "r1", 8n],
  ];
  for (const [options, runId, eventId] of points) {
    const service = withHistory();
    await client(service).getHandle("Order", "w").reset(options);
    const [request] = service.requests("resetWorkflowExecution");
    assert.deepEqual([request!.workflowExecution?.runId, request!.workflowTaskFinishEventId], [
      runId,
      eventId,
    ]);
  }
  const early = withHistory(EVENTS.slice(0, 3));
  await client(early).getHandle("Order", "w").reset({ type: "LAST_WORKFLOW_TASK", reason: "" });
  assert.equal(
    early.requests("resetWorkflowExecution")[0]!.workflowTaskFinishEventId,
    3n,
    "no task has completed yet",
  );
});

test("where no workflow task has completed, a reset goes to the first one, from whichever end the history is read", async () => {
  const events = [
    event(1, WORKFLOW_EXECUTION_STARTED, {
      case: "workflowExecutionStartedEventAttributes",
      value: {},
    }),
    event(2, WORKFLOW_TASK_SCHEDULED),
    event(3, WORKFLOW_TASK_STARTED),
    event(4, EventType.WORKFLOW_TASK_TIMED_OUT),
    event(5, WORKFLOW_TASK_SCHEDULED),
  ];
  for (const type of ["FIRST_WORKFLOW_TASK", "LAST_WORKFLOW_TASK"] as const) {
    const service = withHistory(events);
    await client(service).getHandle("Order", "w").reset({ type, reason: "" });
    assert.equal(
      service.requests("resetWorkflowExecution")[0]!.workflowTaskFinishEventId,
      3n,
      type,
    );
  }
});

test("a history is read from its end without a token first, and a refusal to read it ends the reset", async () => {
  const service = withHistory();
  await client(service).getHandle("Order", "w").reset({ type: "LAST_WORKFLOW_TASK", reason: "" });
  assert.equal(service.requests("getWorkflowExecutionHistoryReverse")[0]!.nextPageToken.length, 0);
  const refusing = withHistory().on("getWorkflowExecutionHistoryReverse", () => {
    throw new ServiceError(Code.PERMISSION_DENIED, "not for you");
  });
  await assert.rejects(
    client(refusing).getHandle("Order", "w").reset({ type: "LAST_WORKFLOW_TASK", reason: "" }),
    /not for you/,
  );
  assert.equal(refusing.requests("resetWorkflowExecution").length, 0);
});

test("invalid reset points are rejected with the reason", async () => {
  const reset = (options: object, service = withHistory()) =>
    client(service).getHandle("Order", "w").reset({ reason: "", ...options } as ResetOptions);
  await assert.rejects(reset({}), /needs exactly one of eventId, type and buildId/);
  await assert.rejects(
    reset({ eventId: 4, type: "LAST_WORKFLOW_TASK" }),
    /needs exactly one of eventId, type and buildId/,
  );
  await assert.rejects(reset({ eventId: 0 }), /an integer of at least 1/);
  await assert.rejects(reset({ eventId: 1.5 }), /an integer of at least 1/);
  await assert.rejects(reset({ type: "Sometime" }), /FIRST_WORKFLOW_TASK, LAST_WORKFLOW_TASK/);
  await assert.rejects(reset({ buildId: "old" }), /no reset point of build "old".* of new/);
  await assert.rejects(
    reset({ type: "FIRST_WORKFLOW_TASK" }, withHistory(EVENTS.slice(0, 1))),
    /has no completed workflow task/,
  );
  const fresh = [
    event(1, WORKFLOW_EXECUTION_STARTED, {
      case: "workflowExecutionStartedEventAttributes",
      value: {},
    }),
  ];
  await assert.rejects(
    reset({ type: "LAST_CONTINUED_AS_NEW" }, withHistory(fresh)),
    /this run was not continued from another run/,
  );
});

test("counts are returned in total, in groups, and by status", async () => {
  const keyword = (value: string) => defaultPayloadConverter.toPayload(value);
  const service = new ScriptedService().on("countWorkflowExecutions", ({ query }) => ({
    count: 6n,
    groups: !query.includes("GROUP BY") ? [] : [
      { groupValues: [keyword("Running")], count: 1n },
      { groupValues: [keyword("ContinuedAsNew")], count: 2n },
      { groupValues: [keyword("Frozen")], count: 3n },
    ],
  }));
  const counting = client(service);
  assert.equal(await counting.count("WorkflowType = 'Order'"), 6);
  const groups = await counting.countGroups("WorkflowType = 'Order' GROUP BY ExecutionStatus");
  assert.deepEqual(groups.groups[1], { values: ["ContinuedAsNew"], count: 2 });
  assert.deepEqual(await counting.countByStatus("WorkflowType = 'Order'"), {
    RUNNING: 1,
    CONTINUED_AS_NEW: 2,
    UNKNOWN: 3,
  });
  await counting.countByStatus();
  const queries = service.requests("countWorkflowExecutions").map((request) => request.query);
  assert.deepEqual(queries.slice(2), [
    "WorkflowType = 'Order' GROUP BY ExecutionStatus",
    "GROUP BY ExecutionStatus",
  ]);
  await assert.rejects(counting.countByStatus("GROUP BY ExecutionStatus"), /adds its own GROUP BY/);
});
