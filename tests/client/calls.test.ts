// Calls of the client against a scripted service: retries, deadlines, the stages of updates, paging, and the names of errors.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ActivityNotFoundError,
  Client,
  Code,
  DeadlineExceededError,
  NamespaceNotFoundError,
  PayloadTooLargeError,
  QueryFailedError,
  QueryRejectedError,
  ServiceError,
  silentLogger,
  WorkflowContinuedAsNewError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  defaultPayloadConverter,
  TerminatedFailure,
  TimeoutFailure,
  toFailure,
} from "../../ts/converter/mod.ts";
import { EventType } from "../../ts/api/generated/temporal/api/enums/v1/event_type_pb.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../ts/api/generated/temporal/api/enums/v1/update_pb.ts";
import { QueryRejectCondition } from "../../ts/api/generated/temporal/api/enums/v1/query_pb.ts";
import {
  RetryState,
  WorkflowExecutionStatus,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "../../ts/api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetWorkflowExecutionHistoryResponseSchema } from "../../ts/api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { ScriptedService, unavailable, waits } from "../support/scripted_service.ts";
import { together } from "../support/together.ts";

const payloads = (...values: unknown[]) => ({ payloads: values.map((value) => defaultPayloadConverter.toPayload(value)) });
const values = (input: { payloads: { metadata: { [key: string]: Uint8Array }; data: Uint8Array }[] } | undefined) =>
  input?.payloads.map((payload) => defaultPayloadConverter.fromPayload(payload));
const client = (service: ScriptedService) =>
  new Client({ service, taskQueue: "q", logger: silentLogger, retry: { initialIntervalMs: 1, maximumIntervalMs: 2 } });
type Page = MessageInitShape<typeof GetWorkflowExecutionHistoryResponseSchema>;
const closed = (eventType: EventType, attributes: object): Page => ({
  history: { events: [{ eventId: 9n, eventType, attributes } as never] } as never,
});
const completed = (value: unknown, newExecutionRunId = "") =>
  closed(EventType.WORKFLOW_EXECUTION_COMPLETED, {
    case: "workflowExecutionCompletedEventAttributes",
    value: { result: payloads(value), newExecutionRunId },
  });

test("a start carries its options, and a retried one keeps its request id", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", (_request, _options, attempt) => {
    if (attempt < 3) unavailable();
    return { runId: "r1", started: true };
  });
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
  assert.deepEqual(types, { n: "Int", ratio: "Double", on: "Bool", name: "Keyword", at: "Datetime", tags: "KeywordList" });
  assert.equal(defaultPayloadConverter.fromPayload(request.userMetadata!.summary!), "one order");
});

test("retries end after the configured attempts, and other refusals are never retried", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", () => unavailable("still away"));
  const patient = new Client({ service, taskQueue: "q", retry: { initialIntervalMs: 1, maximumAttempts: 4 } });
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

test("a service that has too much to do is asked again, one that is full is not", async () => {
  const busy = (cause: string, reason = "ResourceExhausted") =>
    new ScriptedService().on("startWorkflowExecution", (_request, _options, attempt) => {
      if (attempt < 3) throw new ServiceError(Code.RESOURCE_EXHAUSTED, "too much", reason, { cause });
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

test("a closed engine is not asked again", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", () => {
    throw new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed");
  });
  await assert.rejects(client(service).start("W", { id: "1" }), /the engine is closed/);
  assert.equal(service.calls.length, 1);
});

test("a start without id or queue, or with a bad duration, is refused before anything is sent", async () => {
  const service = new ScriptedService();
  await assert.rejects(client(service).start("W", { id: "" }), /needs an id/);
  for (const method of ["start", "execute"] as const) {
    await assert.rejects(client(service)[method]("W", undefined as never), /the start of workflow W needs an id/);
  }
  await assert.rejects(new Client({ service }).start("W", { id: "1" }), /names no task queue/);
  await assert.rejects(client(service).start("W", { id: "1", runTimeout: "soon" }), /is not a duration/);
  await assert.rejects(client(service).start("W", { id: "1", args: ["x".repeat(3 << 20)] }), PayloadTooLargeError);
  assert.equal(service.calls.length, 0);
});

test("a large argument is warned of, without its content", async () => {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, warn: (message: string, fields?: object) => lines.push(message, fields) };
  const service = new ScriptedService().on("signalWorkflowExecution", () => ({}));
  await new Client({ service, logger }).getHandle("W", "1").signal("big", "secret".repeat(100_000));
  assert.equal(lines.length, 2);
  assert.match(String(lines[0]), /the arguments of signal "big" takes 600\d\d\d bytes/);
  assert.doesNotMatch(JSON.stringify(lines), /secret/);
});

test("an id that is taken has a named error with advice", async () => {
  const service = new ScriptedService().on("startWorkflowExecution", () => {
    throw new ServiceError(Code.ALREADY_EXISTS, "taken", "WorkflowExecutionAlreadyStarted", { run_id: "r7" });
  });
  await assert.rejects(client(service).start("W", { id: "1" }), (error) => {
    assert.ok(error instanceof WorkflowExecutionAlreadyStartedError);
    assert.equal(error.runId, "r7");
    assert.match(error.message, /idConflictPolicy: "USE_EXISTING"/);
    return true;
  });
});

together({
  "whoever waits for a result looks at the run only while a poll hangs, not between two": async () => {
    const began = performance.now();
    const service = new ScriptedService()
      .on("getWorkflowExecutionHistory", () => {
        // Longer than until the first look, at two seconds; each answer comes at once, so most of the time no poll is out.
        if (performance.now() - began < 2_400) return { history: { events: [] }, nextPageToken: Uint8Array.of(1) };
        return completed("done");
      })
      .on("describeWorkflowExecution", () => ({ workflowExecutionInfo: { status: WorkflowExecutionStatus.RUNNING } }));
    assert.equal(await client(service).getHandle(undefined, "w", "r1").result(), "done");
    assert.equal(service.requests("describeWorkflowExecution").length, 0);
  },

  "a poll that waits for the end of a run that is closed is sent again, and one of an open run stays": async () => {
    // A server on a busy machine may have told of the end before the poll could hear it.
    const missed = new ScriptedService()
      .on("getWorkflowExecutionHistory", (_request, options, attempt) => attempt === 1 ? waits(options) : completed("missed"))
      .on("describeWorkflowExecution", () => ({ workflowExecutionInfo: { status: WorkflowExecutionStatus.COMPLETED } }));
    /** A run whose end comes a moment after the look. */
    const waited = (value: string, describe: () => WorkflowExecutionStatus) => {
      let end: (page: Page) => void;
      const page = new Promise<Page>((resolve) => end = resolve);
      return new ScriptedService().on("getWorkflowExecutionHistory", () => page).on("describeWorkflowExecution", () => {
        setTimeout(() => end(completed(value)), 20);
        return { workflowExecutionInfo: { status: describe() } };
      });
    };
    const open = waited("open", () => WorkflowExecutionStatus.RUNNING);
    const away = waited("not described", () => {
      throw new ServiceError(Code.INTERNAL, "nobody looks here");
    });
    const result = (service: ScriptedService) => client(service).getHandle("W", "1", "r1").result();
    assert.deepEqual(await Promise.all([missed, open, away].map(result)), ["missed", "open", "not described"]);
    const methods = ({ calls }: ScriptedService) => calls.map(({ method }) => method.replace(/WorkflowExecution.*$/, ""));
    assert.deepEqual([missed, open, away].map(methods), [["get", "describe", "get"], ["get", "describe"], ["get", "describe"]]);
    assert.equal(missed.requests("describeWorkflowExecution")[0]!.execution!.runId, "r1");
  },

  "who gives up while a poll is doubted hears why": async () => {
    const stop = new AbortController();
    const silent = () => new ScriptedService().on("getWorkflowExecutionHistory", (_request, options) => waits(options));
    const late = silent().on("describeWorkflowExecution", (_request, options) => waits(options));
    const doubting = silent().on("describeWorkflowExecution", (_request, options) => {
      setTimeout(() => stop.abort(new Error("enough")), 10);
      return waits(options);
    });
    const handle = (service: ScriptedService) => client(service).getHandle("W", "1");
    await Promise.all([
      assert.rejects(handle(doubting).result({ signal: stop.signal }), /enough/),
      assert.rejects(handle(late).result({ timeout: 2500 }), DeadlineExceededError),
    ]);
    assert.deepEqual(doubting.calls.map(({ method }) => method), ["getWorkflowExecutionHistory", "describeWorkflowExecution"]);
  },

  "a service that says nothing at once, over and over, does not make the client spin": async () => {
    const service = new ScriptedService()
      .on("getWorkflowExecutionHistory", () => ({ nextPageToken: new Uint8Array([1]) }))
      .on("updateWorkflowExecution", () => ({ stage: Stage.ADMITTED }));
    const handle = client(service).getHandle("W", "1");
    await assert.rejects(handle.result({ timeout: 300 }), DeadlineExceededError);
    await assert.rejects(handle.executeUpdate("add", { timeout: 300 }), DeadlineExceededError);
    await assert.rejects(async () => {
      for await (const _event of handle.history({ follow: true, timeout: 300 }));
    }, DeadlineExceededError);
    assert.ok(service.calls.length < 60, `${service.calls.length} calls in about a second`);
  },
});

test("a history whose pages are empty at first is read from where the service says, not from its start again", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", ({ nextPageToken }) => {
    if (nextPageToken.length === 0) return { history: { events: [] }, nextPageToken: Uint8Array.of(1) };
    if (nextPageToken[0] === 1) return { history: { events: [{ eventId: 1n }] as never }, nextPageToken: Uint8Array.of(2) };
    return { history: { events: [{ eventId: 2n }] as never } };
  });
  const { events } = await client(service).getHandle(undefined, "w").fetchHistory({ timeout: "5s" });
  assert.deepEqual(events.map(({ eventId }) => eventId), [1n, 2n]);
  assert.deepEqual(service.requests("getWorkflowExecutionHistory").map((request) => [...request.nextPageToken]), [[], [1], [2]]);
});

test("unknown workflows and namespaces have named errors", async () => {
  const service = new ScriptedService()
    .on("signalWorkflowExecution", () => {
      throw new ServiceError(Code.NOT_FOUND, "workflow not found");
    })
    .on("describeWorkflowExecution", () => {
      throw new ServiceError(Code.NOT_FOUND, "namespace not found", "NamespaceNotFound");
    });
  const handle = client(service).getHandle(undefined, "1", "r");
  await assert.rejects(handle.signal("go"), (error) => error instanceof WorkflowNotFoundError && error.runId === "r");
  await assert.rejects(handle.describe(), NamespaceNotFoundError);
});

test("a result follows continue-as-new, retries and cron, through empty long polls", async () => {
  const chain: { [run: string]: Page[] } = {
    r1: [
      { nextPageToken: new Uint8Array([1]) },
      closed(EventType.WORKFLOW_EXECUTION_CONTINUED_AS_NEW, {
        case: "workflowExecutionContinuedAsNewEventAttributes",
        value: { newExecutionRunId: "r2" },
      }),
    ],
    r2: [closed(EventType.WORKFLOW_EXECUTION_FAILED, {
      case: "workflowExecutionFailedEventAttributes",
      value: { failure: toFailure(new Error("once")), newExecutionRunId: "r3" },
    })],
    r3: [{}, {}, completed({ total: 3 })],
  };
  const service = new ScriptedService()
    .on("startWorkflowExecution", () => ({ runId: "r1" }))
    .on("getWorkflowExecutionHistory", (request) => chain[request.execution!.runId]!.shift()!);
  assert.deepEqual(await client(service).execute("W", { id: "1" }), { total: 3 });
  const polls = service.requests("getWorkflowExecutionHistory");
  assert.deepEqual(polls.map((poll) => poll.execution!.runId), ["r1", "r1", "r2", "r3", "r3", "r3"]);
  assert.deepEqual([...polls[1]!.nextPageToken], [1]);
  assert.ok(polls.every((poll) => poll.waitNewEvent));
});

test("followRuns: false stops at continue-as-new and names the next run", async () => {
  const service = new ScriptedService().on(
    "getWorkflowExecutionHistory",
    () =>
      closed(EventType.WORKFLOW_EXECUTION_CONTINUED_AS_NEW, {
        case: "workflowExecutionContinuedAsNewEventAttributes",
        value: { newExecutionRunId: "r2" },
      }),
  );
  await assert.rejects(
    client(service).getHandle("W", "1", "r1").result({ followRuns: false }),
    (error) => error instanceof WorkflowContinuedAsNewError && error.newExecutionRunId === "r2",
  );
});

test("each way to end without a result is a WorkflowFailedError with its cause", async () => {
  const ends: [EventType, object, unknown][] = [
    [EventType.WORKFLOW_EXECUTION_FAILED, {
      case: "workflowExecutionFailedEventAttributes",
      value: {
        failure: toFailure(ApplicationFailure.nonRetryable("no", { type: "Declined" })),
        retryState: RetryState.MAXIMUM_ATTEMPTS_REACHED,
      },
    }, ApplicationFailure],
    [EventType.WORKFLOW_EXECUTION_CANCELED, {
      case: "workflowExecutionCanceledEventAttributes",
      value: { details: payloads("tidy") },
    }, CancelledFailure],
    [EventType.WORKFLOW_EXECUTION_TERMINATED, {
      case: "workflowExecutionTerminatedEventAttributes",
      value: { reason: "by hand" },
    }, TerminatedFailure],
    [EventType.WORKFLOW_EXECUTION_TIMED_OUT, { case: "workflowExecutionTimedOutEventAttributes", value: {} }, TimeoutFailure],
  ];
  for (const [type, attributes, cause] of ends) {
    const service = new ScriptedService().on("getWorkflowExecutionHistory", () => closed(type, attributes));
    await assert.rejects(client(service).getHandle("W", "1", "r1").result(), (error) => {
      assert.ok(error instanceof WorkflowFailedError);
      assert.ok(error.cause instanceof (cause as typeof Error));
      assert.equal(error.workflowId, "1");
      return true;
    });
  }
  const service = new ScriptedService().on(
    "getWorkflowExecutionHistory",
    () => closed(...(ends[0]!.slice(0, 2) as [EventType, object])),
  );
  await assert.rejects(client(service).getHandle("W", "1").result(), (error) => {
    assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
    assert.equal(error.cause.type, "Declined");
    assert.equal(error.retryState, "MAXIMUM_ATTEMPTS_REACHED");
    return true;
  });
});

test("lists and counts name what a service refuses", async () => {
  const refuse = () => {
    throw new ServiceError(Code.NOT_FOUND, "Namespace default is not found.", "NamespaceNotFound");
  };
  const c = client(new ScriptedService().on("listWorkflowExecutions", refuse).on("countWorkflowExecutions", refuse));
  await assert.rejects(c.list()[Symbol.asyncIterator]().next(), NamespaceNotFoundError);
  await assert.rejects(c.count(), NamespaceNotFoundError);
});

test("a result that does not come in time is a DeadlineExceededError; an aborted wait rejects with its reason", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", (_request, options) => waits(options));
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.result({ timeout: 30 }), DeadlineExceededError);
  const stop = new AbortController();
  const waiting = handle.result({ signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 10);
  await assert.rejects(waiting, /enough/);
});

test("a long poll that ends with nothing is asked again", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", (_request, _options, attempt) => {
    if (attempt === 1) throw new ServiceError(Code.DEADLINE_EXCEEDED, "long poll ended");
    return completed(1);
  });
  assert.equal(await client(service).getHandle("W", "1").result(), 1);
});

test("an update asks with one id until it is accepted, then polls for the outcome", async () => {
  const service = new ScriptedService()
    .on("updateWorkflowExecution", (request, _options, attempt) => {
      if (attempt === 1) unavailable();
      const updateRef = { workflowExecution: { workflowId: "1", runId: "r9" }, updateId: request.request!.meta!.updateId };
      return { updateRef, stage: attempt === 2 ? Stage.ADMITTED : Stage.ACCEPTED };
    })
    .on(
      "pollWorkflowExecutionUpdate",
      (_request, _options, attempt) =>
        attempt < 3
          ? { stage: Stage.ACCEPTED }
          : { stage: Stage.COMPLETED, outcome: { value: { case: "success", value: payloads(42) } } },
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

test("startUpdate returns at acceptance; its handle waits for the answer once", async () => {
  const service = new ScriptedService()
    .on("updateWorkflowExecution", () => ({ stage: Stage.ACCEPTED }))
    .on("pollWorkflowExecutionUpdate", () => ({ outcome: { value: { case: "success", value: payloads("ok") } } }));
  const handle = await client(service).getHandle("W", "1").startUpdate("add", { waitFor: "accepted", updateId: "u1", args: [1] });
  assert.equal(handle.updateId, "u1");
  assert.equal(service.requests("updateWorkflowExecution")[0]!.waitPolicy!.lifecycleStage, Stage.ACCEPTED);
  assert.equal(await handle.result(), "ok");
  assert.equal(await handle.result(), "ok");
  assert.equal(service.requests("pollWorkflowExecutionUpdate").length, 1);
});

test("an update that failed and one that was rejected are told apart", async () => {
  const failure = toFailure(ApplicationFailure.nonRetryable("sold out", { type: "SoldOut" }));
  const service = new ScriptedService()
    .on("updateWorkflowExecution", () => ({ stage: Stage.COMPLETED, outcome: { value: { case: "failure", value: failure } } }))
    .on(
      "pollWorkflowExecutionUpdate",
      () => ({ stage: Stage.COMPLETED, outcome: { value: { case: "failure", value: failure } } }),
    );
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.update("add"), (error) => {
    assert.ok(error instanceof WorkflowUpdateFailedError && !(error instanceof WorkflowUpdateRejectedError));
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

test("an update past its deadline says under which id to ask again", async () => {
  const service = new ScriptedService().on("updateWorkflowExecution", (_request, options) => waits(options));
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.executeUpdate("add", { timeout: 20 }), (error) => {
    assert.ok(error instanceof DeadlineExceededError);
    assert.equal(error.updateId, service.requests("updateWorkflowExecution")[0]!.request!.meta!.updateId);
    assert.match(error.message, /ask again with updateId/);
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

test("queries: answers, rejections, failures", async () => {
  const service = new ScriptedService().on("queryWorkflow", () => ({ queryResult: payloads({ phase: "open" }) }));
  const handle = client(service).getHandle("W", "1");
  assert.deepEqual(await handle.query("status", "short"), { phase: "open" });
  assert.deepEqual(values(service.requests("queryWorkflow")[0]!.query!.queryArgs), ["short"]);
  service.on("queryWorkflow", () => ({ queryRejected: { status: WorkflowExecutionStatus.FAILED } }));
  await assert.rejects(
    handle.with({ queryRejectCondition: "NOT_COMPLETED_CLEANLY" }).query("status"),
    (error) => error instanceof QueryRejectedError && error.status === "FAILED",
  );
  assert.equal(service.requests("queryWorkflow")[1]!.queryRejectCondition, QueryRejectCondition.NOT_COMPLETED_CLEANLY);
  service.on("queryWorkflow", () => {
    throw new ServiceError(Code.INVALID_ARGUMENT, 'Unknown query "stats"', "QueryFailed");
  });
  await assert.rejects(
    handle.query("stats"),
    (error) => error instanceof QueryFailedError && /Unknown query/.test(error.message),
  );
});

test("a query without an answer ends with its deadline", async () => {
  const service = new ScriptedService().on("queryWorkflow", (_request, options) => waits(options));
  await assert.rejects(
    client(service).getHandle("W", "1").with({ timeout: 20 }).query("status"),
    /query "status" was not answered/,
  );
});

test("signals and cancel requests keep their request id over retries, so that they apply once (P2); with() sets one", async () => {
  const service = new ScriptedService()
    .on("signalWorkflowExecution", (_request, _options, attempt) => (attempt === 1 ? unavailable() : {}))
    .on("requestCancelWorkflowExecution", (_request, _options, attempt) => (attempt === 1 ? unavailable() : {}));
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

test("list reads page after page, as far as the caller goes; count counts", async () => {
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
            odd: { metadata: { encoding: new TextEncoder().encode("binary/encrypted") }, data: new Uint8Array([1]) },
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
  assert.ok("data" in (seen[0]!.searchAttributes["odd"] as object), "a value that cannot be decoded hides nothing else");
  for await (const run of c.list()) if (run.workflowId === "w0") break;
  assert.equal(service.requests("listWorkflowExecutions").length, 4);
  assert.equal(await c.count(), 6);
});

test("history: events over pages, JSON in the form of Temporal's tools", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", (request) =>
    request.nextPageToken.length === 0
      ? {
        history: {
          events: [{
            eventId: 1n,
            eventTime: { seconds: 1n },
            eventType: EventType.WORKFLOW_EXECUTION_STARTED,
            attributes: {
              case: "workflowExecutionStartedEventAttributes",
              value: { workflowType: { name: "W" }, input: payloads("x"), workflowRunTimeout: { seconds: 3n } },
            },
          }],
        },
        nextPageToken: new Uint8Array([1]),
      }
      : { history: { events: [{ eventId: 2n, eventType: EventType.WORKFLOW_TASK_SCHEDULED }] } });
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
  assert.deepEqual(values(service.requests("respondActivityTaskCompleted")[0]!.result), [{ ok: true }]);
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
  await assert.rejects(c.heartbeatActivity(token, 0.5), /is to stop \(CANCELLED\)/);
  await c.heartbeatActivity(ids);
});
