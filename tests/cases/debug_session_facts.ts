// What a view of a debug session must agree with: the commands and events of its history, as words.
import type { SessionView } from "../../ts/debug/mod.ts";
import { fromPayloads } from "../../ts/converter/payload.ts";
import { defaultPayloadConverter } from "../../ts/converter/mod.ts";
import type {
  HistoryEvent,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

/**
 * What history says that a task asked for, as words; `undefined` for events that no command makes.
 */
export function wordsOf({ attributes }: HistoryEvent): string | undefined {
  const values = (p: { payloads: never[] } | undefined) =>
    JSON.stringify(fromPayloads(defaultPayloadConverter, p?.payloads));
  switch (attributes.case) {
    case "timerStartedEventAttributes":
      return `StartTimer ${attributes.value.timerId}`;
    case "timerCanceledEventAttributes":
      return `CancelTimer ${attributes.value.timerId}`;
    case "activityTaskScheduledEventAttributes": {
      const { activityId, activityType, input } = attributes.value;
      return `ScheduleActivity ${activityId} ${activityType?.name} ${values(input as never)}`;
    }
    case "markerRecordedEventAttributes":
      return attributes.value.markerName;
    case "workflowExecutionUpdateAcceptedEventAttributes":
      return `AcceptUpdate ${attributes.value.protocolInstanceId}`;
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = attributes.value.outcome?.value;
      return outcome?.case === "success"
        ? `CompleteUpdate ${values(outcome.value as never)}`
        : "RejectUpdate";
    }
    case "workflowExecutionCompletedEventAttributes":
      return `CompleteWorkflow ${values(attributes.value.result as never)}`;
    case "workflowExecutionFailedEventAttributes":
      return `FailWorkflow ${attributes.value.failure?.message}`;
    case "workflowExecutionContinuedAsNewEventAttributes":
      return `ContinueAsNew ${values(attributes.value.input as never)}`;
    default:
      return undefined;
  }
}

/** A command of a view, in the words of `wordsOf`. */
export function commandWords({ kind, attributes: a }: SessionView["commands"][number]): string {
  const text = JSON.stringify;
  switch (kind) {
    case "StartTimer":
    case "CancelTimer":
      return `${kind} ${a["timerId"]}`;
    case "ScheduleActivity":
      return `${kind} ${a["activityId"]} ${a["activityType"]} ${text(a["arguments"])}`;
    case "RecordSideEffect":
      return "SideEffect";
    case "AcceptUpdate":
      return `${kind} ${a["protocolInstanceId"]}`;
    case "CompleteUpdate":
    case "CompleteWorkflow":
      return `${kind} ${text([a["result"]])}`;
    case "RejectUpdate":
      return kind;
    case "FailWorkflow":
      return `${kind} ${(a["failure"] as { message: string }).message}`;
    default:
      return `${kind} ${text(a["arguments"])}`;
  }
}

/** The events that the task which started at an event wrote. */
export function writtenBy(events: readonly HistoryEvent[], startedEventId: number): HistoryEvent[] {
  const completed = events.findIndex(({ attributes }) =>
    attributes.case === "workflowTaskCompletedEventAttributes" &&
    Number(attributes.value.startedEventId) === startedEventId
  );
  if (completed < 0) return [];
  const rest = events.slice(completed + 1);
  const end = rest.findIndex((event) => wordsOf(event) === undefined);
  return end < 0 ? rest : rest.slice(0, end);
}

/** What of a view a replay of the prefix alone can know. */
export function known(
  { commands, published, open, receive, messages, logs, outcome, task }: SessionView,
  position: number,
) {
  const past = (eventId: number | undefined) =>
    eventId !== undefined && eventId <= position ? eventId : undefined;
  return {
    ...{ published, open, receive, messages, logs, task },
    commands: commands.map((command) => ({ ...command, eventId: past(command.eventId) })),
    outcome: outcome && { ...outcome, eventId: past(outcome.eventId) },
  };
}
