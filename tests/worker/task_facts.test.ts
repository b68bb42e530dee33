// What a worker reads out of tasks and histories without decoding them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../ts/temporal/generated/temporal/api/history/v1/message_pb.ts";
import { HeaderSchema } from "../../ts/temporal/generated/temporal/api/common/v1/message_pb.ts";
import { readPageStart } from "../../ts/worker/task_facts.ts";

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

test("the start of a run is read from its first page: its time, and its header among the other fields", () => {
  const start = readPageStart(page(1n))!;
  assert.equal(start.startMs, 12_005);
  assert.deepEqual([...start.header!], [...toBinary(HeaderSchema, create(HeaderSchema, header))]);
});

test("a page without a start, and bytes that are no history, say nothing", () => {
  const timer = create(HistorySchema, {
    events: [{ eventId: 9n, attributes: { case: "timerFiredEventAttributes", value: { timerId: "1" } } }],
  });
  assert.equal(readPageStart(toBinary(HistorySchema, timer)), undefined);
  assert.equal(readPageStart(new Uint8Array(0)), undefined);
  assert.equal(readPageStart(new Uint8Array([0xff, 0xff, 0xff])), undefined);
});
