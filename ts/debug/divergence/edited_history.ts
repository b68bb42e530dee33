// A history as it would be if the code had been edited before the run: steps and their resolving
// events are inserted or removed. If the current code replays a history that was edited in the same
// way, that edit explains the divergence.
//
// Events refer to others by ID. Here they refer to the event objects, so that events can be
// inserted and removed; `encode` assigns the IDs.
import { clone, create, toBinary } from "@bufbuild/protobuf";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  readMarkerSeq,
  sideEffectNumber,
  withMarkerSeq,
  withSideEffectNumber,
} from "./marker_seq.ts";
import type { NewStep } from "./new_step.ts";

type Attributes = { [field: string]: unknown };

/** Returns whether a field contains the ID of another event. */
const isReference = (field: string, value: unknown): value is bigint =>
  field.endsWith("EventId") && typeof value === "bigint" && value > 0n;

const readAttributes = ({ attributes }: HistoryEvent): Attributes =>
  (attributes.value ?? {}) as Attributes;

/** Events of the workflow tasks themselves. */
const BOOKKEEPING: ReadonlySet<EventType> = new Set([
  EventType.WORKFLOW_TASK_SCHEDULED,
  EventType.WORKFLOW_TASK_STARTED,
  EventType.WORKFLOW_TASK_COMPLETED,
  EventType.WORKFLOW_TASK_FAILED,
  EventType.WORKFLOW_TASK_TIMED_OUT,
]);

/** Fields in which a resolving event refers to the event that it resolves. */
const RESOLVING_FIELDS = [
  "scheduledEventId",
  "startedEventId",
  "initiatedEventId",
  "acceptedEventId",
];

export class EditedHistory {
  #events: HistoryEvent[];
  /** The events that an event refers to, by field. */
  readonly #references = new Map<HistoryEvent, Map<string, HistoryEvent>>();
  /** The replacements of removed events. */
  readonly #instead = new Map<HistoryEvent, HistoryEvent>();
  /** Copies of the original events, by their original IDs. */
  readonly #byOldId = new Map<number, HistoryEvent>();
  readonly #oldId = new Map<HistoryEvent, number>();

  constructor(events: readonly HistoryEvent[]) {
    this.#events = events.map((event) => clone(HistoryEventSchema, event));
    for (const event of this.#events) {
      this.#byOldId.set(Number(event.eventId), event);
      this.#oldId.set(event, Number(event.eventId));
    }
    for (const event of this.#events) {
      const references = new Map<string, HistoryEvent>();
      for (const [field, value] of Object.entries(readAttributes(event))) {
        const target = isReference(field, value) ? this.#byOldId.get(Number(value)) : undefined;
        if (target !== undefined) references.set(field, target);
      }
      this.#references.set(event, references);
    }
  }

  /**
   * Removes an event of a command, its resolving events, and the workflow tasks that then have
   * nothing to do. Returns the removed resolving events.
   */
  remove(eventId: number): HistoryEvent[] {
    const event = this.#byOldId.get(eventId)!;
    const resolving = this.#resolvingOf(event);
    this.#shiftNumbers(event, -1);
    this.#without(resolving, () => {
      this.#events = this.#events.filter((each) => each !== event);
    });
    return resolving;
  }

  /**
   * Replaces an event of a command by a step of another kind, which is resolved where the event
   * was. Returns false, with nothing changed, where the code itself resolved it, or its own event
   * does.
   */
  replace(eventId: number, step: NewStep): boolean {
    const event = this.#byOldId.get(eventId)!;
    const resolving = this.#resolvingOf(event);
    const last = resolving.at(-1);
    const by = this.#references.get(event)!.get("workflowTaskCompletedEventId");
    const isByCode = resolving.some((each) =>
      this.#references.get(each)!.has("workflowTaskCompletedEventId")
    );
    const isOwn = event.eventType === EventType.MARKER_RECORDED ||
      (last !== undefined && step.resolving.length === 0);
    if (by === undefined || isByCode || isOwn) return false;
    this.#shiftNumbers(event, -1);
    const position = this.#events.indexOf(event);
    this.#shiftBy(step, position);
    this.#references.set(step.command, new Map([["workflowTaskCompletedEventId", by]]));
    this.#events[position] = step.command;
    if (last !== undefined) {
      this.#events.splice(this.#events.indexOf(last), 1, ...this.#resolvingEventsOf(step));
      this.#without(resolving.slice(0, -1), () => {});
    }
    return true;
  }

  /** The events that resolve an event of a command, in their order. */
  #resolvingOf(event: HistoryEvent): HistoryEvent[] {
    const found = new Set([event]);
    for (const other of this.#events) {
      for (const [field, target] of this.#references.get(other)!) {
        if (
          RESOLVING_FIELDS.includes(field) && found.has(target) && !BOOKKEEPING.has(other.eventType)
        ) found.add(other);
      }
    }
    found.delete(event);
    return [...found];
  }

  /** Removes resolving events, and the workflow tasks that then have nothing to do. */
  #without(resolving: readonly HistoryEvent[], also: () => void): void {
    // A task that was scheduled only because of a removed event is merged into the task before it.
    const wakers = new Set(
      resolving.map((event) =>
        this.#events.slice(this.#events.indexOf(event) + 1).find(({ eventType }) =>
          eventType === EventType.WORKFLOW_TASK_COMPLETED
        )
      ),
    );
    also();
    this.#events = this.#events.filter((event) => !resolving.includes(event));
    for (const completed of wakers) {
      if (completed !== undefined) this.#joinIfIdle(completed);
    }
  }

  /** Merges a workflow task into the previous one if nothing happened between them. */
  #joinIfIdle(completed: HistoryEvent): void {
    const at = this.#events.indexOf(completed);
    const before = this.#events.slice(0, at).findLast(({ eventType }) =>
      eventType === EventType.WORKFLOW_TASK_COMPLETED
    );
    if (at < 0 || before === undefined) return;
    const from = this.#events.indexOf(before) + 1;
    const between = this.#events.slice(from, at);
    const own = (event: HistoryEvent) =>
      this.#references.get(event)!.get("workflowTaskCompletedEventId") === before ||
      isUpdateResponse(event);
    if (between.some((event) => !BOOKKEEPING.has(event.eventType) && !own(event))) return;
    const next = this.#events[at + 1];
    // An update is delivered with a task and has no event before the task.
    if (next !== undefined && next.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED) {
      return;
    }
    const idle = new Set(between.filter(({ eventType }) => BOOKKEEPING.has(eventType)));
    this.#events = this.#events.filter((event) => event !== completed && !idle.has(event));
    for (const event of [completed, ...idle]) this.#instead.set(event, before);
  }

  /**
   * Inserts a step into the task that completed with `completedId`, before the event `beforeId`; 0:
   * after the last event. If resolving events follow the step, later events of the task, except
   * `staying`, move to a new task that begins after them. `resolving`: resolving events of a
   * removed event, instead of the shortest ones.
   */
  insert(
    step: NewStep,
    at: {
      readonly beforeId: number;
      readonly completedId: number;
      readonly staying: ReadonlySet<number>;
    },
    resolving: readonly HistoryEvent[] | undefined,
  ): void {
    const completed = this.#final(this.#byOldId.get(at.completedId)!);
    const own = this.#events.filter((event) => this.#writtenBy(event, completed));
    const before = at.beforeId === 0 ? undefined : this.#byOldId.get(at.beforeId);
    const position = before === undefined
      ? this.#events.indexOf(own.at(-1) ?? completed) + 1
      : this.#events.indexOf(before);
    const { command } = step;
    this.#shiftBy(step, position);
    this.#references.set(command, new Map([["workflowTaskCompletedEventId", completed]]));
    this.#events.splice(position, 0, command);
    const given = resolving !== undefined && resolving.length > 0
      ? this.#retargeted(resolving, command, step)
      : this.#resolvingEventsOf(step);
    if (given.length === 0) return;
    const after = before === undefined ? [] : own.slice(own.indexOf(before));
    const moving = after.filter((event) => !at.staying.has(this.#oldId.get(event) ?? 0));
    this.#events = this.#events.filter((event) => !moving.includes(event));
    const last = this.#events.findLastIndex((event) => event === command || after.includes(event));
    const task = this.#newTask(completed);
    this.#events.splice(last + 1, 0, ...given, ...task, ...moving);
    for (const event of moving) {
      const references = this.#references.get(event)!;
      if (references.has("workflowTaskCompletedEventId")) {
        references.set("workflowTaskCompletedEventId", task.at(-1)!);
      }
    }
  }

  /** Changes the names in an event to those of the step. */
  rename(eventId: number, step: NewStep): void {
    const event = this.#byOldId.get(eventId)!;
    const [own, other] = [readAttributes(event), readAttributes(step.command)];
    for (const field of ["activityType", "workflowType", "signalName", "workflowId", "details"]) {
      if (field in other && field in own) own[field] = other[field];
    }
    for (const answer of this.#events) {
      if (this.#references.get(answer)!.get("initiatedEventId") !== event) continue;
      const fields = readAttributes(answer);
      if ("workflowType" in fields && "workflowType" in other) {
        fields["workflowType"] = other["workflowType"];
      }
    }
  }

  /**
   * Returns the encoded history, and for each of its events the original ID, or that of the
   * original event before it.
   */
  encode(): { readonly bytes: Uint8Array; readonly oldIds: readonly number[] } {
    this.#events.forEach((event, i) => event.eventId = BigInt(i + 1));
    const oldIds: number[] = [];
    for (const event of this.#events) {
      const fields = readAttributes(event);
      for (const [field, target] of this.#references.get(event) ?? []) {
        fields[field] = this.#final(target).eventId;
      }
      oldIds.push(this.#oldId.get(event) ?? oldIds.at(-1) ?? 0);
    }
    return {
      bytes: toBinary(HistorySchema, create(HistorySchema, { events: this.#events })),
      oldIds,
    };
  }

  #final(event: HistoryEvent): HistoryEvent {
    let final = event;
    for (let next = this.#instead.get(final); next !== undefined; next = this.#instead.get(final)) {
      final = next;
    }
    return final;
  }

  #writtenBy(event: HistoryEvent, completed: HistoryEvent): boolean {
    const by = this.#references.get(event)!.get("workflowTaskCompletedEventId");
    if (by !== undefined) return this.#final(by) === completed;
    if (!isUpdateResponse(event)) return false;
    const last = this.#events.slice(0, this.#events.indexOf(event)).findLast(({ eventType }) =>
      eventType === EventType.WORKFLOW_TASK_COMPLETED
    );
    return last === completed;
  }

  #resolvingEventsOf({ command, resolving }: NewStep): HistoryEvent[] {
    let before = command;
    return resolving.map(({ event, refersAs }) => {
      const references = new Map<string, HistoryEvent>();
      for (const [field, what] of Object.entries(refersAs)) {
        references.set(field, what === "command" ? command : before);
      }
      this.#references.set(event, references);
      before = event;
      return event;
    });
  }

  /** Changes resolving events of another event of the same kind so that they refer to `command`. */
  #retargeted(
    resolving: readonly HistoryEvent[],
    command: HistoryEvent,
    step: NewStep,
  ): HistoryEvent[] {
    for (const event of resolving) {
      const references = this.#references.get(event)!;
      for (const [field, target] of references) {
        if (!resolving.includes(target)) references.set(field, command);
      }
      const fields = readAttributes(event);
      if ("timerId" in fields) {
        fields["timerId"] = step.number === 0 ? fields["timerId"] : String(step.number);
      }
    }
    return [...resolving];
  }

  /** Returns the events of a workflow task, copied from an existing one. */
  #newTask(like: HistoryEvent): HistoryEvent[] {
    const startedOf = this.#references.get(like)!.get("startedEventId");
    const scheduledOf = this.#references.get(like)!.get("scheduledEventId");
    if (startedOf === undefined || scheduledOf === undefined) return [];
    const copy = (event: HistoryEvent) => clone(HistoryEventSchema, event);
    const [scheduled, started, completed] = [copy(scheduledOf), copy(startedOf), copy(like)];
    this.#references.set(scheduled, new Map());
    this.#references.set(started, new Map([["scheduledEventId", scheduled]]));
    this.#references.set(
      completed,
      new Map([["scheduledEventId", scheduled], ["startedEventId", started]]),
    );
    return [scheduled, started, completed];
  }

  /** Shifts the sequence numbers of later steps. */
  #shiftNumbers(event: HistoryEvent, by: number): void {
    const kind = countedAs(event);
    if (kind === undefined) return;
    this.#renumber(kind.counter, kind.number, by, this.#events.indexOf(event));
  }

  #shiftBy({ counter, number }: NewStep, position: number): void {
    if (number > 0) this.#renumber(counter, number - 1, 1, position - 1);
  }

  /** Shifts the sequence numbers above `above` of events after a position. */
  #renumber(counter: string, above: number, by: number, position: number): void {
    this.#events.forEach((event, i) => {
      if (i <= position) return;
      const fields = readAttributes(event);
      if (counter === "timer" && "timerId" in fields) {
        fields["timerId"] = shifted(fields["timerId"] as string, above, by);
      }
      if (counter === "activity" && "activityId" in fields) {
        fields["activityId"] = shifted(fields["activityId"] as string, above, by);
      }
      if (counter === "sideEffect" && event.attributes.case === "markerRecordedEventAttributes") {
        const number = sideEffectNumber(event.attributes.value);
        if (number !== undefined && number > above) {
          withSideEffectNumber(event.attributes.value, number + by);
        }
      } else if (counter !== "timer" && event.attributes.case === "markerRecordedEventAttributes") {
        const seq = readMarkerSeq(event.attributes.value);
        const shared = counter === "activity" ? seq?.sharesNumbers === true : true;
        if (seq !== undefined && shared && seq.seq > above) {
          withMarkerSeq(event.attributes.value, seq.seq + by);
        }
      }
    });
  }
}

const isUpdateResponse = ({ eventType }: HistoryEvent): boolean =>
  eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED ||
  eventType === EventType.WORKFLOW_EXECUTION_UPDATE_COMPLETED;

/** Numeric IDs come from the counter of the code; others were set by the user. */
const shifted = (id: string, above: number, by: number): string =>
  /^\d+$/.test(id) && Number(id) > above ? String(Number(id) + by) : id;

function countedAs(
  { attributes }: HistoryEvent,
): { readonly counter: string; readonly number: number } | undefined {
  const of = (counter: string, id: string) =>
    /^\d+$/.test(id) ? { counter, number: Number(id) } : undefined;
  switch (attributes.case) {
    case "timerStartedEventAttributes":
      return of("timer", attributes.value.timerId);
    case "activityTaskScheduledEventAttributes":
      return of("activity", attributes.value.activityId);
    case "markerRecordedEventAttributes": {
      const number = sideEffectNumber(attributes.value);
      if (number !== undefined) return { counter: "sideEffect", number };
      const seq = readMarkerSeq(attributes.value);
      return seq && { counter: "localActivity", number: seq.seq };
    }
    default:
      return undefined;
  }
}
