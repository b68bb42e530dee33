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
  return events.map((event) => makeLine(event, converter, so));
}

/** Facts of earlier events. */
interface SoFar {
  /** Names of timers, by the event that started them. */
  readonly timers: Map<bigint, string>;
  readonly subscriptions: Subscriptions;
}

function makeLine(
  event: HistoryEvent,
  converter: PayloadConverter | undefined,
  so: SoFar,
): EventLine {
  const { eventId, eventType, eventTime } = event;
  const type = NAMES.get(eventType) ?? `EventType${eventType}`;
  const timeMs = eventTime === undefined
    ? undefined
    : Number(eventTime.seconds) * 1000 + Math.floor(eventTime.nanos / 1e6);
  return { eventId: Number(eventId), type, timeMs, summary: summarize(event, converter, so) };
}

/** Formats the parts of an event's summary. */
class PayloadPrinter {
  readonly #converter: PayloadConverter | undefined;

  constructor(converter: PayloadConverter | undefined) {
    this.#converter = converter;
  }

  /** Arguments without parentheses. */
  args(payloads: Payloads): string {
    return printArgs(readPayloads(payloads, this.#converter));
  }

  result(payloads: Payloads): string {
    return formatShort(readPayloads(payloads, this.#converter)[0]);
  }

  call(name: string | undefined, input: { readonly payloads: Payloads } | undefined): string {
    return `${name ?? ""}(${this.args(input?.payloads)})`;
  }

  fields(payloads: { readonly [name: string]: Payload } | undefined): string {
    return formatShort(Object.fromEntries(
      Object.entries(payloads ?? {}).map((
        [name, each],
      ) => [name, toPlainData(readPayload(each, this.#converter))]),
    ));
  }
}

type Payloads = Parameters<typeof readPayloads>[0];

const formatChild = (
  { workflowType, workflowExecution }: {
    workflowType?: { name: string };
    workflowExecution?: { workflowId: string };
  },
) => `${workflowType?.name ?? ""} ${workflowExecution?.workflowId ?? ""}`;

const formatDuration = (duration: { seconds: bigint; nanos: number } | undefined) =>
  formatExactDuration(
    duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6,
  );

function summarize(
  event: HistoryEvent,
  converter: PayloadConverter | undefined,
  { timers, subscriptions }: SoFar,
): string {
  const { attributes, eventId, userMetadata } = event;
  const printer = new PayloadPrinter(converter);
  switch (attributes.case) {
    case "workflowExecutionStartedEventAttributes":
      subscriptions.changed(attributes.value.searchAttributes?.indexedFields, converter);
      return printer.call(attributes.value.workflowType?.name, attributes.value.input);
    case "workflowExecutionCompletedEventAttributes":
    case "activityTaskCompletedEventAttributes":
      return printer.result(attributes.value.result?.payloads);
    case "workflowExecutionFailedEventAttributes":
    case "workflowTaskFailedEventAttributes":
    case "activityTaskFailedEventAttributes":
      return toShownFailure(attributes.value.failure).message;
    case "workflowExecutionTerminatedEventAttributes":
      return attributes.value.reason;
    case "workflowExecutionContinuedAsNewEventAttributes":
      return printer.call(attributes.value.workflowType?.name, attributes.value.input);
    case "activityTaskScheduledEventAttributes": {
      const { activityType, input } = attributes.value;
      return printer.call(shownActivity(activityType?.name ?? ""), input);
    }
    case "activityTaskStartedEventAttributes":
      return `attempt ${attributes.value.attempt}`;
    case "timerStartedEventAttributes": {
      const { timerId, startToFireTimeout } = attributes.value;
      const summary = readTimerSummary(userMetadata?.summary, converter);
      const name = readTimerName(summary);
      if (name !== "") timers.set(eventId, name);
      const suffix = name === "" && summary !== "" ? `: ${formatShort(summary)}` : "";
      return `timer ${name || timerId} for ${formatDuration(startToFireTimeout)}${suffix}`;
    }
    case "timerFiredEventAttributes":
    case "timerCanceledEventAttributes":
      return `timer ${timers.get(attributes.value.startedEventId) ?? attributes.value.timerId}`;
    case "upsertWorkflowSearchAttributesEventAttributes": {
      const { indexedFields } = attributes.value.searchAttributes ?? {};
      return subscriptions.changed(indexedFields, converter) ?? printer.fields(indexedFields);
    }
    case "workflowPropertiesModifiedEventAttributes":
      return printer.fields(attributes.value.upsertedMemo?.fields);
    case "markerRecordedEventAttributes":
      return summarizeMarker(attributes.value, converter, printer);
    case "workflowExecutionSignaledEventAttributes":
      return printer.call(attributes.value.signalName, attributes.value.input);
    case "workflowExecutionCancelRequestedEventAttributes":
      return attributes.value.cause;
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const input = attributes.value.acceptedRequest?.input;
      return printer.call(input?.name, input?.args);
    }
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = attributes.value.outcome?.value;
      return outcome?.case === "failure"
        ? toShownFailure(outcome.value).message
        : printer.result(outcome?.value?.payloads);
    }
    default:
      return summarizeOtherWorkflow(attributes, printer);
  }
}

function summarizeMarker(
  marker: Extract<
    HistoryEvent["attributes"],
    { case: "markerRecordedEventAttributes" }
  >["value"],
  converter: PayloadConverter | undefined,
  printer: PayloadPrinter,
): string {
  const { markerName, details, failure } = marker;
  const result = details["result"] === undefined
    ? ""
    : ` = ${printer.result(details["result"].payloads)}`;
  const end = failure === undefined ? result : `: ${toShownFailure(failure).message}`;
  const { kind, name } = readMarker(marker, converter);
  if (kind === "localActivity") return `${name}${end}`;
  return markerName === "Transact"
    ? `${printer.call(name, details["arguments"])}${end}`
    : markerName;
}

/** Events about children and about signals and cancel requests to other workflows. */
function summarizeOtherWorkflow(
  attributes: HistoryEvent["attributes"],
  printer: PayloadPrinter,
): string {
  switch (attributes.case) {
    case "startChildWorkflowExecutionInitiatedEventAttributes": {
      const { workflowType, input, workflowId } = attributes.value;
      return `${printer.call(workflowType?.name, input)}, id ${workflowId}`;
    }
    case "startChildWorkflowExecutionFailedEventAttributes":
      return `${attributes.value.workflowType?.name ?? ""} ${attributes.value.workflowId}`;
    case "childWorkflowExecutionStartedEventAttributes":
    case "childWorkflowExecutionCanceledEventAttributes":
    case "childWorkflowExecutionTimedOutEventAttributes":
    case "childWorkflowExecutionTerminatedEventAttributes":
      return formatChild(attributes.value);
    case "childWorkflowExecutionCompletedEventAttributes": {
      const { value } = attributes;
      return `${formatChild(value)} = ${printer.result(value.result?.payloads)}`;
    }
    case "childWorkflowExecutionFailedEventAttributes": {
      const { message, cause } = toShownFailure(attributes.value.failure);
      return `${formatChild(attributes.value)}: ${message || cause?.message || ""}`;
    }
    case "signalExternalWorkflowExecutionInitiatedEventAttributes": {
      const { signalName, input, workflowExecution } = attributes.value;
      return `${printer.call(signalName, input)} to ${workflowExecution?.workflowId ?? ""}`;
    }
    case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
    case "externalWorkflowExecutionSignaledEventAttributes":
    case "externalWorkflowExecutionCancelRequestedEventAttributes":
    case "signalExternalWorkflowExecutionFailedEventAttributes":
    case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
      return attributes.value.workflowExecution?.workflowId ?? "";
    default:
      return "";
  }
}
