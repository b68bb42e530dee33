// Event groups: markers by which a program groups commands and their events (`createEventGroup`),
// and by which the SDK marks what the handler of a message did. Few histories have them.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { EventGroupMarker } from "../../messages/generated/temporal/api/sdk/v1/event_group_marker_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import { readPayload } from "../values.ts";
import type { EventGroup, RunItem, RunModel } from "./types.ts";

type Made = { -readonly [field in keyof EventGroup]: EventGroup[field] };

/**
 * Returns the event groups of a history, in the order of their first events. Labels always have
 * Temporal's default encoding.
 */
export function eventGroups(run: Pick<RunModel, "bytes" | "hasGroups" | "itemOf">): EventGroup[] {
  if (!run.hasGroups) return [];
  const { events } = decodeHistoryBytes(run.bytes);
  const groups = new Map<string, { readonly group: Made; readonly items: Set<number> }>();
  const updates = updatesIn(events);
  for (const { eventId, eventGroupMarkers } of events) {
    for (const { variant } of eventGroupMarkers) {
      const id = readGroupId(variant);
      let known = groups.get(id);
      if (known === undefined) {
        const group: Made = { id, ...ofMessage(variant, events, updates), items: [] };
        groups.set(id, known = { group, items: new Set() });
        // A message belongs to the group of its effects.
        if (group.eventId > 0) add(known.items, run.itemOf(group.eventId));
      }
      // The first marker of an ID has the label; later ones may omit it.
      if (
        variant.case === "label" && variant.value.label !== undefined && known.group.label === ""
      ) {
        const label = readPayload(variant.value.label);
        if ("value" in label && typeof label.value === "string") known.group.label = label.value;
      }
      add(known.items, run.itemOf(Number(eventId)));
    }
  }
  return [...groups.values()].map(({ group, items }) => ({
    ...group,
    label: group.label === "" ? shortId(group.id) : group.label,
    items: [...items].sort((a, b) => a - b),
  }));
}

const add = (items: Set<number>, item: RunItem | undefined) =>
  item !== undefined && items.add(item.index);

function readGroupId(variant: EventGroupMarker["variant"]): string {
  switch (variant.case) {
    case "label":
      return `label ${variant.value.id}`;
    case "inboundEvent":
      return `event ${variant.value.inboundEventId}`;
    case "inboundUpdate":
      return `update ${variant.value.inboundUpdateId}`;
    default:
      return "";
  }
}

/** Shortens the long IDs that an SDK generates. */
const shortId = (id: string): string => {
  const own = id.replace(/^\w+ /, "");
  return own === "" ? "a group" : own.length > 16 ? `${own.slice(0, 8)}…` : own;
};

/** Returns the event and name of accepted updates, by both of their IDs. */
function updatesIn(
  events: readonly HistoryEvent[],
): ReadonlyMap<string, { readonly eventId: number; readonly name: string }> {
  const updates = new Map<string, { readonly eventId: number; readonly name: string }>();
  for (const { attributes, eventId } of events) {
    if (attributes.case !== "workflowExecutionUpdateAcceptedEventAttributes") continue;
    const { acceptedRequest, protocolInstanceId } = attributes.value;
    const update = { eventId: Number(eventId), name: acceptedRequest?.input?.name ?? "" };
    for (const id of [protocolInstanceId, acceptedRequest?.meta?.updateId ?? ""]) {
      if (id !== "") updates.set(id, update);
    }
  }
  return updates;
}

/** Returns the message of a group that the SDK made. */
function ofMessage(
  variant: EventGroupMarker["variant"],
  events: readonly HistoryEvent[],
  updates: ReturnType<typeof updatesIn>,
): Pick<EventGroup, "kind" | "label" | "eventId"> {
  if (variant.case === "inboundUpdate") {
    const { eventId = 0, name = "" } = updates.get(variant.value.inboundUpdateId) ?? {};
    return { kind: "update", label: name, eventId };
  }
  if (variant.case === "inboundEvent") {
    const eventId = Number(variant.value.inboundEventId);
    const at = events[eventId - 1]?.attributes;
    return at?.case === "workflowExecutionSignaledEventAttributes"
      ? { kind: "signal", label: at.value.signalName, eventId }
      : { kind: "run", label: "start", eventId };
  }
  return { kind: "label", label: "", eventId: 0 };
}
