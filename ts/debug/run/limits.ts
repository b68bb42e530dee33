// Compares a history with the limits of Temporal servers (https://docs.temporal.io/cloud/limits,
// also the server defaults).
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Payload } from "../../converter/payload.ts";
import { readEventValues } from "./event_values.ts";
import type { RunLimit } from "./types.ts";

const KIB = 1024;
const MIB = KIB * KIB;

export function measureLimits(events: readonly HistoryEvent[], bytes: Uint8Array): RunLimit[] {
  let largest = 0;
  let eventId = 0;
  for (const event of events) {
    const { input, output } = readEventValues(event);
    const size = Math.max(measureBytes(input), measureBytes(output));
    if (size > largest) [largest, eventId] = [size, Number(event.eventId)];
  }
  return [
    { name: "events", value: events.length, most: 51_200, warns: 4_096, eventId: 0 },
    { name: "size", value: bytes.length, most: 50 * MIB, warns: 4 * MIB, eventId: 0 },
    { name: "payload", value: largest, most: 2 * MIB, warns: 256 * KIB, eventId },
  ];
}

/** A server limits the total size of an event's payloads. */
const measureBytes = (payloads: readonly Payload[] | undefined): number =>
  (payloads ?? []).reduce(
    (sum, { data, metadata }) =>
      sum + data.length +
      Object.entries(metadata).reduce((n, [key, value]) => n + key.length + value.length, 0),
    0,
  );
