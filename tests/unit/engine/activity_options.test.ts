// What operators change of pending activities: pause, unpause, reset, options. The worker is the
// test itself, by polls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore, VirtualClock } from "../../../ts/engine/mod.ts";
import { PendingActivityState as State } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { typedService } from "../../../ts/service/typed.ts";

const namespace = "default";
const execution = { workflowId: "w", runId: "" };
const taskQueue = { name: "q" };

/** A workflow with one pending activity "a" of type "act". */
async function withActivity(
  body: (t: Awaited<ReturnType<typeof started>>) => Promise<void>,
): Promise<void> {
  const t = await started();
  try {
    await body(t);
  } finally {
    await t.engine.close();
  }
}

async function started() {
  const clock = new VirtualClock();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), clock });
  const service = typedService(engine);
  await service.startWorkflowExecution({
    ...{ namespace, workflowId: "w", workflowType: { name: "W" }, taskQueue, requestId: "1" },
  });
  const task = await service.pollWorkflowTaskQueue({ namespace, taskQueue });
  await service.respondWorkflowTaskCompleted({
    namespace,
    taskToken: task.taskToken,
    commands: [{
      commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
      attributes: {
        case: "scheduleActivityTaskCommandAttributes",
        value: {
          activityId: "a",
          activityType: { name: "act" },
          taskQueue,
          startToCloseTimeout: { seconds: 60n },
          heartbeatTimeout: { seconds: 30n },
          retryPolicy: { initialInterval: { seconds: 10n }, maximumAttempts: 3 },
        },
      },
    }],
  });
  const pending = async () => {
    const described = await service.describeWorkflowExecution({ namespace, execution });
    return described.pendingActivities[0]!;
  };
  const poll = (name = "q") =>
    service.pollActivityTaskQueue({ namespace, taskQueue: { name } }, { timeoutMs: 20_000 });
  /** The task of a poll, or undefined if none is given out. */
  const tryPoll = async (name = "q") => {
    const stop = new AbortController();
    const polled = service.pollActivityTaskQueue(
      { namespace, taskQueue: { name } },
      { signal: stop.signal },
    ).catch(() => undefined);
    await pending();
    stop.abort();
    return await polled;
  };
  const fail = (taskToken: Uint8Array) =>
    service.respondActivityTaskFailed({
      namespace,
      taskToken,
      failure: {
        message: "no",
        failureInfo: { case: "applicationFailureInfo", value: { type: "No" } },
      },
    });
  return { clock, engine, service, pending, poll, tryPoll, fail };
}

const byId = { case: "id", value: "a" } as const;

test("a paused activity is not given out until it continues", () =>
  withActivity(async ({ service, pending, tryPoll, poll }) => {
    await service.pauseActivity({
      ...{ namespace, execution, identity: "me", reason: "a bug", activity: byId },
    });
    const paused = await pending();
    assert.deepEqual([paused.state, paused.paused], [State.PAUSED, true]);
    const { pausedBy } = paused.pauseInfo!;
    assert.ok(pausedBy.case === "manual");
    assert.deepEqual([pausedBy.value.identity, pausedBy.value.reason], ["me", "a bug"]);
    assert.equal(await tryPoll(), undefined);
    const byType = { case: "type", value: "act" } as const;
    await service.unpauseActivity({ namespace, execution, activity: byType });
    assert.equal((await pending()).state, State.SCHEDULED);
    assert.equal((await poll()).activityId, "a");
  }));

test("an attempt that is paused continues, and its failure is not retried until it continues", () =>
  withActivity(async ({ service, pending, tryPoll, poll, fail }) => {
    const task = await poll();
    await service.pauseActivity({ namespace, execution, activity: byId });
    assert.equal((await pending()).state, State.PAUSE_REQUESTED);
    const beat = await service.recordActivityTaskHeartbeat({
      namespace,
      taskToken: task.taskToken,
    });
    assert.deepEqual([beat.activityPaused, beat.cancelRequested], [true, false]);
    await fail(task.taskToken);
    const paused = await pending();
    assert.deepEqual([paused.state, paused.attempt], [State.PAUSED, 2]);
    assert.equal(await tryPoll(), undefined);
    await service.unpauseActivity({
      ...{ namespace, execution, activity: byId, resetAttempts: true },
    });
    assert.equal((await poll()).attempt, 1);
  }));

test("a reset starts an activity at once with its first attempt", () =>
  withActivity(async ({ service, pending, poll, fail }) => {
    await fail((await poll()).taskToken);
    assert.equal((await pending()).attempt, 2, "it waits ten seconds");
    await service.resetActivity({ namespace, execution, activity: byId });
    const task = await poll();
    assert.equal(task.attempt, 1);
    await service.resetActivity({ namespace, execution, activity: byId });
    const beat = await service.recordActivityTaskHeartbeat({
      namespace,
      taskToken: task.taskToken,
    });
    assert.equal(beat.activityReset, true);
  }));

test("options of an activity change and are restored", () =>
  withActivity(async ({ service, pending, tryPoll }) => {
    const changed = await service.updateActivityOptions({
      ...{ namespace, execution, activity: byId },
      activityOptions: {
        taskQueue: { name: "other" },
        retryPolicy: { maximumAttempts: 7 },
      },
      updateMask: { paths: ["task_queue.name", "retryPolicy.maximumAttempts"] },
    });
    assert.equal(changed.activityOptions!.taskQueue!.name, "other");
    const { activityOptions } = await pending();
    assert.equal(activityOptions!.retryPolicy!.maximumAttempts, 7);
    assert.equal(activityOptions!.startToCloseTimeout!.seconds, 60n);
    assert.equal(await tryPoll("q"), undefined);
    await service.updateActivityOptions({
      ...{ namespace, execution, activity: byId, restoreOriginal: true },
    });
    assert.equal((await pending()).activityOptions!.taskQueue!.name, "q");
    assert.equal((await tryPoll("q"))?.activityId, "a");
  }));

test("invalid requests about activities are rejected", () =>
  withActivity(async ({ service }) => {
    for (
      const [call, message] of [
        [service.pauseActivity({ namespace, execution }), /Either Activity.Id or Activity.Type/],
        [
          service.resetActivity({ namespace, execution, activity: { case: "id", value: "x" } }),
          /Can't find pending activity/,
        ],
        [
          service.updateActivityOptions({ namespace, execution, activity: byId }),
          /ActivityOptions are not provided/,
        ],
        [
          service.updateActivityOptions({
            ...{ namespace, execution, activity: byId, activityOptions: {} },
          }),
          /UpdateMask is not provided/,
        ],
        [
          service.updateActivityOptions({
            ...{ namespace, execution, activity: byId, activityOptions: {} },
            updateMask: { paths: ["start_to_close_timeout"] },
          }),
          /a valid StartToCloseTimeout or ScheduleToCloseTimeout must be set/,
        ],
      ] as const
    ) await assert.rejects(call, message);
  }));
