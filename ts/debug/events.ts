// Events of a history for people: one line each, and what an event answers or came from (its key is that of the command in commands.ts).
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { EventType } from "../api/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import { aboutEvent, TaskKeys } from "./command_keys.ts";
import { short, shortArgs } from "./commands.ts";
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

/** What ties events to commands, and to each other. */
export interface EventLinks {
  /** The event that a command became, by the command's key. */
  readonly byKey: ReadonlyMap<string, number>;
  /** The event that ends what a command began: "timer 1", "activity 2". */
  readonly endOf: ReadonlyMap<string, number>;
  /** When an activity's attempt began (by "activity 2"; its event stands in history only once the attempt has ended), or a child. */
  readonly startOf: ReadonlyMap<string, number>;
  /** The last event that a workflow task wrote, by the id of its WorkflowTaskStarted. */
  readonly lastOfTask: ReadonlyMap<number, number>;
}

const UPDATES: ReadonlySet<string | undefined> = new Set([
  "workflowExecutionUpdateAcceptedEventAttributes",
  "workflowExecutionUpdateCompletedEventAttributes",
]);

export function linksOf(events: readonly HistoryEvent[], converter: PayloadConverter | undefined): EventLinks {
  const byKey = new Map<string, number>();
  const endOf = new Map<string, number>();
  const startOf = new Map<string, number>();
  const lastOfTask = new Map<number, number>();
  const keyOfEvent = new Map<bigint, string>();
  const keyOfUpdate = new Map<string, string>();
  const taskKeys = new TaskKeys();
  /** WorkflowTaskCompleted to WorkflowTaskStarted. */
  const startedOf = new Map<bigint, number>();
  let lastStarted: number | undefined;
  const became = (key: string, { eventId }: HistoryEvent) => {
    if (!byKey.has(key)) byKey.set(key, Number(eventId));
    keyOfEvent.set(eventId, key);
  };
  const ends = (scheduled: bigint, { eventId }: HistoryEvent) => {
    const key = keyOfEvent.get(scheduled);
    if (key !== undefined && !endOf.has(key)) endOf.set(key, Number(eventId));
  };
  for (const event of events) {
    const { attributes, eventId } = event;
    const writtenBy = (attributes.value as { workflowTaskCompletedEventId?: bigint } | undefined)?.workflowTaskCompletedEventId;
    // Answers to updates do not say which task gave them: the last one.
    const startedId = UPDATES.has(attributes.case) ? lastStarted : writtenBy === undefined ? undefined : startedOf.get(writtenBy);
    if (startedId !== undefined) lastOfTask.set(startedId, Number(eventId));
    const about = aboutEvent(event);
    if (about !== undefined && startedId !== undefined) became(taskKeys.next(startedId, about), event);
    switch (attributes.case) {
      case "workflowTaskCompletedEventAttributes":
        lastStarted = Number(attributes.value.startedEventId);
        startedOf.set(eventId, lastStarted);
        lastOfTask.set(lastStarted, Number(eventId));
        break;
      case "timerStartedEventAttributes":
        became(`timer ${attributes.value.timerId}`, event);
        break;
      case "timerFiredEventAttributes":
        ends(attributes.value.startedEventId, event);
        break;
      case "timerCanceledEventAttributes":
        became(`cancel timer ${attributes.value.timerId}`, event);
        break;
      case "activityTaskScheduledEventAttributes":
        became(`activity ${attributes.value.activityId}`, event);
        break;
      case "activityTaskStartedEventAttributes": {
        const key = keyOfEvent.get(attributes.value.scheduledEventId);
        if (key !== undefined) startOf.set(key, Number(eventId));
        break;
      }
      case "activityTaskCompletedEventAttributes":
      case "activityTaskFailedEventAttributes":
      case "activityTaskTimedOutEventAttributes":
      case "activityTaskCanceledEventAttributes":
        ends(attributes.value.scheduledEventId, event);
        break;
      case "activityTaskCancelRequestedEventAttributes":
        became(`cancel ${keyOfEvent.get(attributes.value.scheduledEventId) ?? ""}`, event);
        break;
      case "childWorkflowExecutionStartedEventAttributes": {
        const key = keyOfEvent.get(attributes.value.initiatedEventId);
        if (key !== undefined) startOf.set(key, Number(eventId));
        break;
      }
      case "startChildWorkflowExecutionFailedEventAttributes":
      case "childWorkflowExecutionCompletedEventAttributes":
      case "childWorkflowExecutionFailedEventAttributes":
      case "childWorkflowExecutionCanceledEventAttributes":
      case "childWorkflowExecutionTimedOutEventAttributes":
      case "childWorkflowExecutionTerminatedEventAttributes":
      case "externalWorkflowExecutionSignaledEventAttributes":
      case "signalExternalWorkflowExecutionFailedEventAttributes":
      case "externalWorkflowExecutionCancelRequestedEventAttributes":
      case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
        ends(attributes.value.initiatedEventId, event);
        break;
      case "markerRecordedEventAttributes": {
        const { markerName, details } = attributes.value;
        const first = (name: string) => plain(shown(details[name]?.payloads[0], converter));
        if (markerName === "SideEffect") became(`side effect ${first("side-effect-id")}`, event);
        for (const name of markerName === "core_patch" ? Object.keys(details) : []) {
          const id = (first(name) as { id?: unknown } | null | undefined)?.id;
          if (typeof id === "string") became(`patch ${id}`, event);
        }
        break;
      }
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const { protocolInstanceId, acceptedRequest } = attributes.value;
        became(`update ${protocolInstanceId}`, event);
        keyOfEvent.set(eventId, `update end ${protocolInstanceId}`);
        keyOfUpdate.set(acceptedRequest?.meta?.updateId ?? "", `update end ${protocolInstanceId}`);
        break;
      }
      case "workflowExecutionUpdateCompletedEventAttributes": {
        const { acceptedEventId, meta } = attributes.value;
        const key = keyOfEvent.get(acceptedEventId) ?? keyOfUpdate.get(meta?.updateId ?? "");
        if (key !== undefined) byKey.set(key, Number(eventId));
        break;
      }
      case "workflowExecutionCompletedEventAttributes":
        became("completed", event);
        break;
      case "workflowExecutionFailedEventAttributes":
        became("failed", event);
        break;
      case "workflowExecutionCanceledEventAttributes":
        became("canceled", event);
        break;
      case "workflowExecutionContinuedAsNewEventAttributes":
        became("continued", event);
        break;
    }
  }
  return { byKey, endOf, startOf, lastOfTask };
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
