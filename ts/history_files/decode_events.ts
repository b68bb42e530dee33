// Decodes bytes of temporal.api.history.v1.History that a caller passed in. Damaged bytes fail with
// a HistoryFileError that names the event.
import { type DescMessage, fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
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
      const fault = faultOf(
        HistoryEventSchema,
        fields.bytes(),
        `events[${index}]`,
        MAX_PATH_FIELDS,
      );
      if (fault !== undefined) return fault;
      index++;
    }
  } catch (e) {
    return `after ${index} ${index === 1 ? "event" : "events"}: ${messageOf(e)}`;
  }
  return undefined;
}

/** Longer paths end at this field: each level decodes the rest of the event again. */
const MAX_PATH_FIELDS = 8;

/** Returns the path of the innermost message that cannot be decoded, and why. */
function faultOf(
  schema: DescMessage,
  bytes: Uint8Array,
  path: string,
  depth: number,
): string | undefined {
  try {
    fromBinary(schema, bytes);
    return undefined;
  } catch (e) {
    return (depth > 0 ? innerFault(schema, bytes, path, depth) : undefined) ??
      `${path}: ${messageOf(e)}`;
  }
}

/** Returns the fault of the first field that cannot be decoded; undefined if it is not in a field. */
function innerFault(
  schema: DescMessage,
  bytes: Uint8Array,
  path: string,
  depth: number,
): string | undefined {
  const counts = new Map<number, number>();
  try {
    for (const at = new Fields(bytes); at.next();) {
      const field = schema.fields.find(({ number }) => number === at.number);
      const isList = field?.fieldKind === "list" && field.listKind === "message";
      if (!at.hasLength || !(isList || field?.fieldKind === "message")) continue;
      const index = counts.get(at.number) ?? 0;
      counts.set(at.number, index + 1);
      const name = `${path}.${field.localName}${isList ? `[${index}]` : ""}`;
      const fault = faultOf(field.message, at.bytes(), name, depth - 1);
      if (fault !== undefined) return fault;
    }
  } catch {
    // The message itself is cut off.
  }
  return undefined;
}
