// The run id of a history.
import { WorkflowTaskFailedCause } from "../messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";

/**
 * Returns the id of the run of a history; "" if it is missing. A reset copies the beginning of
 * another run with its id; the event after the copy has the new id.
 */
export function runIdIn(events: readonly HistoryEvent[]): string {
  const reset = events.findLast(({ attributes: { case: kind, value } }) =>
    kind === "workflowTaskFailedEventAttributes" &&
    value.cause === WorkflowTaskFailedCause.RESET_WORKFLOW &&
    value.newRunId !== ""
  )?.attributes;
  if (reset?.case === "workflowTaskFailedEventAttributes") return reset.value.newRunId;
  const first = events[0]?.attributes;
  return first?.case === "workflowExecutionStartedEventAttributes"
    ? first.value.originalExecutionRunId
    : "";
}
