// Waiting for the result of a run, against a scripted service: long polls, chains of runs, ends,
// deadlines.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  DeadlineExceededError,
  ServiceError,
  silentLogger,
  WorkflowContinuedAsNewError,
  WorkflowFailedError,
} from "../../../ts/client/mod.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  defaultPayloadConverter,
  TerminatedFailure,
  TimeoutFailure,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import {
  RetryState,
  WorkflowExecutionStatus,
} from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetWorkflowExecutionHistoryResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { together } from "../../support/together.ts";

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

type Page = MessageInitShape<typeof GetWorkflowExecutionHistoryResponseSchema>;

const closed = (eventType: EventType, attributes: object): Page => ({
  history: { events: [{ eventId: 9n, eventType, attributes } as never] } as never,
});

const completed = (value: unknown, newExecutionRunId = "") =>
  closed(EventType.WORKFLOW_EXECUTION_COMPLETED, {
    case: "workflowExecutionCompletedEventAttributes",
    value: { result: payloads(value), newExecutionRunId },
  });

together({
  "waiting for a result describes the run only during a long poll, not between two": async () => {
    const began = performance.now();
    const service = new ScriptedService()
      .on("getWorkflowExecutionHistory", () => {
        // Longer than until the first look, at two seconds; each answer comes at once, so most of
        // the time no poll is out.
        if (performance.now() - began < 2_400) {
          return { history: { events: [] }, nextPageToken: Uint8Array.of(1) };
        }
        return completed("done");
      })
      .on(
        "describeWorkflowExecution",
        () => ({ workflowExecutionInfo: { status: WorkflowExecutionStatus.RUNNING } }),
      );
    assert.equal(await client(service).getHandle(undefined, "w", "r1").result(), "done");
    assert.equal(service.requests("describeWorkflowExecution").length, 0);
  },

  "a poll that waits for the end of a run that is closed is sent again, and one of an open run stays":
    async () => {
      // A server on a busy machine may have told of the end before the poll could hear it.
      const missed = new ScriptedService()
        .on(
          "getWorkflowExecutionHistory",
          (_request, options, attempt) => attempt === 1 ? waits(options) : completed("missed"),
        )
        .on(
          "describeWorkflowExecution",
          () => ({ workflowExecutionInfo: { status: WorkflowExecutionStatus.COMPLETED } }),
        );
      /** A run whose end comes a moment after the look. */
      const waited = (value: string, describe: () => WorkflowExecutionStatus) => {
        let end: (page: Page) => void;
        const page = new Promise<Page>((resolve) => end = resolve);
        return new ScriptedService().on("getWorkflowExecutionHistory", () => page).on(
          "describeWorkflowExecution",
          () => {
            setTimeout(() => end(completed(value)), 20);
            return { workflowExecutionInfo: { status: describe() } };
          },
        );
      };
      const open = waited("open", () => WorkflowExecutionStatus.RUNNING);
      const away = waited("not described", () => {
        throw new ServiceError(Code.INTERNAL, "not reached");
      });
      const result = (service: ScriptedService) =>
        client(service).getHandle("W", "1", "r1").result();
      assert.deepEqual(await Promise.all([missed, open, away].map(result)), [
        "missed",
        "open",
        "not described",
      ]);
      const methods = ({ calls }: ScriptedService) =>
        calls.map(({ method }) => method.replace(/WorkflowExecution.*$/, ""));
      assert.deepEqual([missed, open, away].map(methods), [["get", "describe", "get"], [
        "get",
        "describe",
      ], ["get", "describe"]]);
      assert.equal(missed.requests("describeWorkflowExecution")[0]!.execution!.runId, "r1");
    },

  "an abort during the check of a poll rejects with its reason": async () => {
    const stop = new AbortController();
    const silent = () =>
      new ScriptedService().on(
        "getWorkflowExecutionHistory",
        (_request, options) => waits(options),
      );
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
    assert.deepEqual(doubting.calls.map(({ method }) => method), [
      "getWorkflowExecutionHistory",
      "describeWorkflowExecution",
    ]);
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

test("a history with empty first pages is read on with the service's page token, not from its start", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", ({ nextPageToken }) => {
    if (nextPageToken.length === 0) {
      return { history: { events: [] }, nextPageToken: Uint8Array.of(1) };
    }
    if (nextPageToken[0] === 1) {
      return { history: { events: [{ eventId: 1n }] as never }, nextPageToken: Uint8Array.of(2) };
    }
    return { history: { events: [{ eventId: 2n }] as never } };
  });
  const { events } = await client(service).getHandle(undefined, "w").fetchHistory({
    timeout: "5s",
  });
  assert.deepEqual(events.map(({ eventId }) => eventId), [1n, 2n]);
  assert.deepEqual(
    service.requests("getWorkflowExecutionHistory").map((request) => [...request.nextPageToken]),
    [[], [1], [2]],
  );
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
  assert.deepEqual(polls.map((poll) => poll.execution!.runId), [
    "r1",
    "r1",
    "r2",
    "r3",
    "r3",
    "r3",
  ]);
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

test("each close without a result is a WorkflowFailedError with its cause", async () => {
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
    [EventType.WORKFLOW_EXECUTION_TIMED_OUT, {
      case: "workflowExecutionTimedOutEventAttributes",
      value: {},
    }, TimeoutFailure],
  ];
  for (const [type, attributes, cause] of ends) {
    const service = new ScriptedService().on(
      "getWorkflowExecutionHistory",
      () => closed(type, attributes),
    );
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

test("a closing event without attributes is an error that names the event", async () => {
  const service = new ScriptedService().on("getWorkflowExecutionHistory", () => ({
    history: { events: [{ eventId: 9n, eventType: EventType.WORKFLOW_EXECUTION_COMPLETED }] },
  }));
  await assert.rejects(
    client(service).getHandle(undefined, "w", "r1").result(),
    (error) =>
      error instanceof ServiceError && error.code === Code.INTERNAL &&
      error.message ===
        `the service closed workflow w with an event of type ${EventType.WORKFLOW_EXECUTION_COMPLETED}`,
  );
});

test("a result that does not come in time is a DeadlineExceededError; an aborted wait rejects with its reason", async () => {
  const service = new ScriptedService().on(
    "getWorkflowExecutionHistory",
    (_request, options) => waits(options),
  );
  const handle = client(service).getHandle("W", "1");
  await assert.rejects(handle.result({ timeout: 30 }), DeadlineExceededError);
  const stop = new AbortController();
  const waiting = handle.result({ signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 10);
  await assert.rejects(waiting, /enough/);
});

test("an empty long poll is repeated", async () => {
  const service = new ScriptedService().on(
    "getWorkflowExecutionHistory",
    (_request, _options, attempt) => {
      if (attempt === 1) throw new ServiceError(Code.DEADLINE_EXCEEDED, "long poll ended");
      return completed(1);
    },
  );
  assert.equal(await client(service).getHandle("W", "1").result(), 1);
});
