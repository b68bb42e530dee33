// A closed run made from its history: the search attributes and the memo that it had at its end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { closedRun } from "../../../ts/engine/maintenance/mod.ts";
import {
  MemoSchema,
  SearchAttributesSchema,
} from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const value = (given: Parameters<typeof defaultPayloadConverter.fromPayload>[0] | undefined) =>
  given === undefined ? undefined : defaultPayloadConverter.fromPayload(given);

test("a closed run keeps its start attributes and its own changes", () => {
  const attributes = [
    {
      case: "workflowExecutionStartedEventAttributes",
      value: {
        ...{ workflowId: "w", originalExecutionRunId: "r", firstExecutionRunId: "r", attempt: 1 },
        ...{ workflowType: { name: "W" }, taskQueue: { name: "q" } },
        searchAttributes: {
          indexedFields: {
            Kept: payload("kept"),
            Changed: payload("before"),
            Removed: payload("gone"),
          },
        },
        memo: { fields: { kept: payload(1), changed: payload(2) } },
      },
    },
    { case: "workflowTaskScheduledEventAttributes", value: { taskQueue: { name: "q" } } },
    { case: "workflowTaskStartedEventAttributes", value: { scheduledEventId: 2n } },
    {
      case: "workflowTaskCompletedEventAttributes",
      value: { scheduledEventId: 2n, startedEventId: 3n },
    },
    {
      case: "upsertWorkflowSearchAttributesEventAttributes",
      value: {
        workflowTaskCompletedEventId: 4n,
        searchAttributes: {
          indexedFields: { Changed: payload("after"), New: payload("new"), Removed: payload(null) },
        },
      },
    },
    {
      case: "workflowPropertiesModifiedEventAttributes",
      value: {
        workflowTaskCompletedEventId: 4n,
        upsertedMemo: { fields: { changed: payload(3), more: payload(4) } },
      },
    },
    {
      case: "workflowExecutionCompletedEventAttributes",
      value: { workflowTaskCompletedEventId: 4n },
    },
  ];
  const {
    WORKFLOW_EXECUTION_STARTED,
    WORKFLOW_TASK_SCHEDULED,
    WORKFLOW_TASK_STARTED,
    WORKFLOW_TASK_COMPLETED,
  } = EventType;
  const {
    UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
    WORKFLOW_PROPERTIES_MODIFIED,
    WORKFLOW_EXECUTION_COMPLETED,
  } = EventType;
  const types = [
    ...[
      WORKFLOW_EXECUTION_STARTED,
      WORKFLOW_TASK_SCHEDULED,
      WORKFLOW_TASK_STARTED,
      WORKFLOW_TASK_COMPLETED,
    ],
    ...[
      UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
      WORKFLOW_PROPERTIES_MODIFIED,
      WORKFLOW_EXECUTION_COMPLETED,
    ],
  ];
  const events = attributes.map((each, i) => ({
    ...{
      eventId: BigInt(i + 1),
      eventType: types[i],
      eventTime: { seconds: BigInt(1_800_000_000 + i) },
    },
    attributes: each,
  }));
  const history = toBinary(HistorySchema, create(HistorySchema, { events: events as never }));
  const { row } = closedRun({ history, runId: "r" });
  const { indexedFields } = fromBinary(SearchAttributesSchema, row!.searchAttributes);
  const { fields } = fromBinary(MemoSchema, row!.memo);
  assert.deepEqual(
    [
      value(indexedFields["Kept"]),
      value(indexedFields["Changed"]),
      value(indexedFields["New"]),
      indexedFields["Removed"],
    ],
    ["kept", "after", "new", undefined],
  );
  assert.deepEqual([value(fields["kept"]), value(fields["changed"]), value(fields["more"])], [
    1,
    3,
    4,
  ]);
  assert.deepEqual([row!.historyLength, row!.status, row!.closeTimeMs], [7, 2, 1_800_000_006_000]);
});
