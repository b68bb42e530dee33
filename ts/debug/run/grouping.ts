// Groups the events of a history into items in one pass. A test checks that every type of event is
// handled.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { shownActivity } from "../../converter/procedure_names.ts";
import { eventTimeMs, toMilliseconds } from "./event_time.ts";
import { readMarker } from "./markers.ts";
import { Subscriptions } from "./subscribing.ts";
import { readTimerName, readTimerSummary } from "../timer_name.ts";
import { formatExactDuration } from "../values.ts";
import type { ItemKind, ItemStatus, RunItem } from "./types.ts";

type Made = { -readonly [field in keyof RunItem]: RunItem[field] } & { eventIds: number[] };

/** The items of a history, and the item of each event (index: event ID). */
export interface Grouped {
  readonly items: readonly RunItem[];
  readonly ofEvent: readonly (RunItem | undefined)[];
}

export function groupEvents(
  events: readonly HistoryEvent[],
  converter?: PayloadConverter,
): Grouped {
  const grouper = new Grouper(converter);
  for (const event of events) grouper.add(event);
  return grouper;
}

type Case = NonNullable<HistoryEvent["attributes"]["case"]>;

/** Items of a single event with a fixed name. */
const MOMENTS: {
  readonly [kind in Case]?: readonly [kind: ItemKind, name: string, status: ItemStatus];
} = {
  workflowExecutionCompletedEventAttributes: ["run", "completes", "completed"],
  workflowExecutionFailedEventAttributes: ["run", "fails", "failed"],
  workflowExecutionTimedOutEventAttributes: ["run", "times out", "timedOut"],
  workflowExecutionCanceledEventAttributes: ["run", "is canceled", "canceled"],
  workflowExecutionTerminatedEventAttributes: ["run", "is terminated", "terminated"],
  workflowExecutionCancelRequestedEventAttributes: ["signal", "cancel request", "completed"],
  workflowExecutionOptionsUpdatedEventAttributes: ["run", "options updated", "completed"],
  workflowExecutionPausedEventAttributes: ["run", "is paused", "completed"],
  workflowExecutionUnpausedEventAttributes: ["run", "is unpaused", "completed"],
  workflowExecutionTimeSkippingTransitionedEventAttributes: ["run", "time is skipped", "completed"],
  workflowPropertiesModifiedEventAttributes: ["searchAttributes", "memo", "completed"],
  workflowPropertiesModifiedExternallyEventAttributes: ["searchAttributes", "memo", "completed"],
  workflowTaskScheduledEventAttributes: ["task", "workflow task", "open"],
};

/** Events that close the item of an earlier event. */
const ENDS: { readonly [kind in Case]?: ItemStatus } = {
  workflowTaskCompletedEventAttributes: "completed",
  workflowTaskFailedEventAttributes: "failed",
  workflowTaskTimedOutEventAttributes: "timedOut",
  activityTaskCompletedEventAttributes: "completed",
  activityTaskFailedEventAttributes: "failed",
  activityTaskTimedOutEventAttributes: "timedOut",
  activityTaskCanceledEventAttributes: "canceled",
  timerFiredEventAttributes: "completed",
  timerCanceledEventAttributes: "canceled",
  startChildWorkflowExecutionFailedEventAttributes: "failed",
  childWorkflowExecutionFailedEventAttributes: "failed",
  childWorkflowExecutionCompletedEventAttributes: "completed",
  childWorkflowExecutionCanceledEventAttributes: "canceled",
  childWorkflowExecutionTimedOutEventAttributes: "timedOut",
  childWorkflowExecutionTerminatedEventAttributes: "terminated",
  externalWorkflowExecutionSignaledEventAttributes: "completed",
  externalWorkflowExecutionCancelRequestedEventAttributes: "completed",
  signalExternalWorkflowExecutionFailedEventAttributes: "failed",
  requestCancelExternalWorkflowExecutionFailedEventAttributes: "failed",
  nexusOperationCompletedEventAttributes: "completed",
  nexusOperationFailedEventAttributes: "failed",
  nexusOperationCanceledEventAttributes: "canceled",
  nexusOperationTimedOutEventAttributes: "timedOut",
};

/** Events between the first and the last event of an item. */
const MIDDLES: ReadonlySet<Case> = new Set<Case>([
  "workflowTaskStartedEventAttributes",
  "activityTaskStartedEventAttributes",
  "activityTaskCancelRequestedEventAttributes",
  "activityPropertiesModifiedExternallyEventAttributes",
  "childWorkflowExecutionStartedEventAttributes",
  "nexusOperationStartedEventAttributes",
  "nexusOperationCancelRequestedEventAttributes",
  "nexusOperationCancelRequestCompletedEventAttributes",
  "nexusOperationCancelRequestFailedEventAttributes",
]);

/**
 * Returns the ID of the event that began the item. For a timer that is its start; other items were
 * scheduled or initiated before they started.
 */
function beganBy(attributes: object): bigint {
  const { scheduledEventId, initiatedEventId, startedEventId } = attributes as {
    readonly [field: string]: bigint | undefined;
  };
  return scheduledEventId ?? initiatedEventId ?? startedEventId ?? 0n;
}

class Grouper implements Grouped {
  readonly items: Made[] = [];
  readonly ofEvent: (Made | undefined)[] = [];
  readonly #converter: PayloadConverter | undefined;
  readonly #subscriptions = new Subscriptions();
  /** Updates by the caller's ID and by the protocol's ID. */
  readonly #updates = new Map<string, Made>();

  constructor(converter: PayloadConverter | undefined) {
    this.#converter = converter;
  }

  add(event: HistoryEvent): void {
    const { attributes: at } = event;
    if (at.case === undefined) return this.#unknown(event);
    const moment = MOMENTS[at.case];
    if (moment !== undefined) return this.#begin(event, ...moment);
    const end = ENDS[at.case];
    if (end !== undefined) return this.#close(event, beganBy(at.value), end);
    if (MIDDLES.has(at.case)) {
      this.#goOn(event, beganBy(at.value));
      if (at.case === "activityTaskStartedEventAttributes") this.#attempt(event, at.value.attempt);
      return;
    }
    if (at.case.startsWith("workflowExecutionUpdate")) return this.#update(event);
    return this.#named(event);
  }

  /** Begins an item with a name from the user. */
  #named(event: HistoryEvent): void {
    const { attributes: at } = event;
    switch (at.case) {
      case "workflowExecutionStartedEventAttributes":
        // Events of the previous run.
        this.#subscriptions.changed(at.value.searchAttributes?.indexedFields, this.#converter);
        return this.#begin(
          event,
          "run",
          at.value.workflowType?.name ?? "",
          "completed",
          at.value.workflowId,
        );
      case "upsertWorkflowSearchAttributesEventAttributes": {
        const changed = this.#subscriptions.changed(
          at.value.searchAttributes?.indexedFields,
          this.#converter,
        );
        return this.#begin(event, "searchAttributes", changed ?? "search attributes", "completed");
      }
      case "workflowExecutionContinuedAsNewEventAttributes":
        return this.#begin(
          event,
          "run",
          "continues as new",
          "completed",
          at.value.newExecutionRunId,
        );
      case "workflowExecutionSignaledEventAttributes":
        return this.#begin(event, "signal", at.value.signalName, "completed");
      case "activityTaskScheduledEventAttributes":
        return this.#begin(
          event,
          "activity",
          shownActivity(at.value.activityType?.name ?? ""),
          "open",
          at.value.activityId,
        );
      case "timerStartedEventAttributes": {
        const named = readTimerName(readTimerSummary(event.userMetadata?.summary, this.#converter));
        const name = named === ""
          ? formatExactDuration(toMilliseconds(at.value.startToFireTimeout) ?? 0)
          : named;
        return this.#begin(event, "timer", `timer ${name}`, "open", at.value.timerId);
      }
      case "startChildWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(
          event,
          "child",
          at.value.workflowType?.name ?? "",
          "open",
          at.value.workflowId,
        );
      case "signalExternalWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(
          event,
          "external",
          at.value.signalName,
          "open",
          at.value.workflowExecution?.workflowId,
        );
      case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
        return this.#begin(
          event,
          "external",
          "cancel request",
          "open",
          at.value.workflowExecution?.workflowId,
        );
      case "nexusOperationScheduledEventAttributes":
        return this.#begin(
          event,
          "nexus",
          `${at.value.service}.${at.value.operation}`,
          "open",
          at.value.endpoint,
        );
      case "markerRecordedEventAttributes": {
        const { kind, name, key } = readMarker(at.value, this.#converter);
        return this.#begin(
          event,
          kind,
          name,
          at.value.failure === undefined ? "completed" : "failed",
          key,
        );
      }
      default:
        return this.#unknown(event);
    }
  }

  #update(event: HistoryEvent): void {
    const { attributes: at } = event;
    switch (at.case) {
      case "workflowExecutionUpdateAdmittedEventAttributes": {
        const { meta, input } = at.value.request ?? {};
        this.#begin(event, "update", input?.name ?? "", "open", meta?.updateId);
        this.#updates.set(meta?.updateId ?? "", this.items.at(-1)!);
        return;
      }
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const { protocolInstanceId, acceptedRequest } = at.value;
        const id = acceptedRequest?.meta?.updateId || protocolInstanceId;
        const admitted = this.#updates.get(id);
        if (admitted !== undefined && admitted.status === "open") return this.#add(event, admitted);
        this.#begin(event, "update", acceptedRequest?.input?.name ?? "", "open", id);
        this.#updates.set(id, this.items.at(-1)!);
        return;
      }
      case "workflowExecutionUpdateRejectedEventAttributes": {
        const { rejectedRequest, protocolInstanceId } = at.value;
        return this.#begin(
          event,
          "update",
          rejectedRequest?.input?.name ?? "",
          "rejected",
          protocolInstanceId,
        );
      }
      case "workflowExecutionUpdateCompletedEventAttributes": {
        const status = at.value.outcome?.value.case === "failure" ? "failed" : "completed";
        const update = this.ofEvent[Number(at.value.acceptedEventId)] ??
          this.#updates.get(at.value.meta?.updateId ?? "");
        return this.#closeItem(event, update, status, "update");
      }
      default:
        return this.#unknown(event);
    }
  }

  /** Handles an event type that only newer servers record. */
  #unknown(event: HistoryEvent): void {
    this.#begin(event, "unknown", `event type ${event.eventType}`, "completed");
  }

  #begin(event: HistoryEvent, kind: ItemKind, name: string, status: ItemStatus, key = ""): void {
    const id = Number(event.eventId);
    const time = eventTimeMs(event);
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

  /** Adds an event to the item that an earlier event began. */
  #goOn(event: HistoryEvent, began: bigint): void {
    const item = this.ofEvent[Number(began)];
    if (item !== undefined) this.#add(event, item);
    else this.#begin(event, "unknown", `about event ${began}, which is missing`, "completed");
  }

  #close(event: HistoryEvent, began: bigint, status: ItemStatus): void {
    this.#closeItem(event, this.ofEvent[Number(began)], status, `event ${began}`);
  }

  #closeItem(event: HistoryEvent, item: Made | undefined, status: ItemStatus, what: string): void {
    if (item === undefined) {
      return this.#begin(event, "unknown", `about ${what}, which is missing`, status);
    }
    this.#add(event, item);
    item.status = status;
    item.closedBy = Number(event.eventId);
    item.endMs = eventTimeMs(event);
  }
}
