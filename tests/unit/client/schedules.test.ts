// Schedules against a scripted service: what specs, actions and policies become on the wire and
// back, what is refused before anything is sent, and what an update leaves untouched.
import type { MessageInitShape } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  Code,
  ScheduleAlreadyRunningError,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ServiceError,
  silentLogger,
} from "../../../ts/client/mod.ts";
import { encodeSpec } from "../../../ts/client/schedules/spec.ts";
import { defaultPayloadConverter, type Payload } from "../../../ts/converter/mod.ts";
import { ScheduleOverlapPolicy } from "../../../ts/messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import type { DescribeScheduleResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { ScriptedService, unavailable } from "../../support/scripted_service.ts";

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const client = (service: ScriptedService) =>
  new Client({
    service,
    taskQueue: "q",
    identity: "me",
    logger: silentLogger,
    retry: { initialIntervalMs: 1, maximumIntervalMs: 2 },
  });
const OPTIONS: ScheduleOptions<string> = {
  scheduleId: "nightly",
  spec: { intervals: [{ every: "1h" }] },
  action: { type: "startWorkflow", workflowType: "Report" },
};

test("a retry policy with one field set contains only that field", async () => {
  const policy = async (retryPolicy: object) => {
    const action = { startWorkflow: { workflowType: { name: "W" }, retryPolicy } };
    const value = {
      schedule: { action: { action: { case: "startWorkflow", value: action.startWorkflow } } },
    };
    const service = new ScriptedService().on("describeSchedule", () => value as never);
    return (await client(service).schedule.getHandle("x").describe()).action.retry;
  };
  assert.deepEqual(await policy({}), {});
  assert.deepEqual(await policy({ maximumAttempts: 1 }), { maximumAttempts: 1 });
  assert.deepEqual(await policy({ initialInterval: { nanos: 1_000_000 } }), { initialInterval: 1 });
  assert.deepEqual(await policy({ maximumInterval: { seconds: 1n } }), { maximumInterval: 1000 });
  assert.deepEqual(await policy({ backoffCoefficient: 0.5 }), { backoffCoefficient: 0.5 });
  assert.deepEqual(await policy({ nonRetryableErrorTypes: ["T"] }), {
    nonRetryableErrorTypes: ["T"],
  });
});

test("pause, trigger, backfill and delete reject with the service's error", async () => {
  const refuse = () => {
    throw new ServiceError(Code.NOT_FOUND, "workflow not found", "NotFound");
  };
  const { schedule } = client(
    new ScriptedService().on("patchSchedule", refuse).on("deleteSchedule", refuse),
  );
  const handle = schedule.getHandle("x");
  const times = { start: new Date(0), end: new Date(1) };
  for (
    const call of [
      () => handle.pause(),
      () => handle.unpause(),
      () => handle.trigger(),
      () => handle.backfill(times),
      () => handle.delete(),
    ]
  ) {
    await assert.rejects(call(), (e: Error) => e.name === "ScheduleNotFoundError");
  }
});

test("a sparse list entry is not paused and has no note", async () => {
  const service = new ScriptedService().on(
    "listSchedules",
    () => ({ schedules: [{ scheduleId: "x" }] }),
  );
  const { value } = await client(service).schedule.list().next();
  assert.deepEqual(value!.state, { paused: false });
  assert.deepEqual([value!.workflowType, value!.info.recentActions, value!.info.nextActionTimes], [
    "",
    [],
    [],
  ]);
});

test("a schedule contains its action, policies, state and notes, and keeps its request id over retries", async () => {
  const service = new ScriptedService().on("createSchedule", (_request, _options, attempt) => {
    if (attempt < 3) unavailable();
    return {};
  });
  const handle = await client(service).schedule.create({
    scheduleId: "nightly",
    spec: { calendars: [{ hour: 3 }] },
    action: {
      type: "startWorkflow",
      workflowType: "Report",
      args: ["sales", 2],
      taskQueue: "reports",
      runTimeout: "1h",
      retry: { maximumAttempts: 3 },
      memo: { by: "me" },
      searchAttributes: { Customer: "ada" },
      summary: "a report",
    },
    policies: { overlap: "BUFFER_ONE", catchupWindow: "10m", pauseOnFailure: true },
    state: {
      paused: true,
      note: "not yet",
      remainingActions: 3,
      triggerImmediately: true,
      backfill: [{ start: new Date(0), end: new Date(1000), overlap: "ALLOW_ALL" }],
    },
    memo: { owner: "ada" },
    searchAttributes: { Customer: "ada" },
  });
  assert.equal(handle.scheduleId, "nightly");
  const requests = service.requests("createSchedule");
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map((request) => request.requestId)).size, 1);
  const { schedule, initialPatch, memo, searchAttributes, identity, scheduleId } = requests[2]!;
  assert.deepEqual([identity, scheduleId], ["me", "nightly"]);
  const { action } = schedule!.action!;
  assert.ok(action.case === "startWorkflow");
  const start = action.value;
  assert.deepEqual([start.workflowId, start.workflowType?.name, start.taskQueue?.name], [
    "nightly-workflow",
    "Report",
    "reports",
  ]);
  assert.deepEqual(start.input?.payloads.map((each) => defaultPayloadConverter.fromPayload(each)), [
    "sales",
    2,
  ]);
  assert.deepEqual([start.workflowRunTimeout?.seconds, start.retryPolicy?.maximumAttempts], [
    3600n,
    3,
  ]);
  assert.equal(defaultPayloadConverter.fromPayload(start.memo!.fields["by"]!), "me");
  assert.equal(
    new TextDecoder().decode(start.searchAttributes!.indexedFields["Customer"]!.metadata["type"]),
    "Keyword",
  );
  assert.equal(defaultPayloadConverter.fromPayload(start.userMetadata!.summary!), "a report");
  const { policies, state } = schedule!;
  assert.deepEqual([
    policies?.overlapPolicy,
    policies?.catchupWindow?.seconds,
    policies?.pauseOnFailure,
  ], [
    ScheduleOverlapPolicy.BUFFER_ONE,
    600n,
    true,
  ]);
  assert.deepEqual([state?.paused, state?.notes, state?.limitedActions, state?.remainingActions], [
    true,
    "not yet",
    true,
    3n,
  ]);
  assert.equal(
    initialPatch?.triggerImmediately?.overlapPolicy,
    ScheduleOverlapPolicy.UNSPECIFIED,
    "the schedule's own",
  );
  assert.equal(initialPatch?.backfillRequest[0]?.overlapPolicy, ScheduleOverlapPolicy.ALLOW_ALL);
  assert.equal(defaultPayloadConverter.fromPayload(memo!.fields["owner"]!), "ada");
  assert.deepEqual(Object.keys(searchAttributes!.indexedFields), ["Customer"]);
});

test("an invalid schedule is rejected before anything is sent", async () => {
  const service = new ScriptedService();
  const schedules = client(service).schedule;
  const refused = (change: object, words: RegExp) =>
    assert.rejects(schedules.create({ ...OPTIONS, ...change } as ScheduleOptions<string>), words);
  await refused({ scheduleId: "" }, /needs a scheduleId/);
  await refused({ action: { workflowType: "Report" } }, /the only valid type is "startWorkflow"/);
  await refused(
    { action: { type: "startWorkflow", workflowType: undefined } },
    /expected a definition or a name/,
  );
  await refused(
    { policies: { overlap: "SOMETIMES" } },
    /invalid overlap policy "SOMETIMES"; valid values: SKIP, BUFFER_ONE/,
  );
  await refused(
    { state: { remainingActions: -1 } },
    /remainingActions must be an integer .*not -1/,
  );
  await refused(
    { state: { backfill: [{ start: new Date(5), end: new Date(1) }] } },
    /ends before its start/,
  );
  const noQueue = new Client({ service, logger: silentLogger });
  await assert.rejects(noQueue.schedule.create(OPTIONS), /has no task queue/);
  await assert.rejects(schedules.getHandle("x").pause(""), /note of a pause/);
  assert.equal(service.calls.length, 0);
});

test("pause, unpause, trigger and backfill are patches with a request id", async () => {
  const service = new ScriptedService().on("patchSchedule", () => ({})).on(
    "deleteSchedule",
    () => ({}),
  );
  const handle = client(service).schedule.getHandle("nightly");
  await handle.pause("holidays");
  await handle.unpause();
  await handle.trigger();
  await handle.trigger("TERMINATE_OTHER");
  await handle.backfill({ start: new Date(0), end: new Date(3_600_000) });
  await handle.delete();
  const requests = service.requests("patchSchedule");
  const patches = requests.map((request) => request.patch!);
  assert.equal(patches[0]!.pause, "holidays");
  assert.notEqual(patches[1]!.unpause, "");
  assert.equal(patches[2]!.triggerImmediately?.overlapPolicy, ScheduleOverlapPolicy.ALLOW_ALL);
  assert.equal(
    patches[3]!.triggerImmediately?.overlapPolicy,
    ScheduleOverlapPolicy.TERMINATE_OTHER,
  );
  assert.equal(patches[4]!.backfillRequest[0]?.endTime?.seconds, 3600n);
  assert.equal(new Set(requests.map((request) => request.requestId)).size, 5);
  assert.deepEqual([
    service.requests("deleteSchedule")[0]!.scheduleId,
    service.requests("deleteSchedule")[0]!.identity,
  ], [
    "nightly",
    "me",
  ]);
});

const strange = {
  metadata: { encoding: new TextEncoder().encode("binary/strange") },
  data: Uint8Array.of(1, 2, 3),
};
const described = (): MessageInitShape<typeof DescribeScheduleResponseSchema> => ({
  schedule: {
    spec: { ...encodeSpec({ calendars: [{ hour: 3 }] }) },
    action: {
      action: {
        case: "startWorkflow",
        value: {
          workflowId: "nightly-workflow",
          workflowType: { name: "Report" },
          taskQueue: { name: "reports" },
          input: { payloads: [payload("sales"), strange] },
          memo: { fields: { by: strange } },
          header: { fields: { trace: payload("t") } },
          workflowRunTimeout: { seconds: 60n },
          userMetadata: { summary: payload("a report") },
        },
      },
    },
    policies: {
      overlapPolicy: ScheduleOverlapPolicy.SKIP,
      catchupWindow: { seconds: 60n },
      keepOriginalWorkflowId: true,
    },
    state: { paused: true, notes: "holidays", limitedActions: true, remainingActions: 2n },
  },
  info: {
    actionCount: 5n,
    overlapSkipped: 1n,
    recentActions: [{
      scheduleTime: { seconds: 10n },
      actualTime: { seconds: 11n },
      startWorkflowResult: { workflowId: "nightly-workflow-10", runId: "r" },
      startWorkflowStatus: 2,
    }],
    runningWorkflows: [{ workflowId: "nightly-workflow-10", runId: "r" }],
    futureActionTimes: [{ seconds: 20n }],
    createTime: { seconds: 1n },
  },
  memo: { fields: { owner: payload("ada") } },
  conflictToken: Uint8Array.of(1),
});

test("a description has every field with its type", async () => {
  const service = new ScriptedService().on("describeSchedule", described);
  const { spec, action, policies, state, info, memo } = await client(service).schedule.getHandle(
    "nightly",
  ).describe();
  assert.deepEqual(spec.calendars[0]?.hour, [{ start: 3, end: 3, step: 1 }]);
  assert.equal(action.workflowType, "Report");
  assert.equal(action.args[0], "sales");
  assert.deepEqual([action.taskQueue, action.runTimeout, action.summary], [
    "reports",
    60_000,
    "a report",
  ]);
  assert.deepEqual(policies, { overlap: "SKIP", catchupWindow: 60_000, pauseOnFailure: false });
  assert.deepEqual(state, { paused: true, note: "holidays", remainingActions: 2 });
  assert.deepEqual(info, {
    recentActions: [{
      scheduledAt: new Date(10_000),
      takenAt: new Date(11_000),
      workflow: { workflowId: "nightly-workflow-10", firstExecutionRunId: "r" },
      status: "COMPLETED",
    }],
    nextActionTimes: [new Date(20_000)],
    runningActions: [{ workflowId: "nightly-workflow-10", firstExecutionRunId: "r" }],
    numActionsTaken: 5,
    numActionsMissedCatchupWindow: 0,
    numActionsSkippedOverlap: 1,
    createdAt: new Date(1000),
    lastUpdatedAt: undefined,
  });
  assert.deepEqual(memo, { owner: "ada" });
});

test("a schedule whose description has no counters has taken no action", async () => {
  const service = new ScriptedService().on(
    "describeSchedule",
    () => ({ schedule: { action: described().schedule!.action } }),
  );
  const { info } = await client(service).schedule.getHandle("nightly").describe();
  assert.deepEqual(info, {
    recentActions: [],
    nextActionTimes: [],
    runningActions: [],
    numActionsTaken: 0,
    numActionsMissedCatchupWindow: 0,
    numActionsSkippedOverlap: 0,
    createdAt: undefined,
    lastUpdatedAt: undefined,
  });
});

test("an update keeps unchanged parts byte for byte, also values that it cannot read", async () => {
  const service = new ScriptedService().on("describeSchedule", described).on(
    "updateSchedule",
    () => ({}),
  );
  const handle = client(service).schedule.getHandle("nightly");
  await handle.update((now) => ({
    ...now,
    spec: { ...now.spec, timezone: "Europe/Berlin" },
    state: { paused: false },
  }));
  const { schedule, searchAttributes } = service.requests("updateSchedule")[0]!;
  const kept = schedule!.action!.action.value!;
  const bytes = ({ metadata, data }: Payload) => [metadata["encoding"], data];
  assert.deepEqual(kept.input?.payloads.map(bytes), [payload("sales"), strange].map(bytes));
  assert.deepEqual(bytes(kept.memo!.fields["by"]!), bytes(strange));
  assert.deepEqual(bytes(kept.header!.fields["trace"]!), bytes(payload("t")));
  assert.deepEqual(bytes(kept.userMetadata!.summary!), bytes(payload("a report")));
  assert.equal(schedule!.spec?.timezoneName, "Europe/Berlin");
  assert.deepEqual([schedule!.state?.paused, schedule!.state?.limitedActions], [false, false]);
  assert.equal(schedule!.policies?.keepOriginalWorkflowId, true);
  assert.equal(searchAttributes, undefined, "they stay as they are");

  await handle.update((now) => ({
    ...now,
    action: { ...now.action, args: ["costs"] },
    searchAttributes: { Customer: "eve" },
  }));
  const second = service.requests("updateSchedule")[1]!;
  const start = second.schedule!.action!.action.value!;
  assert.deepEqual(start.input?.payloads.map((each) => defaultPayloadConverter.fromPayload(each)), [
    "costs",
  ]);
  assert.deepEqual(start.memo?.fields["by"]?.data, strange.data);
  assert.deepEqual(Object.keys(second.searchAttributes!.indexedFields), ["Customer"]);
});

test("existing schedules, missing schedules, and services without schedules throw specific errors", async () => {
  const refusing = (code: Code, message: string, reason = "") => {
    const service = new ScriptedService();
    for (const method of ["createSchedule", "describeSchedule", "listSchedules"] as const) {
      service.on(method, () => {
        throw new ServiceError(code, message, reason);
      });
    }
    return client(service).schedule;
  };
  await assert.rejects(
    refusing(Code.ALREADY_EXISTS, "schedule is already running", "WorkflowExecutionAlreadyStarted")
      .create(OPTIONS),
    (error) => error instanceof ScheduleAlreadyRunningError && error.scheduleId === "nightly",
  );
  await assert.rejects(
    refusing(Code.NOT_FOUND, "workflow not found", "NotFound").getHandle("x").describe(),
    (error) => error instanceof ScheduleNotFoundError && /schedule x not found/.test(error.message),
  );
  await assert.rejects(
    refusing(Code.UNIMPLEMENTED, "needs a cluster").list().next(),
    /needs a cluster/,
  );
});

test("lists are paged, and interceptors see every operation on schedules", async () => {
  const seen: string[] = [];
  const service = new ScriptedService()
    .on("listSchedules", (request, _options, attempt) => ({
      schedules: [{
        scheduleId: `s${attempt}`,
        info: {
          workflowType: { name: "Report" },
          paused: true,
          notes: request.query,
          futureActionTimes: [{ seconds: 5n }],
        },
      }],
      nextPageToken: new Uint8Array(attempt < 2 ? 1 : 0),
    }))
    .on("createSchedule", () => ({}))
    .on("describeSchedule", described)
    .on("updateSchedule", () => ({}))
    .on("patchSchedule", () => ({}))
    .on("deleteSchedule", () => ({}));
  const { schedule } = new Client({
    service,
    taskQueue: "q",
    interceptors: [{
      any(call, next) {
        seen.push(call.operation);
        if ("headers" in call.input) call.input.headers["tenant"] = payload("acme");
        return next();
      },
    }],
  });
  const listed = [];
  for await (
    const { scheduleId, workflowType, state, info } of schedule.list({ query: "q", pageSize: 1 })
  ) {
    listed.push([
      scheduleId,
      workflowType,
      state.paused,
      state.note,
      info.nextActionTimes[0]?.getTime(),
    ]);
  }
  assert.deepEqual(listed, [["s1", "Report", true, "q", 5000], ["s2", "Report", true, "q", 5000]]);
  const handle = await schedule.create(OPTIONS);
  await handle.update((now) => now);
  await handle.pause();
  await handle.delete();
  assert.deepEqual(seen, [
    "listSchedules",
    "listSchedules",
    "createSchedule",
    "updateSchedule",
    "patchSchedule",
    "deleteSchedule",
  ]);
  const headers = [service.requests("createSchedule")[0]!, service.requests("updateSchedule")[0]!]
    .map((request) => Object.keys(request.schedule!.action!.action.value!.header!.fields).sort());
  assert.deepEqual(headers, [["tenant"], ["tenant", "trace"]]);
});
