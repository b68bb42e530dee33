// A history in which events are missing is refused, and what is before the gap comes with the
// refusal: a page can show it.
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import test from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowTypeSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { HistoryFileError, openRun, readHistoryFile } from "../../../ts/debug/mod.ts";

const started = { workflowType: create(WorkflowTypeSchema, { name: "Order" }) };

/** Signals, behind the start of a run. */
const history = (...ids: readonly number[]): Uint8Array => {
  const events = ids.map((id) =>
    create(HistoryEventSchema, {
      eventId: BigInt(id),
      ...(id === 1
        ? {
          eventType: EventType.WORKFLOW_EXECUTION_STARTED,
          attributes: { case: "workflowExecutionStartedEventAttributes", value: started },
        }
        : {
          eventType: EventType.WORKFLOW_EXECUTION_SIGNALED,
          attributes: {
            case: "workflowExecutionSignaledEventAttributes",
            value: { signalName: "add" },
          },
        }),
    })
  );
  return toBinary(HistorySchema, create(HistorySchema, { events }));
};

const refusal = async (bytes: Uint8Array): Promise<HistoryFileError> => {
  const error = await readHistoryFile(bytes).then(() => undefined, (e: unknown) => e);
  ok(error instanceof HistoryFileError);
  return error;
};

test("the error for a history with a gap contains the events before the gap, which can be opened", async () => {
  const { message, before } = await refusal(history(1, 2, 3, 6, 7));
  strictEqual(message, "events[3] has the id 6, after 3: events are missing between them");
  deepStrictEqual(before, history(1, 2, 3));
  strictEqual((await openRun(before)).lines.length, 3);
  // Newest first, as the UI lists them.
  const { events } = fromBinary(HistorySchema, history(1, 2, 5));
  const reversed = toBinary(HistorySchema, create(HistorySchema, { events: events.toReversed() }));
  deepStrictEqual((await refusal(reversed)).before, history(1, 2));
});

test("a history without its first event or with repeated events is rejected", async () => {
  strictEqual((await refusal(history(2, 3))).before, undefined);
  strictEqual((await refusal(history(1, 2, 2, 3))).before, undefined);
  strictEqual((await refusal(history(1, 3, 2))).before, undefined);
  await rejects(openRun(history(1, 3)), HistoryFileError);
});
