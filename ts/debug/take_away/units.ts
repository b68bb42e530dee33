// Groups the events of a history into units that can be removed independently: a message, an
// activity with all of its events, a workflow task without commands. The remaining events are
// renumbered to form a history.
import { clone } from "@bufbuild/protobuf";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";

/** Fields with IDs of events of another history, or with no event of this one. */
const FOREIGN: ReadonlySet<string> = new Set([
  "parentInitiatedEventId",
  "lastFirstEventId",
  "forkEventVersion",
]);
const isReference = (name: string): boolean => name.endsWith("EventId") && !FOREIGN.has(name);

/** Events of an item refer to its first event by these fields. */
const OF_THING = [
  "scheduledEventId",
  "initiatedEventId",
  "acceptedEventId",
  "startedEventId",
] as const;

/**
 * Returns groups of event indices, oldest first. The start of the run is in no group, so it is
 * always kept.
 */
export function groupIntoUnits(events: readonly HistoryEvent[]): number[][] {
  const units = new Map<number, number[]>();
  const unitOf = new Map<number, number>();
  events.forEach(({ attributes: { case: kind, value } }, i) => {
    if (i === 0) return;
    const fields = (value ?? {}) as { readonly [field: string]: unknown };
    let of = i + 1;
    // Events of a child have both IDs; the first known one identifies the item.
    for (const field of OF_THING) {
      const id = fields[field];
      if (typeof id === "bigint" && id > 0n && unitOf.has(Number(id))) {
        of = unitOf.get(Number(id))!;
        break;
      }
    }
    if (kind === "timerFiredEventAttributes" || kind === "timerCanceledEventAttributes") {
      of = unitOf.get(Number(value.startedEventId)) ?? of;
    }
    unitOf.set(i + 1, of);
    const unit = units.get(of);
    if (unit === undefined) units.set(of, [i]);
    else unit.push(i);
  });
  return [...units.values()];
}

/** Returns the events at these indices as a history: numbered from 1, with updated references. */
export function keepEvents(
  events: readonly HistoryEvent[],
  keep: ReadonlySet<number>,
): HistoryEvent[] {
  const ids = new Map<bigint, bigint>();
  let next = 1n;
  events.forEach((event, i) => {
    if (i === 0 || keep.has(i)) ids.set(event.eventId, next++);
  });
  /** A removed event is replaced by the last kept event before it. */
  const mapped = (id: bigint): bigint => {
    for (let at = id; at > 0n; at--) {
      const found = ids.get(at);
      if (found !== undefined) return found;
    }
    return id;
  };
  return events.flatMap((event, i) => {
    if (i !== 0 && !keep.has(i)) return [];
    const copy = clone(HistoryEventSchema, event);
    copy.eventId = ids.get(event.eventId)!;
    const fields = (copy.attributes.value ?? {}) as { [field: string]: unknown };
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === "bigint" && value > 0n && isReference(name)) {
        fields[name] = mapped(value);
      }
    }
    return [copy];
  });
}
