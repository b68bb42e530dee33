// Reads a payload in JSON: encoded as in Protobuf JSON, or decoded as the UI downloads it
// ("readable": texts as metadata and the value as data; older versions: only the value). A decoded
// payload is encoded again. Its exact bytes (spaces, order of keys) are lost, but replay does not
// compare them.
import type { Json } from "./json_reading.ts";

export interface PayloadFields {
  readonly metadata: { [key: string]: Uint8Array };
  readonly data: Uint8Array;
}

export interface DecodedPayload {
  readonly payload: PayloadFields;
  readonly wasDecoded: boolean;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();
const EMPTY = new Uint8Array(0);
const ENCODING = /^[a-z]+\/[a-z0-9.+_-]+$/i;

/** Returns undefined for values that are not a payload in any form. */
export function decodePayload(json: Json): DecodedPayload | undefined {
  if (!looksLikePayload(json)) {
    return decoded(json, { encoding: utf8.encode(json === null ? "binary/null" : "json/plain") });
  }
  const metadata = json["metadata"];
  if (
    metadata !== null && metadata !== undefined &&
    (typeof metadata !== "object" || Array.isArray(metadata))
  ) return undefined;
  const entries = Object.entries(metadata ?? {}).filter(([key]) => key !== "encodingDecoded");
  const raw = metadata?.["encoding"];
  const isPlain = typeof raw === "string" && ENCODING.test(raw) &&
    !ENCODING.test(text.decode(decodeBase64(raw)));
  const bytes: { [key: string]: Uint8Array } = {};
  for (const [key, value] of entries) {
    const one = isPlain && typeof value === "string" ? utf8.encode(value) : bytesFromJson(value);
    if (one === undefined) return undefined;
    bytes[key] = one;
  }
  const data = json["data"];
  const encoded =
    isPlain || (metadata !== null && metadata !== undefined && "encodingDecoded" in metadata)
      ? undefined
      : bytesFromJson(data ?? "");
  if (encoded !== undefined) {
    return { payload: { metadata: bytes, data: encoded }, wasDecoded: false };
  }
  return decoded(data ?? null, bytes);
}

function looksLikePayload(
  json: Json,
): json is { metadata?: { [key: string]: Json } | null; data?: Json } {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  const keys = Object.keys(json);
  return keys.every((key) => ["metadata", "data", "externalPayloads"].includes(key)) &&
    (keys.length === 0 || "metadata" in json || typeof json["data"] === "string");
}

function decoded(value: Json, metadata: { [key: string]: Uint8Array }): DecodedPayload {
  const encoding = text.decode(metadata["encoding"] ?? EMPTY);
  if (encoding === "binary/null") return { payload: { metadata, data: EMPTY }, wasDecoded: true };
  if (encoding === "binary/plain") {
    const bytes = bytesFromJson(value);
    if (bytes !== undefined) return { payload: { metadata, data: bytes }, wasDecoded: true };
  }
  return { payload: { metadata, data: utf8.encode(JSON.stringify(value)) }, wasDecoded: true };
}

/**
 * Reads bytes in any JSON form: Base64 (both alphabets), {"0": 1, ...}, {type: "Buffer", data:
 * [...]}, a list of numbers.
 */
export function bytesFromJson(json: Json): Uint8Array | undefined {
  if (typeof json === "string") return decodeBase64(json);
  if (typeof json !== "object" || json === null) return undefined;
  if (Array.isArray(json)) {
    return json.every(isByte) ? Uint8Array.from(json as number[]) : undefined;
  }
  if (json["type"] === "Buffer" && "data" in json) return bytesFromJson(json["data"]!);
  const keys = Object.keys(json);
  const values = Object.values(json);
  if (keys.length === 0) return EMPTY;
  return keys.every((key, i) => key === String(i)) && values.every(isByte)
    ? Uint8Array.from(values as number[])
    : undefined;
}

const isByte = (value: Json): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;

/** Values of the characters of both alphabets; 64 for other characters. */
const SIXTETS = new Uint8Array(128).fill(64);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").forEach((c, i) =>
  SIXTETS[c.charCodeAt(0)] = i
);
SIXTETS["-".charCodeAt(0)] = 62;
SIXTETS["_".charCodeAt(0)] = 63;

/** Returns undefined for text that is not Base64. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  const text = /\s/.test(base64) ? base64.replace(/\s/g, "") : base64;
  let { length } = text;
  for (let padding = 0; padding < 2 && text.charCodeAt(length - 1) === 0x3d; padding++) length--;
  // A single last character does not encode a byte, and padding completes a group of four.
  if (length % 4 === 1 || (length < text.length && text.length % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor(length * 3 / 4));
  let bits = 0;
  let at = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const sixtet = code < 128 ? SIXTETS[code]! : 64;
    if (sixtet === 64) return undefined;
    bits = (bits << 6) | sixtet;
    switch (i & 3) {
      case 1:
        bytes[at++] = bits >> 4;
        break;
      case 2:
        bytes[at++] = bits >> 2;
        break;
      case 3:
        bytes[at++] = bits;
        bits = 0;
    }
  }
  return bytes;
}
