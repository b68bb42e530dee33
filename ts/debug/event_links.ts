// Links events of a history to commands and to each other: the event of a command, the event that
// ends it, and the task that wrote it. Event and command share a key (commands.ts).
import type { PayloadConverter } from "../converter/payload.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { readEventSubject, TaskKeys } from "./command_keys.ts";
import { readPayload, toPlainData } from "./values.ts";

/** What ties events to commands, and to each other. */
export interface EventLinks {
  /** The event of a command, by the command's key. */
  readonly byKey: ReadonlyMap<string, number>;
  /** The event that ends a command's operation: "timer 1", "activity 2". */
  readonly endOf: ReadonlyMap<string, number>;
  /**
   * When an activity's attempt, a child or a Nexus operation began (by "activity 2"). An attempt's
   * start event is written when the attempt has ended.
   */
  readonly startOf: ReadonlyMap<string, number>;
  /** The last event that a workflow task wrote, by the id of its WorkflowTaskStarted. */
  readonly lastOfTask: ReadonlyMap<number, number>;
}

const UPDATES: ReadonlySet<string | undefined> = new Set([
  "workflowExecutionUpdateAcceptedEventAttributes",
  "workflowExecutionUpdateCompletedEventAttributes",
]);

export function linkEvents(
  events: readonly HistoryEvent[],
  converter: PayloadConverter | undefined,
): EventLinks {
  const links = new LinkFinder(converter);
  for (const event of events) links.add(event);
  return links;
}

class LinkFinder implements EventLinks {
  readonly byKey = new Map<string, number>();
  readonly endOf = new Map<string, number>();
  readonly startOf = new Map<string, number>();
  readonly lastOfTask = new Map<number, number>();
  readonly #converter: PayloadConverter | undefined;
  readonly #keyOfEvent = new Map<bigint, string>();
  readonly #keyOfUpdate = new Map<string, string>();
  readonly #taskKeys = new TaskKeys();
  /** WorkflowTaskCompleted to WorkflowTaskStarted. */
  readonly #startedOf = new Map<bigint, number>();
  #lastStarted: number | undefined;

  constructor(converter: PayloadConverter | undefined) {
    this.#converter = converter;
  }

  /** Adds the next event of the history. */
  add(event: HistoryEvent): void {
    const { attributes, eventId } = event;
    const writtenBy = (attributes.value as { workflowTaskCompletedEventId?: bigint } | undefined)
      ?.workflowTaskCompletedEventId;
    // Responses to updates do not name their task: the last one.
    const startedId = UPDATES.has(attributes.case)
      ? this.#lastStarted
      : writtenBy === undefined
      ? undefined
      : this.#startedOf.get(writtenBy);
    if (startedId !== undefined) this.lastOfTask.set(startedId, Number(eventId));
    const about = readEventSubject(event);
    if (about !== undefined && startedId !== undefined) {
      this.#became(this.#taskKeys.next(startedId, about), event);
    }
    this.#ofWorkflow(event);
    this.#ofCommand(event);
    this.#ofMarkerOrUpdate(event);
  }

  #became(key: string, { eventId }: HistoryEvent): void {
    if (!this.byKey.has(key)) this.byKey.set(key, Number(eventId));
    this.#keyOfEvent.set(eventId, key);
  }

  #ends(scheduled: bigint, { eventId }: HistoryEvent): void {
    const key = this.#keyOfEvent.get(scheduled);
    if (key !== undefined && !this.endOf.has(key)) this.endOf.set(key, Number(eventId));
  }

  /** Records an event that is also the end. */
  #resolve(key: string, event: HistoryEvent): void {
    this.#became(key, event);
    if (!this.endOf.has(key)) this.endOf.set(key, Number(event.eventId));
  }

  /** Records workflow tasks and the end of the run. */
  #ofWorkflow(event: HistoryEvent): void {
    const { attributes, eventId } = event;
    switch (attributes.case) {
      case "workflowTaskCompletedEventAttributes":
        this.#lastStarted = Number(attributes.value.startedEventId);
        this.#startedOf.set(eventId, this.#lastStarted);
        this.lastOfTask.set(this.#lastStarted, Number(eventId));
        break;
      case "workflowExecutionCompletedEventAttributes":
        this.#became("completed", event);
        break;
      case "workflowExecutionFailedEventAttributes":
        this.#became("failed", event);
        break;
      case "workflowExecutionCanceledEventAttributes":
        this.#became("canceled", event);
        break;
      case "workflowExecutionContinuedAsNewEventAttributes":
        this.#became("continued", event);
        break;
    }
  }

  /** Records starts and ends of operations. */
  #ofCommand(event: HistoryEvent): void {
    const { attributes, eventId } = event;
    switch (attributes.case) {
      case "timerStartedEventAttributes":
        this.#became(`timer ${attributes.value.timerId}`, event);
        break;
      case "timerFiredEventAttributes":
        this.#ends(attributes.value.startedEventId, event);
        break;
      case "timerCanceledEventAttributes":
        this.#became(`cancel timer ${attributes.value.timerId}`, event);
        break;
      case "activityTaskScheduledEventAttributes":
        this.#became(`activity ${attributes.value.activityId}`, event);
        break;
      case "activityTaskStartedEventAttributes": {
        const key = this.#keyOfEvent.get(attributes.value.scheduledEventId);
        if (key !== undefined) this.startOf.set(key, Number(eventId));
        break;
      }
      case "activityTaskCompletedEventAttributes":
      case "activityTaskFailedEventAttributes":
      case "activityTaskTimedOutEventAttributes":
      case "activityTaskCanceledEventAttributes":
      case "nexusOperationCompletedEventAttributes":
      case "nexusOperationFailedEventAttributes":
      case "nexusOperationTimedOutEventAttributes":
      case "nexusOperationCanceledEventAttributes":
        this.#ends(attributes.value.scheduledEventId, event);
        break;
      case "activityTaskCancelRequestedEventAttributes":
      case "nexusOperationCancelRequestedEventAttributes":
        this.#became(
          `cancel ${this.#keyOfEvent.get(attributes.value.scheduledEventId) ?? ""}`,
          event,
        );
        break;
      case "nexusOperationStartedEventAttributes": {
        const key = this.#keyOfEvent.get(attributes.value.scheduledEventId);
        if (key !== undefined) this.startOf.set(key, Number(eventId));
        break;
      }
      case "childWorkflowExecutionStartedEventAttributes": {
        const key = this.#keyOfEvent.get(attributes.value.initiatedEventId);
        if (key !== undefined) this.startOf.set(key, Number(eventId));
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
        this.#ends(attributes.value.initiatedEventId, event);
        break;
    }
  }

  #ofMarkerOrUpdate(event: HistoryEvent): void {
    const { attributes, eventId } = event;
    switch (attributes.case) {
      case "markerRecordedEventAttributes": {
        const { markerName, details } = attributes.value;
        const first = (name: string) =>
          toPlainData(readPayload(details[name]?.payloads[0], this.#converter));
        if (markerName === "Transact") this.#resolve(`transact ${first("id")}`, event);
        if (markerName === "core_local_activity") {
          const seq = (first("data") as { seq?: unknown } | null | undefined)?.seq;
          if (typeof seq === "number") this.#resolve(`local activity ${seq}`, event);
        }
        if (markerName === "SideEffect") {
          this.#became(`side effect ${first("side-effect-id")}`, event);
        }
        for (const name of markerName === "core_patch" ? Object.keys(details) : []) {
          const id = (first(name) as { id?: unknown } | null | undefined)?.id;
          if (typeof id === "string") this.#became(`patch ${id}`, event);
        }
        break;
      }
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const { protocolInstanceId, acceptedRequest } = attributes.value;
        this.#became(`update ${protocolInstanceId}`, event);
        this.#keyOfEvent.set(eventId, `update end ${protocolInstanceId}`);
        this.#keyOfUpdate.set(
          acceptedRequest?.meta?.updateId ?? "",
          `update end ${protocolInstanceId}`,
        );
        break;
      }
      case "workflowExecutionUpdateCompletedEventAttributes": {
        const { acceptedEventId, meta } = attributes.value;
        const key = this.#keyOfEvent.get(acceptedEventId) ??
          this.#keyOfUpdate.get(meta?.updateId ?? "");
        if (key !== undefined) this.byKey.set(key, Number(eventId));
        break;
      }
    }
  }
}
