// The events of a history as units that can be left out by themselves: a message, an activity with all of its events, a workflow task that
// asked for nothing. What is left is renumbered, so that it is a history again.
import { clone } from "@bufbuild/protobuf";
import { type HistoryEvent, HistoryEventSchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";

/** Fields that name an event of the same history. Those of a parent name one of the parent's. */
const FOREIGN: ReadonlySet<string> = new Set(["parentInitiatedEventId", "lastFirstEventId", "forkEventVersion"]);
const isReference = (name: string): boolean => name.endsWith("EventId") && !FOREIGN.has(name);

/** Events of one thing begin with the event that these fields name. */
const OF_THING = ["scheduledEventId", "initiatedEventId", "acceptedEventId", "startedEventId"] as const;

/** Groups of indices of events, oldest first. The start of the run is in none: it stays. */
export function unitsOf(events: readonly HistoryEvent[]): number[][] {
  const units = new Map<number, number[]>();
  const unitOf = new Map<number, number>();
  events.forEach(({ attributes: { case: kind, value } }, i) => {
    if (i === 0) return;
    const fields = (value ?? {}) as { readonly [field: string]: unknown };
    let of = i + 1;
    // A child's events name both; the first that is known is the thing.
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

/** The events of these indices as a history of their own: numbered from 1, with what they refer to. */
export function keepEvents(events: readonly HistoryEvent[], keep: ReadonlySet<number>): HistoryEvent[] {
  const ids = new Map<bigint, bigint>();
  let next = 1n;
  events.forEach((event, i) => {
    if (i === 0 || keep.has(i)) ids.set(event.eventId, next++);
  });
  /** Of an event that is gone, the last one before it. */
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
      if (typeof value === "bigint" && value > 0n && isReference(name)) fields[name] = mapped(value);
    }
    return [copy];
  });
}
