// Activities that are asked for with the report that schedules them: what is asked, for how many,
// and what becomes of the slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { askEagerly, EagerActivities } from "../../../ts/worker/workflow/eager_activities.ts";
import { Slots } from "../../../ts/worker/polls/slots.ts";
import { CACHE_UNUSED } from "../../../ts/executor/tasks/realm_outcome.ts";
import type { RealmOutcome } from "../../../ts/realm/realm.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { scriptedRealm } from "../../support/realms.ts";
import { waits } from "../../support/scripted_service.ts";
import { quietService } from "./support/scripted_worker.ts";

type Fields = MessageInitShape<typeof RespondWorkflowTaskCompletedRequestSchema>;
const encode = (fields: Fields) =>
  toBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    create(RespondWorkflowTaskCompletedRequestSchema, fields),
  );
const decode = (bytes: Uint8Array) => fromBinary(RespondWorkflowTaskCompletedRequestSchema, bytes);

const activity = (activityId: string, queue: string) => ({
  commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
  userMetadata: { summary: { data: new Uint8Array(300) } },
  attributes: {
    case: "scheduleActivityTaskCommandAttributes" as const,
    value: {
      activityId,
      activityType: { name: "echo" },
      taskQueue: { name: queue },
      input: { payloads: [{ data: new Uint8Array(200) }] },
    },
  },
});
const timer = (timerId: string) => ({
  commandType: CommandType.START_TIMER,
  attributes: { case: "startTimerCommandAttributes" as const, value: { timerId } },
});
const report = (...queues: string[]) =>
  encode({
    taskToken: new Uint8Array([1, 2, 3]),
    commands: [timer("t"), ...queues.map((queue, i) => activity(`a${i}`, queue)), timer("u")],
    identity: "me",
    returnNewWorkflowTask: true,
    sdkMetadata: { langUsedFlags: [1] },
  });

/** Which activities of a report are asked for. */
const asked = (request: Uint8Array) =>
  decode(request).commands.flatMap(({ attributes }) =>
    attributes.case === "scheduleActivityTaskCommandAttributes" &&
      attributes.value.requestEagerExecution
      ? [attributes.value.activityId]
      : []
  );

test("a report requests the activities of the worker's queue and is otherwise unchanged", () => {
  const before = report("mine", "other", "mine", "");
  const request = askEagerly(before, "mine", () => true)!;
  assert.deepEqual(asked(request), ["a0", "a2"]);
  const after = decode(request);
  for (const { attributes } of after.commands) {
    if (attributes.case === "scheduleActivityTaskCommandAttributes") {
      attributes.value.requestEagerExecution = false;
    }
  }
  assert.deepEqual(after, decode(before));
});

test("a report without such activities is not changed", () => {
  assert.equal(askEagerly(report("other"), "mine", () => true), undefined);
  assert.equal(askEagerly(encode({ identity: "me" }), "mine", () => true), undefined);
  assert.equal(askEagerly(report("mine"), "mine", () => false), undefined);
});

test("at most three activities are requested, each with a slot, and unused slots are released", () => {
  const slots = new Slots(10);
  const worked: { task: number; release: () => void }[] = [];
  const eager = new EagerActivities({
    taskQueue: "mine",
    slots,
    work: (task, release) => void worked.push({ task: task[0]!, release }),
  });
  const ask = eager.ask(report("mine", "mine", "mine", "mine"))!;
  assert.deepEqual(asked(ask.request), ["a0", "a1", "a2"]);
  assert.equal(slots.used, 3);
  ask.answered([new Uint8Array([7])]);
  assert.deepEqual(worked.map(({ task }) => task), [7]);
  assert.equal(slots.used, 1);
  worked[0]!.release();
  assert.equal(slots.used, 0);
});

test("slots reserved by polls are not used for eager activities", () => {
  const slots = new Slots(2);
  const held = slots.tryAcquire()!;
  const eager = new EagerActivities({ taskQueue: "mine", slots, work: (_, release) => release() });
  const first = eager.ask(report("mine", "mine"))!;
  assert.deepEqual(asked(first.request), ["a0"]);
  assert.equal(eager.ask(report("mine")), undefined);
  first.answered([]);
  held();
  assert.equal(slots.used, 0);
});

test("tasks that were not requested run as well", () => {
  const slots = new Slots(1);
  const worked: number[] = [];
  const eager = new EagerActivities({
    taskQueue: "mine",
    slots,
    work: (task, release) => {
      worked.push(task[0]!);
      release();
    },
  });
  eager.ask(report("mine"))!.answered([new Uint8Array([1]), new Uint8Array([2])]);
  assert.deepEqual(worked, [1, 2]);
  assert.equal(slots.used, 0);
});

test("eager dispatch is idle when every report with a request has its response", async () => {
  const eager = new EagerActivities({
    taskQueue: "mine",
    slots: new Slots(5),
    work: (_, release) => release(),
  });
  await eager.idle();
  const asks = [eager.ask(report("mine"))!, eager.ask(report("mine"))!];
  let idle = false;
  const waiting = eager.idle().then(() => (idle = true));
  asks[0]!.answered([]);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(idle, false);
  asks[1]!.answered([new Uint8Array([1])]);
  await waiting;
});

/** What a worker's report of one scheduled activity requests over a network. */
async function requestedBy(
  limits: { maxActivitiesPerSecond?: number; maxTaskQueueActivitiesPerSecond?: number },
): Promise<string[]> {
  let reported!: (activities: string[]) => void;
  const requested = new Promise<string[]>((resolve) => reported = resolve);
  let polls = 0;
  const inner = quietService()
    .on(
      "pollWorkflowTaskQueue",
      (_request, options) =>
        polls++ > 0 ? waits({ signal: options.signal! }) : {
          taskToken: new Uint8Array([1]),
          workflowExecution: { workflowId: "w", runId: "r" },
          workflowType: { name: "W" },
          attempt: 1,
          startedEventId: 3n,
          history: { events: [{ eventId: 1n }, { eventId: 2n }] },
        },
    )
    .on("respondWorkflowTaskCompleted", (request) => {
      reported(asked(toBinary(RespondWorkflowTaskCompletedRequestSchema, request)));
      return {};
    });
  const service: RawService = { losesCancelledPolls: true, call: (...args) => inner.call(...args) };
  const outcome = {
    evict: false,
    evictionReason: 0,
    warnings: [],
    cache: CACHE_UNUSED,
    runStartMs: 0,
    response: { $case: "completed", value: report("mine") },
  } as unknown as RealmOutcome;
  const worker = await Worker.create({
    service,
    taskQueue: "mine",
    logger: silentLogger,
    realm: scriptedRealm({ runTask: () => Promise.resolve(outcome) }),
    activities: { echo: () => {} },
    ...limits,
  });
  return await worker.runUntil(() => requested);
}

test("a worker requests eager activities, unless a rate limit is set, which they would bypass", async () => {
  assert.deepEqual(await requestedBy({}), ["a0"]);
  assert.deepEqual(await requestedBy({ maxActivitiesPerSecond: 1000 }), []);
  assert.deepEqual(await requestedBy({ maxTaskQueueActivitiesPerSecond: 1000 }), []);
});
