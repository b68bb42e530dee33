// Decodes bytes of temporal.api.history.v1.History that a caller passed in. Damaged bytes fail with
// a HistoryFileError that names the event.
import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { History } from "../messages/generated/fields.ts";
import {
  type History as DecodedHistory,
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { Fields } from "../messages/wire.ts";
import { HistoryFileError } from "./json_reading.ts";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Decodes a History. Throws a HistoryFileError that names the first event that cannot be decoded.
 */
export function decodeHistoryBytes(bytes: Uint8Array): DecodedHistory {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("the history must be a Uint8Array");
  try {
    return fromBinary(HistorySchema, bytes);
  } catch (e) {
    throw new HistoryFileError(`the history cannot be decoded: ${faultIn(bytes) ?? messageOf(e)}`, {
      cause: e,
    });
  }
}

/**
 * Calls `use` with a decoded event. Throws a HistoryFileError if a value of the event makes `use`
 * fail.
 */
export function useEvent<Result>(
  event: HistoryEvent,
  index: number,
  use: (event: HistoryEvent) => Result,
): Result {
  try {
    return use(event);
  } catch (e) {
    throw new HistoryFileError(
      `${placeOf(index, event.eventId)} has an invalid value: ${messageOf(e)}`,
      { cause: e },
    );
  }
}

/**
 * Returns the history as JSON of Protobuf. Throws a HistoryFileError that names the first event
 * without a JSON form.
 */
export function historyToJsonValue(history: DecodedHistory): JsonValue {
  try {
    return toJson(HistorySchema, history);
  } catch (e) {
    history.events.forEach((event, i) =>
      useEvent(event, i, (each) => toJson(HistoryEventSchema, each))
    );
    throw new HistoryFileError(`the history has no JSON form: ${messageOf(e)}`, { cause: e });
  }
}

const placeOf = (index: number, eventId: bigint): string =>
  `events[${index}]${eventId > 0n ? ` (eventId ${eventId})` : ""}`;

/**
 * Describes the first event that cannot be decoded; undefined if the fault is outside of the
 * events.
 */
function faultIn(bytes: Uint8Array): string | undefined {
  let index = 0;
  const fields = new Fields(bytes);
  try {
    while (fields.next()) {
      if (fields.tag !== History.events) continue;
      const fault = eventFault(fields.bytes());
      if (fault !== undefined) return `events[${index}]: ${fault}`;
      index++;
    }
  } catch (e) {
    return `after ${index} ${index === 1 ? "event" : "events"}: ${messageOf(e)}`;
  }
  return undefined;
}

function eventFault(bytes: Uint8Array): string | undefined {
  try {
    fromBinary(HistoryEventSchema, bytes);
    return undefined;
  } catch (e) {
    return messageOf(e);
  }
}
