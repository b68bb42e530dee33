// Which run a history is of.
import { WorkflowTaskFailedCause } from "../api/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";

/**
 * The id of the run that a history is of; "" when it does not say. A reset copies the beginning of another run, the name of that run included, and the
 * event after the copy names the new one.
 */
export function runIdIn(events: readonly HistoryEvent[]): string {
  const reset = events.findLast(({ attributes: { case: kind, value } }) =>
    kind === "workflowTaskFailedEventAttributes" && value.cause === WorkflowTaskFailedCause.RESET_WORKFLOW &&
    value.newRunId !== ""
  )?.attributes;
  if (reset?.case === "workflowTaskFailedEventAttributes") return reset.value.newRunId;
  const first = events[0]?.attributes;
  return first?.case === "workflowExecutionStartedEventAttributes" ? first.value.originalExecutionRunId : "";
}
