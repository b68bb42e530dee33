// Events of a history for people, one line each.
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { EventType } from "../api/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import { short, shortArgs } from "./value_text.ts";
import { plain, shown, shownAll, shownDuration, shownFailure } from "./values.ts";

/** One event. */
export interface EventLine {
  /** From 1, as in the history. */
  readonly eventId: number;
  /** "TimerStarted", "ActivityTaskCompleted", ... */
  readonly type: string;
  /** When, in milliseconds since the epoch; undefined where the event does not say. */
  readonly timeMs: number | undefined;
  /** What it says in one line; may be "". */
  readonly summary: string;
}

const camel = (name: string) => name.split("_").map((word) => word.slice(0, 1) + word.slice(1).toLowerCase()).join("");
const NAMES = new Map<number, string>(Object.entries(EventType).map(([name, value]) => [value, camel(name)]));

export function lineOf(event: HistoryEvent, converter?: PayloadConverter): EventLine {
  const { eventId, eventType, eventTime } = event;
  const type = NAMES.get(eventType) ?? `EventType${eventType}`;
  const timeMs = eventTime === undefined ? undefined : Number(eventTime.seconds) * 1000 + Math.floor(eventTime.nanos / 1e6);
  return { eventId: Number(eventId), type, timeMs, summary: summaryOf(event, converter) };
}

function summaryOf({ attributes }: HistoryEvent, converter: PayloadConverter | undefined): string {
  const args = (payloads: Parameters<typeof shownAll>[0]) => shortArgs(shownAll(payloads, converter));
  const result = (payloads: Parameters<typeof shownAll>[0]) => short(shownAll(payloads, converter)[0]);
  const duration = (d: { seconds: bigint; nanos: number } | undefined) =>
    shownDuration(d === undefined ? 0 : Number(d.seconds) * 1000 + d.nanos / 1e6);
  const record = (payloads: { readonly [name: string]: Payload } | undefined) =>
    short(Object.fromEntries(Object.entries(payloads ?? {}).map(([name, payload]) => [name, plain(shown(payload, converter))])));
  const childOf = (
    { workflowType, workflowExecution }: { workflowType?: { name: string }; workflowExecution?: { workflowId: string } },
  ) => `${workflowType?.name ?? ""} ${workflowExecution?.workflowId ?? ""}`;
  switch (attributes.case) {
    case "workflowExecutionStartedEventAttributes":
      return `${attributes.value.workflowType?.name ?? ""}(${args(attributes.value.input?.payloads)})`;
    case "workflowExecutionCompletedEventAttributes":
      return result(attributes.value.result?.payloads);
    case "workflowExecutionFailedEventAttributes":
    case "workflowTaskFailedEventAttributes":
    case "activityTaskFailedEventAttributes":
      return shownFailure(attributes.value.failure).message;
    case "workflowExecutionTerminatedEventAttributes":
      return attributes.value.reason;
    case "workflowExecutionContinuedAsNewEventAttributes":
      return `${attributes.value.workflowType?.name ?? ""}(${args(attributes.value.input?.payloads)})`;
    case "activityTaskScheduledEventAttributes":
      return `${attributes.value.activityType?.name ?? ""}(${args(attributes.value.input?.payloads)})`;
    case "activityTaskStartedEventAttributes":
      return `attempt ${attributes.value.attempt}`;
    case "activityTaskCompletedEventAttributes":
      return result(attributes.value.result?.payloads);
    case "timerStartedEventAttributes":
      return `timer ${attributes.value.timerId} for ${duration(attributes.value.startToFireTimeout)}`;
    case "timerFiredEventAttributes":
    case "timerCanceledEventAttributes":
      return `timer ${attributes.value.timerId}`;
    case "startChildWorkflowExecutionInitiatedEventAttributes": {
      const { workflowType, input, workflowId } = attributes.value;
      return `${workflowType?.name ?? ""}(${args(input?.payloads)}), id ${workflowId}`;
    }
    case "startChildWorkflowExecutionFailedEventAttributes":
      return `${attributes.value.workflowType?.name ?? ""} ${attributes.value.workflowId}`;
    case "childWorkflowExecutionStartedEventAttributes":
    case "childWorkflowExecutionCanceledEventAttributes":
    case "childWorkflowExecutionTimedOutEventAttributes":
    case "childWorkflowExecutionTerminatedEventAttributes":
      return childOf(attributes.value);
    case "childWorkflowExecutionCompletedEventAttributes":
      return `${childOf(attributes.value)} = ${result(attributes.value.result?.payloads)}`;
    case "childWorkflowExecutionFailedEventAttributes": {
      const { message, cause } = shownFailure(attributes.value.failure);
      return `${childOf(attributes.value)}: ${message || cause?.message || ""}`;
    }
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return `${attributes.value.signalName}(${args(attributes.value.input?.payloads)}) to ${
        attributes.value.workflowExecution?.workflowId ?? ""
      }`;
    case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
    case "externalWorkflowExecutionSignaledEventAttributes":
    case "externalWorkflowExecutionCancelRequestedEventAttributes":
    case "signalExternalWorkflowExecutionFailedEventAttributes":
    case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
      return attributes.value.workflowExecution?.workflowId ?? "";
    case "upsertWorkflowSearchAttributesEventAttributes":
      return record(attributes.value.searchAttributes?.indexedFields);
    case "workflowPropertiesModifiedEventAttributes":
      return record(attributes.value.upsertedMemo?.fields);
    case "markerRecordedEventAttributes":
      return attributes.value.markerName;
    case "workflowExecutionSignaledEventAttributes":
      return `${attributes.value.signalName}(${args(attributes.value.input?.payloads)})`;
    case "workflowExecutionCancelRequestedEventAttributes":
      return attributes.value.cause;
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const input = attributes.value.acceptedRequest?.input;
      return `${input?.name ?? ""}(${args(input?.args?.payloads)})`;
    }
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = attributes.value.outcome?.value;
      return outcome?.case === "failure" ? shownFailure(outcome.value).message : result(outcome?.value?.payloads);
    }
    default:
      return "";
  }
}
