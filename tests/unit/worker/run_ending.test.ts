// What is read out of histories and reports without decoding them: how a run begins, and how it
// ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { HeaderSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { readRunStart } from "../../../ts/messages/history_start.ts";
import { readEnding } from "../../../ts/worker/workflow/run_ending.ts";

const header = { fields: { trace: { metadata: {}, data: new Uint8Array([1, 2, 3]) } } };
const page = (eventId: bigint) =>
  toBinary(
    HistorySchema,
    create(HistorySchema, {
      events: [{
        eventId,
        eventTime: { seconds: 12n, nanos: 5_000_000 },
        attributes: {
          case: "workflowExecutionStartedEventAttributes",
          value: { workflowType: { name: "W" }, taskQueue: { name: "q" }, identity: "me", header },
        },
      }],
    }),
  );

test("the start event is read from the first page: its time and its header", () => {
  const start = readRunStart(page(1n))!;
  assert.equal(start.startMs, 12_005);
  assert.deepEqual([...start.header!], [...toBinary(HeaderSchema, create(HeaderSchema, header))]);
});

test("a page without a start event and invalid history bytes have no ending", () => {
  const timer = create(HistorySchema, {
    events: [{
      eventId: 9n,
      attributes: { case: "timerFiredEventAttributes", value: { timerId: "1" } },
    }],
  });
  assert.equal(readRunStart(toBinary(HistorySchema, timer)), undefined);
  assert.equal(readRunStart(new Uint8Array(0)), undefined);
  assert.equal(readRunStart(new Uint8Array([0xff, 0xff, 0xff])), undefined);
});

test("the command that closes a run is found among the others", () => {
  const ending = (...types: CommandType[]) => {
    const commands = types.map((commandType) => ({ commandType }));
    const fields = { taskToken: new Uint8Array([1]), identity: "me", commands };
    return readEnding(
      toBinary(
        RespondWorkflowTaskCompletedRequestSchema,
        create(RespondWorkflowTaskCompletedRequestSchema, fields),
      ),
    );
  };
  const { COMPLETE_WORKFLOW_EXECUTION, FAIL_WORKFLOW_EXECUTION, CANCEL_WORKFLOW_EXECUTION } =
    CommandType;
  const { CONTINUE_AS_NEW_WORKFLOW_EXECUTION, START_TIMER, RECORD_MARKER } = CommandType;
  assert.equal(ending(), undefined);
  assert.equal(ending(START_TIMER, RECORD_MARKER), undefined);
  assert.equal(ending(START_TIMER, COMPLETE_WORKFLOW_EXECUTION), "completed");
  assert.equal(ending(FAIL_WORKFLOW_EXECUTION, RECORD_MARKER), "failed");
  assert.equal(ending(CANCEL_WORKFLOW_EXECUTION), "canceled");
  assert.equal(ending(CONTINUE_AS_NEW_WORKFLOW_EXECUTION), "continue_as_new");
});
