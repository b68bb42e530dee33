// The events of an encoded History, as far as their order needs them decoded.
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { History, HistoryEvent } from "../messages/generated/fields.ts";
import { Fields } from "../messages/wire.ts";
import { HistoryFileError } from "./json_reading.ts";
import { WireBuffer } from "./wire_buffer.ts";

export interface EncodedEvent {
  readonly id: number;
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** Expects a History that can be decoded. */
function eventsOf(history: Uint8Array): EncodedEvent[] {
  const events: EncodedEvent[] = [];
  for (const at = new Fields(history); at.next();) {
    if (at.tag !== History.events) continue;
    let id = 0;
    let type = 0;
    for (const event = at.inner(); event.next();) {
      if (event.tag === HistoryEvent.eventId) id = event.int();
      else if (event.tag === HistoryEvent.eventType) type = event.int();
    }
    events.push({ id, type, bytes: at.bytes() });
  }
  return events;
}

/** Sorts events, oldest first. */
export function inOrder(
  history: Uint8Array,
  notes: string[],
): { bytes: Uint8Array; events: EncodedEvent[] } {
  const events = eventsOf(history);
  if (events.length < 2 || !events.every(({ id }, i) => i === 0 || id < events[i - 1]!.id)) {
    return { bytes: history, events };
  }
  notes.push("its newest event came first");
  const ordered = events.toReversed();
  return { bytes: historyOf(ordered), events: ordered };
}

function historyOf(events: readonly EncodedEvent[]): Uint8Array {
  const to = new WireBuffer();
  for (const { bytes } of events) {
    to.varint32(History.events);
    to.bytes(bytes);
  }
  return to.slice();
}

/** Returns whether there are events and each has an ID. Expects a History that can be decoded. */
export function haveIds(history: Uint8Array): boolean {
  const events = eventsOf(history);
  return events.length > 0 && events.every(({ id }) => id > 0);
}

export function check(events: readonly EncodedEvent[]): void {
  if (events.length === 0) throw new HistoryFileError("the history has no events");
  events.forEach(({ id }, i) => {
    const expected = i + 1;
    if (id === expected) return;
    if (i === 0) {
      throw new HistoryFileError(
        `the history starts with event ${id}, not with event 1: the beginning is missing; export all pages of the history`,
      );
    }
    const previous = events[i - 1]!.id;
    const isLater = events.slice(i).some(({ id }) => id === expected);
    const place = `events[${i}] has the id ${id}, after ${previous}`;
    if (id <= previous || isLater) {
      throw new HistoryFileError(`${place}: events are repeated or out of order`);
    }
    throw new HistoryFileError(`${place}: events are missing between them`, {
      before: historyOf(events.slice(0, i)),
    });
  });
  if (events[0]!.type !== EventType.WORKFLOW_EXECUTION_STARTED) {
    throw new HistoryFileError(
      "the first event is not WorkflowExecutionStarted, so this is not the history of a workflow",
    );
  }
}

/**
 * Returns whether our reader accepts the bytes. Decoders accept more: a last field that ends too
 * early.
 */
export function isStrict(history: Uint8Array): boolean {
  try {
    eventsOf(history);
    return true;
  } catch {
    return false;
  }
}
