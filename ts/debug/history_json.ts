// JSON histories to messages, in all the dialects in which people have them. Differences to protobuf's own JSON that are understood:
// event types and other enums in PascalCase or without their prefix; names in snake_case or PascalCase; 64-bit numbers as {low, high};
// bytes as {"0": 1, ...}, as {type: "Buffer", data} or as number lists; times as {seconds, nanos}; null for what is absent; payloads that
// were decoded for reading. Unknown fields are skipped. An error says where in the file the trouble is.
import { create, type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { bytesOf, decodePayload, type PayloadFields } from "./payload_json.ts";

/** A file that holds no history that can be read; the message says what is wrong and where. */
export class HistoryFileError extends Error {
  override name = "HistoryFileError";
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface JsonNotes {
  /** Payloads that were decoded, and have been encoded again. */
  decodedPayloads: number;
  /** Messages inside each other at the place that is read. */
  depth: number;
}

/** What decoders of protobuf take; servers cut the causes of failures off long before. */
const MAX_MESSAGES = 100;

const PAYLOAD = "temporal.api.common.v1.Payload";
const PAYLOADS = "temporal.api.common.v1.Payloads";
const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";

export function messageFromJson(desc: DescMessage, json: Json, path: string, notes: JsonNotes): Message {
  switch (desc.typeName) {
    case TIMESTAMP:
      return create(desc, secondsAndNanos(json, path, timestamp) as never) as Message;
    case DURATION:
      return create(desc, secondsAndNanos(json, path, duration) as never) as Message;
    case PAYLOAD:
      return create(desc, payload(json, path, notes) as never) as Message;
    case PAYLOADS: {
      const list = Array.isArray(json) ? json : isObject(json) ? json["payloads"] ?? json["Payloads"] ?? [] : undefined;
      if (!Array.isArray(list)) throw fail(path, json, "payloads");
      return create(
        desc,
        { payloads: list.map((item, i) => payload(item, `${path}.payloads[${i}]`, notes)) } as never,
      ) as Message;
    }
  }
  if (!isObject(json)) throw fail(path, json, "an object");
  if (notes.depth >= MAX_MESSAGES) {
    throw new HistoryFileError(
      `${shortened(path)} lies in more than ${MAX_MESSAGES} messages inside each other; no server writes that`,
    );
  }
  const message = create(desc, {} as never) as unknown as Message & { [field: string]: unknown };
  notes.depth++;
  fill(desc, message, json, path, notes);
  notes.depth--;
  return message;
}

function fill(
  desc: DescMessage,
  message: { [field: string]: unknown },
  json: { [key: string]: Json },
  path: string,
  notes: JsonNotes,
): void {
  const fields = fieldsOf(desc);
  for (const [key, value] of Object.entries(json)) {
    if (value === null) continue;
    const name = key.charAt(0).toLowerCase() + key.slice(1);
    const field = fields.get(key) ?? fields.get(name) ?? fields.get(name.replace(/^decisionTask/, "workflowTask"));
    const at = path === "" ? key : `${path}.${key}`;
    if (field !== undefined) {
      const decoded = fieldValue(field, value, at, notes);
      if (field.oneof === undefined) message[field.localName] = decoded;
      else message[field.oneof.localName] = { case: field.localName, value: decoded };
    } else if (isObject(value) && desc.oneofs.some((oneof) => oneof.localName === name)) {
      // Some languages write the choice itself: {attributes: {timerFiredEventAttributes: ...}} or {attributes: {case, value}}.
      fill(
        desc,
        message,
        typeof value["case"] === "string" && "value" in value ? { [value["case"]]: value["value"]! } : value,
        at,
        notes,
      );
    } else ancient(fields, message, name, value, at);
  }
}

/** Fields from before Temporal 1.0: `xTimeoutSeconds` for a duration, `timestamp` in nanoseconds for an event's time. */
function ancient(
  fields: ReadonlyMap<string, DescField>,
  message: { [field: string]: unknown },
  name: string,
  value: Json,
  path: string,
): void {
  const [field, number] = name.endsWith("Seconds")
    ? [fields.get(name.slice(0, -"Seconds".length)), 1_000_000_000n]
    : name === "timestamp"
    ? [fields.get("eventTime"), 1n]
    : [undefined, 0n];
  if (field?.fieldKind !== "message" || (field.message.typeName !== DURATION && field.message.typeName !== TIMESTAMP)) return;
  const nanoseconds = wholeNumber(value, path) * number;
  const fraction = Number(nanoseconds % 1_000_000_000n);
  message[field.localName] = create(field.message, { seconds: nanoseconds / 1_000_000_000n, nanos: fraction } as never);
}

const known = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

function fieldsOf(desc: DescMessage): ReadonlyMap<string, DescField> {
  let fields = known.get(desc);
  if (fields === undefined) {
    fields = new Map(
      desc.fields.flatMap((field) => [[field.jsonName, field], [field.name, field], [field.localName, field]] as const),
    );
    known.set(desc, fields);
  }
  return fields;
}

function fieldValue(field: DescField, json: Json, path: string, notes: JsonNotes): unknown {
  switch (field.fieldKind) {
    case "message":
      return messageFromJson(field.message, json, path, notes);
    case "enum":
      return enumValue(field.enum, json, path);
    case "scalar":
      return scalar(field.scalar, json, path);
    case "list": {
      if (!Array.isArray(json)) throw fail(path, json, "a list");
      return json.map((item, i) => {
        const at = `${path}[${i}]`;
        if (field.listKind === "message") return messageFromJson(field.message, item, at, notes);
        return field.listKind === "enum" ? enumValue(field.enum, item, at) : scalar(field.scalar, item, at);
      });
    }
    case "map": {
      if (!isObject(json)) throw fail(path, json, "an object");
      return Object.fromEntries(
        Object.entries(json).map(([key, item]) => {
          const at = `${path}.${key}`;
          if (field.mapKind === "message") return [key, messageFromJson(field.message, item, at, notes)];
          return [key, field.mapKind === "enum" ? enumValue(field.enum, item, at) : scalar(field.scalar, item, at)];
        }),
      );
    }
  }
}

function payload(json: Json, path: string, notes: JsonNotes): PayloadFields {
  const decoded = decodePayload(json);
  if (decoded === undefined) throw fail(path, json, "a payload");
  if (decoded.wasDecoded) notes.decodedPayloads++;
  return decoded.payload;
}

const enums = new WeakMap<DescEnum, ReadonlyMap<string, number>>();
const plain = (name: string) => name.replaceAll("_", "").toUpperCase();

/** "EVENT_TYPE_TIMER_FIRED", "TIMER_FIRED", "TimerFired" and the number mean the same; workflow tasks were decisions once. A name that is not known is 0 (unspecified). */
function enumValue(desc: DescEnum, json: Json, path: string): number {
  if (typeof json === "number") return json;
  if (typeof json !== "string") throw fail(path, json, "a name or number");
  if (/^-?\d+$/.test(json)) return Number(json);
  let names = enums.get(desc);
  if (names === undefined) {
    const prefix = `${desc.sharedPrefix ?? ""}`.toUpperCase();
    names = new Map(
      desc.values.flatMap(({ name, number }) => {
        const short = name.toUpperCase().startsWith(prefix) ? name.slice(prefix.length) : name;
        return [[plain(name), number], [plain(short), number]] as const;
      }),
    );
    enums.set(desc, names);
  }
  return names.get(plain(json)) ?? names.get(plain(json).replace(/^DECISION/, "WORKFLOW")) ?? 0;
}

function scalar(type: ScalarType, json: Json, path: string): unknown {
  switch (type) {
    case ScalarType.STRING:
      if (typeof json === "string") return json;
      if (typeof json === "number") return String(json);
      throw fail(path, json, "a text");
    case ScalarType.BOOL:
      if (typeof json === "boolean") return json;
      if (json === "true" || json === "false") return json === "true";
      throw fail(path, json, "true or false");
    case ScalarType.BYTES: {
      const bytes = bytesOf(json);
      if (bytes === undefined) throw fail(path, json, "bytes (base64)");
      return bytes;
    }
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE: {
      const value = typeof json === "string" && json !== "" ? Number(json) : json;
      if (typeof value !== "number") throw fail(path, json, "a number");
      return value;
    }
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return wholeNumber(json, path);
    default:
      return Number(wholeNumber(json, path));
  }
}

/** A number, its text, or a Long as JSON has it: {low, high, unsigned}. */
function wholeNumber(json: Json, path: string): bigint {
  if (typeof json === "number" && Number.isInteger(json)) return BigInt(json);
  if (typeof json === "string" && /^-?\d+$/.test(json)) return BigInt(json);
  if (isObject(json) && typeof json["low"] === "number" && typeof json["high"] === "number") {
    const bits = (BigInt(json["high"]) << 32n) | BigInt(json["low"] >>> 0);
    return json["unsigned"] === true ? BigInt.asUintN(64, bits) : BigInt.asIntN(64, bits);
  }
  throw fail(path, json, "a whole number");
}

interface SecondsAndNanos {
  readonly seconds: bigint;
  readonly nanos: number;
}

function secondsAndNanos(json: Json, path: string, parse: (text: string) => SecondsAndNanos | undefined): SecondsAndNanos {
  if (typeof json === "string") {
    const parsed = parse(json);
    if (parsed !== undefined) return parsed;
  } else if (isObject(json)) {
    return {
      seconds: wholeNumber(json["seconds"] ?? 0, `${path}.seconds`),
      nanos: Number(wholeNumber(json["nanos"] ?? 0, `${path}.nanos`)),
    };
  }
  throw fail(path, json, parse === timestamp ? "a time" : "a duration");
}

const fraction = (digits: string | undefined): number => Number((digits ?? "").padEnd(9, "0").slice(0, 9));

function timestamp(text: string): SecondsAndNanos | undefined {
  const m = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*([Zz]|UTC|[+-]\d\d:?\d\d)?$/.exec(text.trim());
  if (m === null) return undefined;
  const zone = m[4] === undefined || /^(?:z|utc)$/i.test(m[4]) ? "Z" : m[4].replace(/^(...)(\d\d)$/, "$1:$2");
  const ms = Date.parse(`${m[1]}T${m[2]}${zone}`);
  return Number.isNaN(ms) ? undefined : { seconds: BigInt(ms / 1000), nanos: fraction(m[3]) };
}

/** "10s", "0.25s" and, as Go writes them, "1h2m3.5s" and "150ms". */
function duration(text: string): SecondsAndNanos | undefined {
  const m = /^(-)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)(?:\.(\d{1,9})\d*)?s)?(?:(\d+)ms)?$/.exec(text.trim());
  if (m === null || text.trim() === "" || text.trim() === "-") return undefined;
  const sign = m[1] === undefined ? 1 : -1;
  const ms = Number(m[6] ?? 0);
  const seconds = BigInt(Number(m[2] ?? 0) * 3600 + Number(m[3] ?? 0) * 60 + Number(m[4] ?? 0) + Math.trunc(ms / 1000));
  return { seconds: seconds * BigInt(sign), nanos: sign * (fraction(m[5]) + (ms % 1000) * 1e6) };
}

export function isObject(json: Json | undefined): json is { [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

const shortened = (path: string): string => path.length > 160 ? `${path.slice(0, 157)}...` : path;

function fail(path: string, json: Json, wanted: string): HistoryFileError {
  const text = JSON.stringify(json) ?? "undefined";
  return new HistoryFileError(
    `${path === "" ? "the history" : shortened(path)} should be ${wanted}, but is ${
      text.length > 60 ? `${text.slice(0, 57)}...` : text
    }`,
  );
}
