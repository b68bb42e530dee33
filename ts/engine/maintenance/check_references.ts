// References of events to earlier events, by event id. Replay finds the command of an event this
// way, so a dangling reference is damage. 0 or less means "not set", for example for a timeout
// before any start.
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { eventName, type Findings, typeName } from "./findings.ts";

/** Fields that refer to the event that this one resolves. */
const ANSWERS: ReadonlySet<string> = new Set([
  "scheduledEventId",
  "startedEventId",
  "initiatedEventId",
]);
/**
 * Fields that replay does not use: the workflow task of a command, the request of an accepted
 * update. Published histories that were shortened by hand have wrong ones, and every SDK replays
 * them.
 */
const REMARKS: ReadonlySet<string> = new Set([
  "workflowTaskCompletedEventId",
  "acceptedEventId",
  "latestCancelRequestedEventId",
]);

/** [prefix of the event type, field, valid types of the referenced event]. */
const FAMILIES: readonly (readonly [family: string, field: string, types: readonly EventType[]])[] =
  [
    ["WORKFLOW_TASK_", "scheduledEventId", [EventType.WORKFLOW_TASK_SCHEDULED]],
    ["WORKFLOW_TASK_", "startedEventId", [EventType.WORKFLOW_TASK_STARTED]],
    ["ACTIVITY_", "scheduledEventId", [EventType.ACTIVITY_TASK_SCHEDULED]],
    ["ACTIVITY_", "startedEventId", [EventType.ACTIVITY_TASK_STARTED]],
    ["TIMER_", "startedEventId", [EventType.TIMER_STARTED]],
    ["CHILD_WORKFLOW_", "initiatedEventId", [EventType.START_CHILD_WORKFLOW_EXECUTION_INITIATED]],
    ["START_CHILD_WORKFLOW_", "initiatedEventId", [
      EventType.START_CHILD_WORKFLOW_EXECUTION_INITIATED,
    ]],
    ["CHILD_WORKFLOW_", "startedEventId", [EventType.CHILD_WORKFLOW_EXECUTION_STARTED]],
    ["NEXUS_OPERATION_", "scheduledEventId", [EventType.NEXUS_OPERATION_SCHEDULED]],
    ["SIGNAL_EXTERNAL_", "initiatedEventId", [
      EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
    ]],
    ["EXTERNAL_WORKFLOW_EXECUTION_SIGNALED", "initiatedEventId", [
      EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
    ]],
    ["REQUEST_CANCEL_EXTERNAL_", "initiatedEventId", [
      EventType.REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
    ]],
    [
      "EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED",
      "initiatedEventId",
      [EventType.REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED],
    ],
  ];

const KNOWN: ReadonlySet<number> = new Set(
  Object.values(EventType).filter((type) => type !== EventType.UNSPECIFIED),
);

/** Checks the references of events whose ids are consecutive. */
export function checkReferences(
  events: readonly HistoryEvent[],
  { problems, notes }: Findings,
): void {
  for (const [i, event] of events.entries()) {
    for (const [field, value] of Object.entries(event.attributes.value ?? {})) {
      if (typeof value !== "bigint" || value <= 0n || !(ANSWERS.has(field) || REMARKS.has(field))) {
        continue;
      }
      const at = eventName(event, i);
      const target = value > BigInt(i) ? undefined : events[Number(value) - 1];
      const remark = REMARKS.has(field);
      if (target === undefined) {
        (remark ? notes : problems).push(
          `${at} has the ${field} ${value}, but no earlier event has that id`,
        );
        continue;
      }
      const types = remark ? undefined : answered(typeName(event.eventType), field);
      // The meaning of an event of a newer server is not known here.
      if (types === undefined || types.includes(target.eventType) || !KNOWN.has(target.eventType)) {
        continue;
      }
      problems.push(
        `${at} has the ${field} ${value}, but that event is a ${typeName(target.eventType)}`,
      );
    }
  }
}

function answered(name: string, field: string): readonly EventType[] | undefined {
  return FAMILIES.find(([family, of]) => field === of && name.startsWith(family))?.[2];
}
