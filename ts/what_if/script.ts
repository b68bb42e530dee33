// The messages to a branch with their times: those of the recorded history, changed by the branch's
// edits.
import type { Header, Payloads } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { type Edit, EditError, type Message, type Values } from "./edits.ts";
import { eventMilliseconds, type Recorded, type RecordedMessage } from "./recorded.ts";

/** A message to deliver. */
export interface Delivery {
  readonly atMs: number;
  readonly kind: "signal" | "update" | "cancel" | "terminate";
  readonly name: string;
  /** Recorded payloads, or values to encode. */
  readonly input: { readonly payloads: Payloads | undefined } | { readonly values: Values };
  readonly header: Header | undefined;
  readonly identity: string;
  readonly reason: string;
  readonly updateId: string;
  /** The recorded event; 0 for a message of an edit. */
  readonly eventId: number;
  /**
   * Messages with the same number were received by one task: if they arrived together, they are
   * delivered without a task between them.
   */
  readonly together: number;
}

interface Placed {
  readonly delivery: Delivery;
  /** The event after which it arrives, and its position among messages after the same event. */
  readonly after: number;
  readonly order: number;
}

const PAST: ReadonlySet<Edit["kind"]> = new Set(["answer"]);

/**
 * Returns the first event that an edit changes, or that an inserted message precedes. The kept part
 * ends before it.
 */
export function firstChange(edit: Edit, recorded: Recorded): number {
  switch (edit.kind) {
    case "input":
      return 1;
    case "payload":
    case "drop":
    case "replace":
    case "duplicate":
      return messageOf(recorded, edit.eventId).arrivedAfter + 1;
    case "move":
      return Math.min(
        messageOf(recorded, edit.eventId).arrivedAfter,
        eventOf(recorded, edit.after),
      ) + 1;
    case "insert":
      return eventOf(recorded, edit.after) + 1;
    case "activity":
    case "child": {
      const call = recordedCall(recorded, edit);
      // An earlier result arrives before other events.
      const ends = call.endEventId === 0 ? recorded.events.length + 1 : call.endEventId;
      return edit.afterMs === undefined
        ? Math.min(ends, startOfEnd(recorded, call.eventId, ends))
        : call.eventId + 1;
    }
    case "transact": {
      if (!recorded.transacts.some(({ eventId }) => eventId === edit.eventId)) {
        throw new EditError(
          `event ${edit.eventId} is of no reducer: name the MarkerRecorded event of a transact`,
        );
      }
      // The result is recorded by the task of the call.
      return edit.eventId;
    }
    case "timer": {
      if (!recorded.timers.some(({ eventId }) => eventId === edit.eventId)) {
        throw new EditError(`event ${edit.eventId} started no timer: name the TimerStarted event`);
      }
      return edit.eventId + 1;
    }
    case "answer":
      return recorded.events.length + 1;
  }
}

/** The start of an activity is recorded with its end. */
function startOfEnd(recorded: Recorded, scheduledId: number, endId: number): number {
  const started = recorded.events.slice(scheduledId, endId).find(({ attributes }) =>
    attributes.case === "activityTaskStartedEventAttributes" &&
    Number(attributes.value.scheduledEventId) === scheduledId
  );
  return started === undefined ? endId : Number(started.eventId);
}

export function recordedCall(
  recorded: Recorded,
  edit: Extract<Edit, { kind: "activity" | "child" }>,
) {
  const calls = edit.kind === "activity" ? recorded.activities : recorded.children;
  const call = calls.find(({ eventId }) => eventId === edit.eventId);
  if (call !== undefined) return call;
  throw new EditError(
    edit.kind === "activity"
      ? `event ${edit.eventId} did not schedule an activity: name the ActivityTaskScheduled event`
      : `event ${edit.eventId} did not start a child: name the StartChildWorkflowExecutionInitiated event`,
  );
}

function messageOf(recorded: Recorded, eventId: number): RecordedMessage {
  const message = recorded.messages.find((each) => each.eventId === eventId);
  if (message !== undefined) return message;
  throw new EditError(
    `event ${eventId} is not a message: name a signal, an accepted update, a request to cancel or a termination`,
  );
}

function eventOf(recorded: Recorded, eventId: number): number {
  if (Number.isInteger(eventId) && eventId >= 1 && eventId <= recorded.events.length) {
    return eventId;
  }
  throw new EditError(`the history has no event ${eventId}: it has 1 to ${recorded.events.length}`);
}

/** Returns the messages in order of delivery, without those of the prefix. */
export function scriptOf(recorded: Recorded, edits: readonly Edit[], cut: number): Delivery[] {
  let placed: Placed[] = recorded.messages.map((message, order) => ({
    delivery: deliveryOf(message),
    after: message.arrivedAfter,
    order,
  }));
  let order = placed.length;
  const at = (eventId: number): number => {
    const index = placed.findIndex(({ delivery }) => delivery.eventId === eventId);
    if (index >= 0) return index;
    messageOf(recorded, eventId);
    throw new EditError(
      `message ${eventId} was dropped or replaced by an earlier edit of this branch`,
    );
  };
  for (const edit of edits) {
    if (PAST.has(edit.kind)) continue;
    switch (edit.kind) {
      case "payload": {
        const i = at(edit.eventId);
        placed[i] = {
          ...placed[i]!,
          delivery: { ...placed[i]!.delivery, input: { values: edit.args } },
        };
        break;
      }
      case "drop": {
        const i = at(edit.eventId);
        placed = placed.filter((_, index) => index !== i);
        break;
      }
      case "replace": {
        const i = at(edit.eventId);
        const { delivery: { atMs, together } } = placed[i]!;
        placed[i] = { ...placed[i]!, delivery: { ...fromEdit(edit.message, atMs), together } };
        break;
      }
      case "insert": {
        const event = recorded.events[eventOf(recorded, edit.after) - 1]!;
        const delivery = fromEdit(edit.message, eventMilliseconds(event) + (edit.afterMs ?? 0));
        placed.push({ delivery, after: edit.after, order: order++ });
        break;
      }
      case "duplicate": {
        const i = at(edit.eventId);
        const { delivery, after } = placed[i]!;
        const atMs = delivery.atMs + (edit.afterMs ?? 0);
        // The same update ID would be the same update.
        const again = {
          ...delivery,
          atMs,
          eventId: 0,
          updateId: delivery.updateId && `${delivery.updateId}-again-${order}`,
        };
        placed.push({ delivery: again, after, order: order++ });
        break;
      }
      case "move": {
        const i = at(edit.eventId);
        const event = recorded.events[eventOf(recorded, edit.after) - 1]!;
        const delivery = { ...placed[i]!.delivery, atMs: eventMilliseconds(event), together: 0 };
        placed[i] = { delivery, after: edit.after, order: order++ };
        break;
      }
    }
  }
  // The cut is before every change, so no edit inserts a message before it.
  return placed.filter(({ after, delivery }) =>
    after >= cut && (delivery.eventId === 0 || delivery.eventId > cut)
  )
    .sort((a, b) => a.delivery.atMs - b.delivery.atMs || a.after - b.after || a.order - b.order)
    .map(({ delivery }) => delivery);
}

function deliveryOf(message: RecordedMessage): Delivery {
  const {
    timeMs: atMs,
    kind,
    name,
    input: payloads,
    header,
    identity,
    reason,
    updateId,
    eventId,
    seenBy: together,
  } = message;
  return {
    atMs,
    kind,
    name,
    input: { payloads },
    header,
    identity,
    reason,
    updateId,
    eventId,
    together,
  };
}

let inserted = 0;

function fromEdit(message: Message, atMs: number): Delivery {
  const named = message.kind === "signal" || message.kind === "update";
  return {
    ...{
      atMs,
      kind: message.kind,
      header: undefined,
      identity: "what-if",
      eventId: 0,
      together: 0,
    },
    name: named ? message.name : "",
    input: { values: named ? message.args : [] },
    reason: named ? "" : message.reason ?? "",
    updateId: message.kind === "update" ? message.id ?? `what-if-${++inserted}` : "",
  };
}
