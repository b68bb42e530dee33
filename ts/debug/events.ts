// Formats events of a history, one line each.
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { shownActivity } from "../converter/procedure_names.ts";
import { readMarker } from "./run/markers.ts";
import { Subscriptions } from "./run/subscribing.ts";
import { readTimerName, readTimerSummary } from "./timer_name.ts";
import { formatShort, printArgs } from "./value_text.ts";
import {
  formatExactDuration,
  readPayload,
  readPayloads,
  toPlainData,
  toShownFailure,
} from "./values.ts";

/** One event. */
export interface EventLine {
  /** From 1, as in the history. */
  readonly eventId: number;
  /** "TimerStarted", "ActivityTaskCompleted", ... */
  readonly type: string;
  /** In milliseconds since the epoch; undefined if the event has no time. */
  readonly timeMs: number | undefined;
  /** Summary in one line; may be "". */
  readonly summary: string;
}

const camel = (name: string) =>
  name.split("_").map((word) => word.slice(0, 1) + word.slice(1).toLowerCase()).join("");
const NAMES = new Map<number, string>(
  Object.entries(EventType).map(([name, value]) => [value, camel(name)]),
);

/** Returns one line per event. */
export function makeEventLines(
  events: readonly HistoryEvent[],
  converter?: PayloadConverter,
): EventLine[] {
  const so: SoFar = { timers: new Map(), subscriptions: new Subscriptions() };
  return events.map((event) => lineOf(event, converter, so));
}

/** Facts of earlier events. */
interface SoFar {
  /** Names of timers, by the event that started them. */
  readonly timers: Map<bigint, string>;
  readonly subscriptions: Subscriptions;
}

function lineOf(
  event: HistoryEvent,
  converter: PayloadConverter | undefined,
  so: SoFar,
): EventLine {
  const { eventId, eventType, eventTime } = event;
  const type = NAMES.get(eventType) ?? `EventType${eventType}`;
  const timeMs = eventTime === undefined
    ? undefined
    : Number(eventTime.seconds) * 1000 + Math.floor(eventTime.nanos / 1e6);
  return { eventId: Number(eventId), type, timeMs, summary: summaryOf(event, converter, so) };
}

function summaryOf(
  event: HistoryEvent,
  converter: PayloadConverter | undefined,
  { timers, subscriptions }: SoFar,
): string {
  const { attributes, eventId, userMetadata } = event;
  const value = (payload: Payload | undefined) => toPlainData(readPayload(payload, converter));
  const args = (payloads: Parameters<typeof readPayloads>[0]) =>
    printArgs(readPayloads(payloads, converter));
  const result = (payloads: Parameters<typeof readPayloads>[0]) =>
    formatShort(readPayloads(payloads, converter)[0]);
  const duration = (d: { seconds: bigint; nanos: number } | undefined) =>
    formatExactDuration(d === undefined ? 0 : Number(d.seconds) * 1000 + d.nanos / 1e6);
  const record = (payloads: { readonly [name: string]: Payload } | undefined) =>
    formatShort(
      Object.fromEntries(Object.entries(payloads ?? {}).map(([name, each]) => [name, value(each)])),
    );
  const childOf = (
    { workflowType, workflowExecution }: {
      workflowType?: { name: string };
      workflowExecution?: { workflowId: string };
    },
  ) => `${workflowType?.name ?? ""} ${workflowExecution?.workflowId ?? ""}`;
  switch (attributes.case) {
    case "workflowExecutionStartedEventAttributes":
      subscriptions.changed(attributes.value.searchAttributes?.indexedFields, converter);
      return `${attributes.value.workflowType?.name ?? ""}(${
        args(attributes.value.input?.payloads)
      })`;
    case "workflowExecutionCompletedEventAttributes":
      return result(attributes.value.result?.payloads);
    case "workflowExecutionFailedEventAttributes":
    case "workflowTaskFailedEventAttributes":
    case "activityTaskFailedEventAttributes":
      return toShownFailure(attributes.value.failure).message;
    case "workflowExecutionTerminatedEventAttributes":
      return attributes.value.reason;
    case "workflowExecutionContinuedAsNewEventAttributes":
      return `${attributes.value.workflowType?.name ?? ""}(${
        args(attributes.value.input?.payloads)
      })`;
    case "activityTaskScheduledEventAttributes":
      return `${shownActivity(attributes.value.activityType?.name ?? "")}(${
        args(attributes.value.input?.payloads)
      })`;
    case "activityTaskStartedEventAttributes":
      return `attempt ${attributes.value.attempt}`;
    case "activityTaskCompletedEventAttributes":
      return result(attributes.value.result?.payloads);
    case "timerStartedEventAttributes": {
      const { timerId, startToFireTimeout } = attributes.value;
      const summary = readTimerSummary(userMetadata?.summary, converter);
      const name = readTimerName(summary);
      if (name !== "") timers.set(eventId, name);
      const said = name === "" && summary !== "" ? `: ${formatShort(summary)}` : "";
      return `timer ${name || timerId} for ${duration(startToFireTimeout)}${said}`;
    }
    case "timerFiredEventAttributes":
    case "timerCanceledEventAttributes":
      return `timer ${timers.get(attributes.value.startedEventId) ?? attributes.value.timerId}`;
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
      const { message, cause } = toShownFailure(attributes.value.failure);
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
    case "upsertWorkflowSearchAttributesEventAttributes": {
      const { indexedFields } = attributes.value.searchAttributes ?? {};
      return subscriptions.changed(indexedFields, converter) ?? record(indexedFields);
    }
    case "workflowPropertiesModifiedEventAttributes":
      return record(attributes.value.upsertedMemo?.fields);
    case "markerRecordedEventAttributes": {
      const { markerName, details, failure } = attributes.value;
      const gave = details["result"] === undefined
        ? ""
        : ` = ${result(details["result"].payloads)}`;
      const end = failure === undefined ? gave : `: ${toShownFailure(failure).message}`;
      const { kind, name } = readMarker(attributes.value, converter);
      if (kind === "localActivity") return `${name}${end}`;
      return markerName === "Transact"
        ? `${name}(${args(details["arguments"]?.payloads)})${end}`
        : markerName;
    }
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
      return outcome?.case === "failure"
        ? toShownFailure(outcome.value).message
        : result(outcome?.value?.payloads);
    }
    default:
      return "";
  }
}
