// Standalone activities: id policies, retries, each timeout, cancellation, completion from elsewhere,
// operators, lists. A test plays the worker, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import { Code } from "../../../../ts/service/raw.ts";
import { ActivityEngine, type Json, payloads, rejection, START_MS, valuesIn } from "./support.ts";

const during = (body: (opened: ActivityEngine) => Promise<void>) => () =>
  ActivityEngine.during(new MemoryStore(), body);

test(
  "an activity runs on a worker, and its result is polled",
  during(async (opened) => {
    await assert.rejects(opened.outcome(), /activity not found for ID: a/);
    const task = opened.poll();
    const { runId, started, link } = await opened.start({ input: payloads("x", 1) });
    assert.equal(started, true);
    assert.deepEqual(link.activity, { namespace: "default", activityId: "a", runId });
    const got = await task;
    assert.deepEqual(valuesIn(got.input), ["x", 1]);
    const { activityId, activityRunId, attempt, workflowExecution, workflowNamespace } = got;
    assert.deepEqual(
      { activityId, activityRunId, attempt, workflowExecution, workflowNamespace },
      {
        activityId: "a",
        activityRunId: runId,
        attempt: 1,
        workflowExecution: undefined,
        workflowNamespace: "default",
      },
    );
    assert.equal((await opened.describe()).runState, "PENDING_ACTIVITY_STATE_STARTED");
    const outcome = opened.outcome();
    opened.advance(1500);
    await opened.complete(got.taskToken, "done");
    assert.deepEqual(valuesIn((await outcome).result), ["done"]);
    const info = await opened.describe();
    assert.equal(info.status, "ACTIVITY_EXECUTION_STATUS_COMPLETED");
    assert.equal(info.executionDuration, "1.500s");
    assert.equal(info.lastWorkerIdentity, "worker");
    const again = await rejection(opened.complete(got.taskToken, "twice"));
    assert.equal(again.code, Code.NOT_FOUND);
  }),
);

test(
  "policies decide about an id that is in use; a request is carried out once",
  during(async (opened) => {
    const first = await opened.start({ requestId: "r1" });
    assert.deepEqual(await opened.start({ requestId: "r1" }), first);
    const taken = await rejection(opened.start({ requestId: "r2" }));
    assert.deepEqual([taken.code, taken.reason, taken.metadata], [
      Code.ALREADY_EXISTS,
      "ActivityExecutionAlreadyStarted",
      { run_id: first.runId, start_request_id: "r1" },
    ]);
    const existing = { idConflictPolicy: "ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING" };
    const used = await opened.start({
      ...existing,
      requestId: "r3",
      onConflictOptions: { attachRequestId: true, attachLinks: true },
      links: [{ batchJob: { jobId: "b" } }],
    });
    assert.deepEqual([used.runId, used.started], [first.runId, undefined]);
    assert.equal((await opened.start({ requestId: "r3" })).runId, first.runId);
    assert.deepEqual((await opened.describe()).links, [{ batchJob: { jobId: "b" } }]);
    await opened.complete((await opened.poll()).taskToken);
    for (const idReusePolicy of ["ALLOW_DUPLICATE_FAILED_ONLY", "REJECT_DUPLICATE"]) {
      const policy = { idReusePolicy: `ACTIVITY_ID_REUSE_POLICY_${idReusePolicy}` };
      assert.equal((await rejection(opened.start(policy))).code, Code.ALREADY_EXISTS);
    }
    const second = await opened.start();
    assert.notEqual(second.runId, first.runId);
    await opened.call("terminateActivityExecution", { activityId: "a", reason: "enough" });
    const onlyFailed = { idReusePolicy: "ACTIVITY_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY" };
    const third = await opened.start(onlyFailed);
    assert.equal((await opened.describe()).runId, third.runId);
    const older = await opened.describe({ runId: first.runId });
    assert.equal(older.status, "ACTIVITY_EXECUTION_STATUS_COMPLETED");
  }),
);

test(
  "a failed attempt is retried by the policy, and the last failure ends it",
  during(async (opened) => {
    await opened.start({
      retryPolicy: { initialInterval: "1s", backoffCoefficient: 3, maximumAttempts: 3 },
    });
    for (const [attempt, wait] of [[1, 1000], [2, 3000]] as const) {
      const task = await opened.poll();
      assert.equal(task.attempt, attempt);
      await opened.fail(task.taskToken);
      const info = await opened.describe({ includeLastFailure: true });
      assert.deepEqual([info.attempt, info.runState], [
        attempt + 1,
        "PENDING_ACTIVITY_STATE_SCHEDULED",
      ]);
      assert.equal(info.currentRetryInterval, `${wait / 1000}s`);
      assert.equal(Date.parse(info.nextAttemptScheduleTime), opened.clock.nowMs() + wait);
      assert.equal(info.lastFailure.message, "no");
      opened.advance(wait);
    }
    await opened.fail((await opened.poll()).taskToken);
    const { failure, retryState } = await opened.outcome();
    assert.deepEqual([failure.applicationFailureInfo.type, retryState], [
      "No",
      "RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED",
    ]);
    assert.equal((await opened.describe()).status, "ACTIVITY_EXECUTION_STATUS_FAILED");
  }),
);

test(
  "failures that are not retryable, listed types and a wanted delay",
  during(async (opened) => {
    await opened.start();
    await opened.fail((await opened.poll()).taskToken, { nonRetryable: true });
    assert.equal((await opened.outcome()).retryState, "RETRY_STATE_NON_RETRYABLE_FAILURE");
    await opened.start({ retryPolicy: { nonRetryableErrorTypes: ["No"] } });
    await opened.fail((await opened.poll()).taskToken);
    assert.equal((await opened.outcome()).retryState, "RETRY_STATE_NON_RETRYABLE_FAILURE");
    await opened.start();
    await opened.fail((await opened.poll()).taskToken, { nextRetryDelay: "7s" });
    assert.equal((await opened.describe()).currentRetryInterval, "7s");
  }),
);

const timeouts: readonly {
  readonly name: string;
  readonly options: Json;
  readonly begins: boolean;
  readonly afterMs: number;
  readonly type: string;
}[] = [
  {
    name: "schedule-to-start: no worker polls",
    options: { scheduleToStartTimeout: "2s" },
    begins: false,
    afterMs: 2000,
    type: "SCHEDULE_TO_START",
  },
  {
    name: "schedule-to-close: all attempts together",
    options: { scheduleToCloseTimeout: "3s", startToCloseTimeout: "60s" },
    begins: true,
    afterMs: 3000,
    type: "SCHEDULE_TO_CLOSE",
  },
  {
    name: "start-to-close: the last attempt",
    options: { startToCloseTimeout: "2s", retryPolicy: { maximumAttempts: 1 } },
    begins: true,
    afterMs: 2000,
    type: "START_TO_CLOSE",
  },
  {
    name: "heartbeat: the worker is silent",
    options: {
      startToCloseTimeout: "60s",
      heartbeatTimeout: "1s",
      retryPolicy: { maximumAttempts: 1 },
    },
    begins: true,
    afterMs: 1000,
    type: "HEARTBEAT",
  },
];

for (const { name, options, begins, afterMs, type } of timeouts) {
  test(
    `timeout ${name}`,
    during(async (opened) => {
      await opened.start(options);
      if (begins) await opened.poll();
      opened.advance(afterMs - 1);
      assert.equal((await opened.describe()).status, "ACTIVITY_EXECUTION_STATUS_RUNNING");
      opened.advance(1);
      const { failure } = await opened.outcome();
      assert.equal(failure.timeoutFailureInfo.timeoutType, `TIMEOUT_TYPE_${type}`);
      const info = await opened.describe();
      assert.equal(info.status, "ACTIVITY_EXECUTION_STATUS_TIMED_OUT");
      assert.equal(Date.parse(info.closeTime), START_MS + afterMs);
    }),
  );
}

test(
  "an attempt that times out is retried; a retry beyond the schedule-to-close timeout is not",
  during(async (opened) => {
    await opened.start({ startToCloseTimeout: "2s", scheduleToCloseTimeout: "6s" });
    const first = await opened.poll();
    opened.advance(2000);
    const info = await opened.describe({ includeLastFailure: true });
    assert.equal(info.lastFailure.timeoutFailureInfo.timeoutType, "TIMEOUT_TYPE_START_TO_CLOSE");
    assert.equal((await rejection(opened.complete(first.taskToken))).code, Code.NOT_FOUND);
    opened.advance(1000);
    assert.equal((await opened.poll()).attempt, 2);
    opened.advance(2000);
    const { failure, retryState } = await opened.outcome();
    assert.deepEqual([failure.timeoutFailureInfo.timeoutType, retryState], [
      "TIMEOUT_TYPE_SCHEDULE_TO_CLOSE",
      "RETRY_STATE_TIMEOUT",
    ]);
    assert.equal(failure.cause.timeoutFailureInfo.timeoutType, "TIMEOUT_TYPE_START_TO_CLOSE");
  }),
);

test(
  "heartbeats keep an attempt alive, and the next one gets their details",
  during(async (opened) => {
    await opened.start({ startToCloseTimeout: "60s", heartbeatTimeout: "1s" });
    const { taskToken } = await opened.poll();
    for (let n = 1; n <= 3; n++) {
      opened.advance(900);
      const beat = { taskToken, details: payloads(n) };
      assert.deepEqual(await opened.call("recordActivityTaskHeartbeat", beat), {});
    }
    const info = await opened.describe({ includeHeartbeatDetails: true });
    assert.deepEqual([valuesIn(info.heartbeatDetails), info.totalHeartbeatCount], [[3], "3"]);
    assert.equal((await opened.describe()).heartbeatDetails, undefined);
    opened.advance(1000);
    opened.advance(1000);
    const next = await opened.poll();
    assert.deepEqual([next.attempt, valuesIn(next.heartbeatDetails)], [2, [3]]);
  }),
);

test(
  "a cancellation ends an activity that no worker has, and reaches a worker by its heartbeat",
  during(async (opened) => {
    const cancel = (requestId: string) =>
      opened.call("requestCancelActivityExecution", { activityId: "a", reason: "why", requestId });
    await opened.start();
    await cancel("c1");
    const { failure } = await opened.outcome();
    assert.ok(failure.canceledFailureInfo !== undefined);
    assert.equal((await opened.describe()).status, "ACTIVITY_EXECUTION_STATUS_CANCELED");
    await cancel("c1");
    assert.equal((await rejection(cancel("c2"))).code, Code.FAILED_PRECONDITION);

    await opened.start();
    const { taskToken } = await opened.poll();
    const early = { taskToken, details: payloads("d") };
    assert.equal(
      (await rejection(opened.call("respondActivityTaskCanceled", early))).code,
      Code.INVALID_ARGUMENT,
    );
    await cancel("c3");
    const info = await opened.describe();
    assert.deepEqual([info.runState, info.canceledReason], [
      "PENDING_ACTIVITY_STATE_CANCEL_REQUESTED",
      "why",
    ]);
    const beat = await opened.call("recordActivityTaskHeartbeat", { taskToken });
    assert.equal(beat.cancelRequested, true);
    await opened.call("respondActivityTaskCanceled", early);
    const { failure: canceled } = await opened.outcome();
    assert.deepEqual(valuesIn(canceled.canceledFailureInfo.details), ["d"]);

    await opened.start();
    const task = await opened.poll();
    await cancel("c4");
    await opened.fail(task.taskToken);
    assert.equal((await opened.outcome()).retryState, "RETRY_STATE_CANCEL_REQUESTED");
  }),
);

test(
  "a termination ends an activity at once; a deletion removes it",
  during(async (opened) => {
    const { runId } = await opened.start();
    const { taskToken } = await opened.poll();
    const outcome = opened.outcome();
    await opened.call("terminateActivityExecution", { activityId: "a", reason: "enough" });
    const { failure } = await outcome;
    assert.deepEqual([failure.message, failure.terminatedFailureInfo !== undefined], [
      "enough",
      true,
    ]);
    assert.equal((await rejection(opened.complete(taskToken))).code, Code.NOT_FOUND);
    await opened.start();
    const waiting = rejection(opened.outcome());
    assert.equal((await opened.describe()).attempt, 1);
    await opened.call("deleteActivityExecution", { activityId: "a" });
    assert.equal((await waiting).code, Code.NOT_FOUND);
    assert.equal((await opened.describe()).runId, runId);
    await opened.call("deleteActivityExecution", { activityId: "a", runId });
    assert.equal((await rejection(opened.describe())).code, Code.NOT_FOUND);
  }),
);

test(
  "activities are completed, failed and beaten by id, without a workflow id",
  during(async (opened) => {
    const { runId } = await opened.start();
    const target = { activityId: "a", runId };
    const beat = opened.call("recordActivityTaskHeartbeatById", target);
    assert.equal((await rejection(beat)).code, Code.NOT_FOUND);
    await opened.poll();
    await opened.call("recordActivityTaskHeartbeatById", { ...target, details: payloads(1) });
    await opened.call("respondActivityTaskCompletedById", { ...target, result: payloads("r") });
    assert.deepEqual(valuesIn((await opened.outcome()).result), ["r"]);
    await opened.start();
    const failure = { message: "f", applicationFailureInfo: { nonRetryable: true } };
    await opened.call("respondActivityTaskFailedById", { activityId: "a", failure });
    assert.equal((await opened.outcome()).failure.message, "f");
    await opened.start();
    await opened.poll();
    await opened.call("requestCancelActivityExecution", { activityId: "a" });
    await opened.call("respondActivityTaskCanceledById", { activityId: "a" });
    assert.equal((await opened.describe()).status, "ACTIVITY_EXECUTION_STATUS_CANCELED");
    const other = { workflowId: "w", activityId: "a", result: payloads("r") };
    assert.match(
      (await rejection(opened.call("respondActivityTaskCompletedById", other))).message,
      /workflow/,
    );
  }),
);

test(
  "a start delay postpones the first attempt; its timeouts begin with it",
  during(async (opened) => {
    await opened.start({
      startDelay: "5s",
      scheduleToStartTimeout: "1s",
      scheduleToCloseTimeout: "8s",
    });
    const info = await opened.describe();
    assert.equal(Date.parse(info.executionTime), START_MS + 5000);
    assert.equal(Date.parse(info.expirationTime), START_MS + 13_000);
    const task = opened.poll();
    opened.advance(4999);
    assert.equal((await opened.describe()).runState, "PENDING_ACTIVITY_STATE_SCHEDULED");
    opened.advance(1);
    assert.equal((await task).attempt, 1);
  }),
);

test(
  "urgent activities come first, then the oldest; polls of other queues get none",
  during(async (opened) => {
    await opened.start({ activityId: "late", priority: { priorityKey: 5 } });
    await opened.start({ activityId: "first" });
    await opened.start({ activityId: "second" });
    await opened.start({ activityId: "urgent", priority: { priorityKey: 1 } });
    const other = new AbortController();
    const none = rejection(opened.poll("other", { signal: other.signal }));
    const backlog = opened.engine.backlog("q").activity;
    assert.equal(backlog.tasks, 4);
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await opened.poll()).activityId);
    assert.deepEqual(ids, ["urgent", "first", "second", "late"]);
    other.abort();
    assert.equal((await none).code, Code.CANCELLED);
  }),
);

test(
  "operators pause, continue and reset an activity, and change its options",
  during(async (opened) => {
    const target = { activityId: "a" };
    await opened.start({ retryPolicy: { maximumAttempts: 2 } });
    await opened.call("pauseActivityExecution", target);
    const paused = await opened.describe();
    assert.deepEqual([paused.status, paused.runState], [
      "ACTIVITY_EXECUTION_STATUS_PAUSED",
      "PENDING_ACTIVITY_STATE_PAUSED",
    ]);
    const task = opened.poll();
    opened.advance(5000);
    await opened.call("unpauseActivityExecution", target);
    const { taskToken } = await task;
    await opened.call("pauseActivityExecution", target);
    assert.deepEqual(await opened.call("recordActivityTaskHeartbeat", { taskToken }), {
      activityPaused: true,
    });
    await opened.fail(taskToken);
    assert.equal((await opened.describe()).attempt, 2);
    await opened.call("resetActivityExecution", { ...target, keepPaused: true });
    assert.deepEqual(
      [(await opened.describe()).attempt, (await opened.describe()).runState],
      [1, "PENDING_ACTIVITY_STATE_PAUSED"],
    );
    const { activityOptions } = await opened.call("updateActivityExecutionOptions", {
      ...target,
      activityOptions: { taskQueue: { name: "q2" }, startToCloseTimeout: "3s" },
      updateMask: "taskQueue.name,startToCloseTimeout",
    });
    assert.deepEqual(
      [activityOptions.taskQueue.name, activityOptions.startToCloseTimeout],
      ["q2", "3s"],
    );
    await opened.call("unpauseActivityExecution", target);
    const moved = await opened.poll("q2");
    assert.equal(moved.startToCloseTimeout, "3s");
    const restored = await opened.call("updateActivityExecutionOptions", {
      ...target,
      restoreOriginal: true,
    });
    assert.equal(restored.activityOptions.taskQueue.name, "q");
    const unknown = opened.call("updateActivityExecutionOptions", {
      ...target,
      activityOptions: {},
      updateMask: "nothing",
    });
    assert.match((await rejection(unknown)).message, /unknown path "nothing"/);
  }),
);

test(
  "a description is polled until the state changes",
  during(async (opened) => {
    const { runId } = await opened.start();
    const request = { activityId: "a", runId };
    const { longPollToken } = await opened.call("describeActivityExecution", request);
    const changed = opened.call("describeActivityExecution", { ...request, longPollToken });
    const { taskToken } = await opened.poll();
    const { info, longPollToken: next } = await changed;
    assert.equal(info.runState, "PENDING_ACTIVITY_STATE_STARTED");
    const closed = opened.call("describeActivityExecution", {
      ...request,
      longPollToken: next,
      includeInput: true,
      includeOutcome: true,
    });
    await opened.complete(taskToken, "r");
    const last = await closed;
    assert.deepEqual([valuesIn(last.outcome.result), last.longPollToken], [["r"], undefined]);
    const without = opened.call("describeActivityExecution", { activityId: "a", longPollToken });
    assert.equal((await rejection(without)).code, Code.INVALID_ARGUMENT);
  }),
);

test(
  "bad starts are rejected with the field that is wrong",
  during(async (opened) => {
    const cases: readonly (readonly [Parameters<typeof opened.start>[0], RegExp])[] = [
      [{ activityId: "" }, /ActivityId is not set/],
      [{ activityId: "x".repeat(1001) }, /ActivityId has 1001 bytes/],
      [{ activityType: { name: "" } }, /ActivityType is not set/],
      [{ taskQueue: { name: "/_sys/x" } }, /reserved prefix/],
      [{ startToCloseTimeout: "0s" }, /StartToCloseTimeout or ScheduleToCloseTimeout must be set/],
      [{ heartbeatTimeout: "-1s" }, /invalid HeartbeatTimeout/],
      [{ startDelay: "-1s" }, /invalid StartDelay/],
      [{ retryPolicy: { backoffCoefficient: 0.5 } }, /BackoffCoefficient/],
      [{ retryPolicy: { maximumAttempts: -1 } }, /MaximumAttempts/],
      [{ priority: { priorityKey: -1 } }, /PriorityKey/],
      [{ completionCallbacks: [{ nexus: { url: "http://x" } }] }, /completion callbacks/],
      [{ input: payloads("x".repeat(3_000_000)) }, /Blob data size exceeds limit/],
    ];
    for (const [request, message] of cases) {
      const { code, message: found } = await rejection(opened.start(request!));
      assert.equal(code, Code.INVALID_ARGUMENT);
      assert.match(found, message);
    }
    const elsewhere = await rejection(opened.start({ namespace: "other" }));
    assert.equal(elsewhere.code, Code.NOT_FOUND);
    assert.equal((await opened.call("countActivityExecutions", {})).count, undefined);
  }),
);

test(
  "a changed priority applies to an activity that waits",
  during(async (opened) => {
    await opened.start({ activityId: "first" });
    await opened.start({ activityId: "second" });
    await opened.call("updateActivityExecutionOptions", {
      activityId: "second",
      activityOptions: { priority: { priorityKey: 1 } },
      updateMask: "priority",
    });
    assert.equal((await opened.poll()).activityId, "second");
    assert.equal((await opened.poll()).activityId, "first");
  }),
);

test(
  "the requests and links that attach to an activity are limited",
  during(async (opened) => {
    await opened.start();
    const attached = {
      idConflictPolicy: "ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING",
      onConflictOptions: { attachLinks: true },
    };
    const links = Array.from({ length: 500 }, () => ({ batchJob: { jobId: "b" } }));
    for (let i = 0; i < 2; i++) await opened.start({ ...attached, links });
    const error = await rejection(opened.start({ ...attached, links: links.slice(0, 1) }));
    assert.equal(error.code, Code.FAILED_PRECONDITION);
    assert.match(error.message, /1000 links, at most 1000 of each/);
  }),
);
