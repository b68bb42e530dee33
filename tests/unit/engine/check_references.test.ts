// Fields by which an event names an earlier event: each must refer to an event of the right type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { checkReferences } from "../../../ts/engine/maintenance/check_references.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

type Name = keyof typeof EventType;

/** The error for an event whose field names an event of that type. */
function formatFinding(
  name: Name,
  field: string,
  of: Name | "nothing",
  number = 1n,
): { problems: string[]; notes: string[] } {
  const found = { problems: [], notes: [] };
  const words = name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const attributes = { case: `${words}EventAttributes`, value: { [field]: number } };
  const first = of === "nothing" ? [] : [{ eventId: 1n, eventType: EventType[of] }];
  const events = [...first, {
    eventId: BigInt(first.length + 1),
    eventType: EventType[name],
    attributes,
  }];
  checkReferences(
    create(HistorySchema, { events: events as never }).events as HistoryEvent[],
    found,
  );
  return found;
}

const ANSWERS: readonly [Name, field: string, to: Name][] = [
  ["WORKFLOW_TASK_STARTED", "scheduledEventId", "WORKFLOW_TASK_SCHEDULED"],
  ["WORKFLOW_TASK_COMPLETED", "startedEventId", "WORKFLOW_TASK_STARTED"],
  ["ACTIVITY_TASK_STARTED", "scheduledEventId", "ACTIVITY_TASK_SCHEDULED"],
  ["ACTIVITY_TASK_COMPLETED", "startedEventId", "ACTIVITY_TASK_STARTED"],
  ["TIMER_FIRED", "startedEventId", "TIMER_STARTED"],
  [
    "CHILD_WORKFLOW_EXECUTION_STARTED",
    "initiatedEventId",
    "START_CHILD_WORKFLOW_EXECUTION_INITIATED",
  ],
  [
    "START_CHILD_WORKFLOW_EXECUTION_FAILED",
    "initiatedEventId",
    "START_CHILD_WORKFLOW_EXECUTION_INITIATED",
  ],
  ["CHILD_WORKFLOW_EXECUTION_COMPLETED", "startedEventId", "CHILD_WORKFLOW_EXECUTION_STARTED"],
  ["NEXUS_OPERATION_STARTED", "scheduledEventId", "NEXUS_OPERATION_SCHEDULED"],
  [
    "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED",
    "initiatedEventId",
    "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  ],
  [
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "initiatedEventId",
    "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  ],
  [
    "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED",
    "initiatedEventId",
    "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  ],
  [
    "EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "initiatedEventId",
    "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  ],
];

for (const [name, field, to] of ANSWERS) {
  test(`${name} refers to ${to}`, () => {
    assert.deepEqual(formatFinding(name, field, to), { problems: [], notes: [] });
    const { problems } = formatFinding(name, field, "MARKER_RECORDED");
    assert.match(
      problems.join(),
      new RegExp(`has the ${field} 1, but that event is a MARKER_RECORDED$`),
    );
    assert.match(
      formatFinding(name, field, "nothing").problems.join(),
      new RegExp(`has the ${field} 1, but no earlier event`),
    );
    assert.deepEqual(
      formatFinding(name, field, to, 0n),
      { problems: [], notes: [] },
      "a number that is left out",
    );
  });
}

test("a wrong workflow task id of a command is only a remark", () => {
  const { problems, notes } = formatFinding(
    "TIMER_STARTED",
    "workflowTaskCompletedEventId",
    "nothing",
    9n,
  );
  assert.deepEqual(problems, []);
  assert.match(
    notes.join(),
    /has the workflowTaskCompletedEventId 9, but no earlier event has that id$/,
  );
});
