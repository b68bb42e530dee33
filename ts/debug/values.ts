// Readable payloads and failures. A payload that cannot be decoded (unknown encoding, missing
// codec) is replaced by the reason.
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { jsonPayloadConverter, type Payload, type PayloadConverter } from "../converter/payload.ts";
import {
  type Failure,
  FailureSchema,
} from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeBase64 } from "../history_files/payload_json.ts";

/** The value of a payload, or why it cannot be shown. */
export type Shown = { readonly value: unknown } | { readonly unreadable: string };

/** Decodes a payload; never throws. */
export function readPayload(
  payload: Payload | undefined,
  converter: PayloadConverter = jsonPayloadConverter,
): Shown {
  if (payload === undefined) return { value: undefined };
  try {
    return { value: converter.fromPayload(payload) };
  } catch (e) {
    return { unreadable: describeProtobuf(payload) ?? (e as Error).message };
  }
}

/**
 * Describes a Protobuf payload: "protobuf Order, 20 bytes". Decoding needs the schema, which the
 * history does not contain. Returns undefined for other encodings.
 */
function describeProtobuf({ metadata, data }: Payload): string | undefined {
  const read = (key: string) => new TextDecoder().decode(metadata[key]);
  if (read("encoding") !== "binary/protobuf") return undefined;
  const type = read("messageType").split(".").at(-1)!;
  return `protobuf${type === "" ? "" : ` ${type}`}, ${data.length} bytes`;
}

/** Decodes UTF-8 text; returns undefined for binary data. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return /^[^\p{Cc}]+$/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes payloads. A payload that cannot be decoded becomes the reason in brackets. */
export function readPayloads(
  payloads: readonly Payload[] | undefined,
  converter?: PayloadConverter,
): unknown[] {
  return (payloads ?? []).map((payload) => toPlainData(readPayload(payload, converter)));
}

export const toPlainData = (shown: Shown): unknown =>
  "value" in shown ? shown.value : `[unreadable: ${shown.unreadable}]`;

/** A failure as plain data. */
export interface ShownFailure {
  /** As thrown, decoded. */
  readonly message: string;
  /** The failure's type, or the name of its class. */
  readonly type: string;
  /** The failure that led to this one. */
  readonly cause?: ShownFailure;
}

/** Converts a Failure with its causes to plain data. */
export function toShownFailure(failure: Failure | undefined): ShownFailure {
  if (failure === undefined) return { message: "", type: "" };
  const { failureInfo, message, cause } = failure;
  const type = failureInfo.case === "applicationFailureInfo" && failureInfo.value.type !== ""
    ? failureInfo.value.type
    : (failureInfo.case ?? "").replace(/Info$/, "");
  return { message, type, ...(cause === undefined ? {} : { cause: toShownFailure(cause) }) };
}

/** Decodes a Failure, then converts it as `shownFailure` does. */
export function decodeShownFailure(bytes: Uint8Array): ShownFailure {
  try {
    return toShownFailure(fromBinary(FailureSchema, bytes));
  } catch (e) {
    return { message: `[unreadable: ${(e as Error).message}]`, type: "" };
  }
}

/** Returns all fields of an event as plain data, with decoded payloads. */
export function toPlainEvent(event: HistoryEvent, converter?: PayloadConverter): unknown {
  try {
    const json = toJson(HistoryEventSchema, event) as { readonly [key: string]: unknown };
    const attributes = Object.entries(json).find(([key]) => key.endsWith("EventAttributes"))?.[1];
    return readable(attributes ?? {}, converter);
  } catch (e) {
    return { unreadable: (e as Error).message };
  }
}

function readable(json: unknown, converter: PayloadConverter | undefined): unknown {
  if (Array.isArray(json)) return json.map((item) => readable(item, converter));
  if (typeof json !== "object" || json === null) return json;
  const { metadata, data, payloads } = json as {
    metadata?: unknown;
    data?: unknown;
    payloads?: unknown;
  };
  const keys = Object.keys(json);
  if (Array.isArray(payloads) && keys.length === 1) {
    return payloads.map((item) => readable(item, converter));
  }
  if (typeof (metadata as { encoding?: unknown } | undefined)?.encoding === "string") {
    const bytes = (text: unknown) =>
      decodeBase64(typeof text === "string" ? text : "") ?? new Uint8Array(0);
    const fields = Object.entries(metadata as object).map(([key, text]) =>
      [key, bytes(text)] as const
    );
    return toPlainData(
      readPayload({ metadata: Object.fromEntries(fields), data: bytes(data) }, converter),
    );
  }
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, readable(value, converter)]),
  );
}

/** An exact duration: "250 ms", "1.5 s", "1 min 30 s", "3 d". */
export function formatExactDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const parts: string[] = [];
  let rest = ms;
  for (const [size, unit] of [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"]] as const) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole} ${unit}`);
  }
  return [...parts, ...(rest > 0 ? [`${rest / 1000} s`] : [])].join(" ");
}
