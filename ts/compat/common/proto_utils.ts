// `@temporalio/common/lib/proto-utils`: converts histories and payloads to JSON and back. Only on
// the host, because it needs the API's messages.
import { type DescMessage, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { toPlainHistory } from "./kept_history.ts";
import type { Payload } from "./payload_converters.ts";
import { fromPlain, type PlainMessage, toPlain } from "./plain_proto.ts";

/** The events of a run. */
export type History = PlainMessage;
/** A payload in JSON: bytes are base64. */
export interface JSONPayload {
  /** Encoding of the data. */
  metadata?: Record<string, string> | null;
  /** The encoded value. */
  data?: string | null;
}

/** Converts enumeration names of older exports ("WorkflowExecutionStarted") to those of the API. */
function withNames(desc: DescMessage, json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const fixed = { ...json as { [name: string]: unknown } };
  for (const field of desc.fields) {
    const value = fixed[field.jsonName];
    if (value === undefined) continue;
    const one = (item: unknown): unknown => {
      if (field.message !== undefined) return withNames(field.message, item);
      if (field.enum === undefined || typeof item !== "string") return item;
      if (field.enum.values.some(({ name }) => name === item)) return item;
      const constant = item.replace(/([^_])([A-Z])/g, "$1_$2").toUpperCase();
      return field.enum.values.find(({ name }) =>
        name === `${field.enum!.sharedPrefix ?? ""}${constant}`.toUpperCase()
      )?.name ??
        item;
    };
    if (field.fieldKind === "map") continue;
    fixed[field.jsonName] = Array.isArray(value) ? value.map(one) : one(value);
  }
  return fixed;
}

/**
 * Parses the JSON of a history, as exported by command lines and user interfaces. Throws a
 * TypeError for other values.
 */
export function historyFromJSON(history: unknown): History {
  if (
    typeof history !== "object" || history === null ||
    !Array.isArray((history as { events?: unknown }).events)
  ) {
    throw new TypeError("Invalid history, expected an object with an array of events");
  }
  const json = withNames(HistorySchema, history) as JsonValue;
  return toPlainHistory(fromJson(HistorySchema, json, { ignoreUnknownFields: true }));
}

/** Returns the JSON text of a history. */
export function historyToJSON(history: History): string {
  return JSON.stringify(toJson(HistorySchema, fromPlain(HistorySchema, history)), undefined, 2);
}

/** Returns the JSON of a payload. */
export function payloadToJSON(payload: Payload): JSONPayload {
  return toJson(PayloadSchema, fromPlain(PayloadSchema, payload)) as JSONPayload;
}

/** Parses the JSON of a payload. */
export function JSONToPayload(json: JSONPayload): Payload {
  return toPlain(
    PayloadSchema,
    fromJson(PayloadSchema, json as JsonValue, { ignoreUnknownFields: true }),
  ) as Payload;
}
