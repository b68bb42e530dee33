// What a reset to a point does with the later events of the history: messages are applied again
// unless excluded, commands of later tasks are not.
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

/** Kinds of messages that a reset can exclude. */
export type Reapplied = "SIGNAL" | "UPDATE" | "CANCEL_REQUEST";

/** A workflow task to whose completion the run can be reset. */
export interface ResetTask {
  /** Id of its WorkflowTaskCompleted event. */
  readonly eventId: number;
  readonly timeMs: number | undefined;
}

export interface LaterMessage {
  readonly eventId: number;
  readonly kind: Reapplied;
  /** Name of the signal or update; empty for a cancel request. */
  readonly name: string;
}

export interface ResetPreview {
  readonly messages: readonly LaterMessage[];
  /** Work of later tasks that the new run requests again if its code does: "activity charge". */
  readonly again: readonly { readonly what: string; readonly times: number }[];
  /** Child workflows that were started later and are not stopped by the reset. */
  readonly children: readonly string[];
}

/** Tasks of a history in order. */
export function resetTasks(events: readonly HistoryEvent[]): ResetTask[] {
  return events.flatMap(({ attributes: { case: kind }, eventId, eventTime }) =>
    kind !== "workflowTaskCompletedEventAttributes" ? [] : [{
      eventId: Number(eventId),
      timeMs: eventTime === undefined ? undefined : Number(eventTime.seconds) * 1000,
    }]
  );
}

/** `point`: id of a WorkflowTaskCompleted event. */
export function previewReset(events: readonly HistoryEvent[], point: number): ResetPreview {
  const messages: LaterMessage[] = [];
  const again = new Map<string, number>();
  const children: string[] = [];
  const add = (what: string) => again.set(what, (again.get(what) ?? 0) + 1);
  for (const { eventId, attributes } of events) {
    const id = Number(eventId);
    if (id <= point) continue;
    switch (attributes.case) {
      case "workflowExecutionSignaledEventAttributes":
        messages.push({ eventId: id, kind: "SIGNAL", name: attributes.value.signalName });
        break;
      case "workflowExecutionUpdateAcceptedEventAttributes":
        messages.push({
          eventId: id,
          kind: "UPDATE",
          name: attributes.value.acceptedRequest?.input?.name ?? "",
        });
        break;
      case "workflowExecutionUpdateAdmittedEventAttributes":
        messages.push({
          eventId: id,
          kind: "UPDATE",
          name: attributes.value.request?.input?.name ?? "",
        });
        break;
      case "workflowExecutionCancelRequestedEventAttributes":
        messages.push({ eventId: id, kind: "CANCEL_REQUEST", name: "" });
        break;
      case "activityTaskScheduledEventAttributes":
        add(`activity ${attributes.value.activityType?.name ?? ""}`);
        break;
      case "timerStartedEventAttributes":
        add("timer");
        break;
      case "startChildWorkflowExecutionInitiatedEventAttributes":
        add(`child workflow ${attributes.value.workflowType?.name ?? ""}`);
        children.push(attributes.value.workflowId);
        break;
    }
  }
  return {
    messages,
    again: [...again].map(([what, times]) => ({ what, times })),
    children,
  };
}
