// Activities that are asked for with the report that schedules them: what is asked, for how many,
// and what becomes of the slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { askEagerly, EagerActivities } from "../../../ts/worker/workflow/eager_activities.ts";
import { Slots } from "../../../ts/worker/polls/slots.ts";

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
