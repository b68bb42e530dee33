// The things of a history: which events belong together. One pass over the events; every kind of event has its place in the switch.
import type { HistoryEvent } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { timeOf } from "./event_time.ts";
import { markerOf } from "./markers.ts";
import { shownDuration } from "../values.ts";
import { msOf } from "./event_time.ts";
import type { ItemKind, ItemStatus, RunItem } from "./types.ts";

type Made = { -readonly [field in keyof RunItem]: RunItem[field] } & { eventIds: number[] };

/** The things of a history, and the one that each event belongs to (index: event id). */
export interface Grouped {
  readonly items: readonly RunItem[];
  readonly ofEvent: readonly (RunItem | undefined)[];
}

export function groupEvents(events: readonly HistoryEvent[], converter?: PayloadConverter): Grouped {
  const grouper = new Grouper(converter);
  for (const event of events) grouper.add(event);
  return grouper;
}

class Grouper implements Grouped {
  readonly items: Made[] = [];
  readonly ofEvent: (Made | undefined)[] = [];
  readonly #converter: PayloadConverter | undefined;
  /** Updates by the caller's id, and by the protocol's. */
  readonly #updates = new Map<string, Made>();

  constructor(converter: PayloadConverter | undefined) {
    this.#converter = converter;
  }

  add(event: HistoryEvent): void {
    const { attributes: at } = event;
    switch (at.case) {
      case "workflowExecutionStartedEventAttributes":
        return this.#begin(event, "run", at.value.workflowType?.name ?? "", at.value.workflowId, "completed");
      case "workflowExecutionCompletedEventAttributes":
        return this.#begin(event, "run", "completes", "", "completed");
      case "workflowExecutionFailedEventAttributes":
        return this.#begin(event, "run", "fails", "", "failed");
      case "workflowExecutionTimedOutEventAttributes":
        return this.#begin(event, "run", "times out", "", "timedOut");
      case "workflowExecutionCanceledEventAttributes":
        return this.#begin(event, "run", "is canceled", "", "canceled");
      case "workflowExecutionTerminatedEventAttributes":
        return this.#begin(event, "run", "is terminated", "", "terminated");
      case "workflowExecutionContinuedAsNewEventAttributes":
        return this.#begin(event, "run", "continues as new", at.value.newExecutionRunId, "completed");
      case "workflowExecutionCancelRequestedEventAttributes":
        return this.#begin(event, "signal", "cancel request", "", "completed");
      case "workflowExecutionSignaledEventAttributes":
        return this.#begin(event, "signal", at.value.signalName, "", "completed");
      case "workflowExecutionOptionsUpdatedEventAttributes":
        return this.#begin(event, "run", "options updated", "", "completed");
      case "workflowExecutionPausedEventAttributes":
        return this.#begin(event, "run", "is paused", "", "completed");
      case "workflowExecutionUnpausedEventAttributes":
        return this.#begin(event, "run", "goes on", "", "completed");
      case "workflowExecutionTimeSkippingTransitionedEventAttributes":
        return this.#begin(event, "run", "time is skipped", "", "completed");
      case "workflowPropertiesModifiedEventAttributes":
      case "workflowPropertiesModifiedExternallyEventAttributes":
        return this.#begin(event, "searchAttributes", "memo", "", "completed");
      case "upsertWorkflowSearchAttributesEventAttributes":
        return this.#begin(event, "searchAttributes", "search attributes", "", "completed");

      case "workflowTaskScheduledEventAttributes":
        return this.#begin(event, "task", "workflow task", "", "open");
      case "workflowTaskStartedEventAttributes":
        return this.#goOn(event, at.value.scheduledEventId);
      case "workflowTaskCompletedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "completed");
      case "workflowTaskFailedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "failed");
      case "workflowTaskTimedOutEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "timedOut");

      case "activityTaskScheduledEventAttributes":
        return this.#begin(event, "activity", at.value.activityType?.name ?? "", at.value.activityId, "open");
      case "activityTaskStartedEventAttributes":
        this.#goOn(event, at.value.scheduledEventId);
        this.#attempt(event, at.value.attempt);
        return;
      case "activityTaskCancelRequestedEventAttributes":
        return this.#goOn(event, at.value.scheduledEventId);
      case "activityPropertiesModifiedExternallyEventAttributes":
        return this.#goOn(event, at.value.scheduledEventId);
      case "activityTaskCompletedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "completed");
      case "activityTaskFailedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "failed");
      case "activityTaskTimedOutEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "timedOut");
      case "activityTaskCanceledEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "canceled");

      case "timerStartedEventAttributes": {
        const name = `timer ${shownDuration(msOf(at.value.startToFireTimeout) ?? 0)}`;
        return this.#begin(event, "timer", name, at.value.timerId, "open");
      }
      case "timerFiredEventAttributes":
        return this.#close(event, at.value.startedEventId, "completed");
      case "timerCanceledEventAttributes":
        return this.#close(event, at.value.startedEventId, "canceled");

      case "startChildWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(event, "child", at.value.workflowType?.name ?? "", at.value.workflowId, "open");
      case "childWorkflowExecutionStartedEventAttributes":
        return this.#goOn(event, at.value.initiatedEventId);
      case "startChildWorkflowExecutionFailedEventAttributes":
      case "childWorkflowExecutionFailedEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "failed");
      case "childWorkflowExecutionCompletedEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "completed");
      case "childWorkflowExecutionCanceledEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "canceled");
      case "childWorkflowExecutionTimedOutEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "timedOut");
      case "childWorkflowExecutionTerminatedEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "terminated");

      case "signalExternalWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(event, "external", at.value.signalName, at.value.workflowExecution?.workflowId ?? "", "open");
      case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(event, "external", "cancel request", at.value.workflowExecution?.workflowId ?? "", "open");
      case "externalWorkflowExecutionSignaledEventAttributes":
      case "externalWorkflowExecutionCancelRequestedEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "completed");
      case "signalExternalWorkflowExecutionFailedEventAttributes":
      case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
        return this.#close(event, at.value.initiatedEventId, "failed");

      case "workflowExecutionUpdateAdmittedEventAttributes": {
        const { meta, input } = at.value.request ?? {};
        this.#begin(event, "update", input?.name ?? "", meta?.updateId ?? "", "open");
        this.#updates.set(meta?.updateId ?? "", this.items.at(-1)!);
        return;
      }
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const { protocolInstanceId, acceptedRequest } = at.value;
        const id = acceptedRequest?.meta?.updateId || protocolInstanceId;
        const admitted = this.#updates.get(id);
        if (admitted !== undefined && admitted.status === "open") return this.#add(event, admitted);
        this.#begin(event, "update", acceptedRequest?.input?.name ?? "", id, "open");
        this.#updates.set(id, this.items.at(-1)!);
        return;
      }
      case "workflowExecutionUpdateRejectedEventAttributes": {
        const { rejectedRequest, protocolInstanceId } = at.value;
        return this.#begin(event, "update", rejectedRequest?.input?.name ?? "", protocolInstanceId, "rejected");
      }
      case "workflowExecutionUpdateCompletedEventAttributes": {
        const status = at.value.outcome?.value.case === "failure" ? "failed" : "completed";
        const update = this.ofEvent[Number(at.value.acceptedEventId)] ?? this.#updates.get(at.value.meta?.updateId ?? "");
        return this.#closeItem(event, update, status, "update");
      }

      case "nexusOperationScheduledEventAttributes":
        return this.#begin(event, "nexus", `${at.value.service}.${at.value.operation}`, at.value.endpoint, "open");
      case "nexusOperationStartedEventAttributes":
      case "nexusOperationCancelRequestedEventAttributes":
      case "nexusOperationCancelRequestCompletedEventAttributes":
      case "nexusOperationCancelRequestFailedEventAttributes":
        return this.#goOn(event, at.value.scheduledEventId);
      case "nexusOperationCompletedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "completed");
      case "nexusOperationFailedEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "failed");
      case "nexusOperationCanceledEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "canceled");
      case "nexusOperationTimedOutEventAttributes":
        return this.#close(event, at.value.scheduledEventId, "timedOut");

      case "markerRecordedEventAttributes": {
        const { kind, name, key } = markerOf(at.value, this.#converter);
        return this.#begin(event, kind, name, key, at.value.failure === undefined ? "completed" : "failed");
      }
      // What a newer server writes.
      default:
        return this.#begin(event, "unknown", `event type ${event.eventType}`, "", "completed");
    }
  }

  #begin(event: HistoryEvent, kind: ItemKind, name: string, key: string, status: ItemStatus): void {
    const id = Number(event.eventId);
    const time = timeOf(event);
    const open = status === "open";
    const item: Made = {
      index: this.items.length,
      kind,
      name,
      key,
      eventIds: [id],
      from: id,
      to: id,
      startMs: time,
      endMs: open ? undefined : time,
      status,
      closedBy: open ? undefined : id,
      attempt: 0,
    };
    this.items.push(item);
    this.ofEvent[id] = item;
  }

  #add(event: HistoryEvent, item: Made): void {
    const id = Number(event.eventId);
    item.eventIds.push(id);
    item.to = id;
    this.ofEvent[id] = item;
  }

  #attempt(event: HistoryEvent, attempt: number): void {
    const item = this.ofEvent[Number(event.eventId)];
    if (item !== undefined) item.attempt = attempt;
  }

  /** An event about something that an earlier one began. */
  #goOn(event: HistoryEvent, began: bigint): void {
    const item = this.ofEvent[Number(began)];
    if (item !== undefined) this.#add(event, item);
    else this.#begin(event, "unknown", `about event ${began}, which is not here`, "", "completed");
  }

  #close(event: HistoryEvent, began: bigint, status: ItemStatus): void {
    this.#closeItem(event, this.ofEvent[Number(began)], status, `event ${began}`);
  }

  #closeItem(event: HistoryEvent, item: Made | undefined, status: ItemStatus, what: string): void {
    if (item === undefined) return this.#begin(event, "unknown", `about ${what}, which is not here`, "", status);
    this.#add(event, item);
    item.status = status;
    item.closedBy = Number(event.eventId);
    item.endMs = timeOf(event);
  }
}
