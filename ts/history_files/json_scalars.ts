// Writes scalars, enums and times of JSON histories as Protobuf.
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { fail, isObject, type Json, type JsonReading } from "./json_reading.ts";
import { bytesFromJson } from "./payload_json.ts";
import type { WireBuffer } from "./wire_buffer.ts";

/** Wire type of length-delimited values: texts, bytes, messages. */
export const LENGTH = 2;

/** Writes a value, without a tag. */
export type Write = (json: Json, into: JsonReading) => void;

const enums = new WeakMap<DescEnum, ReadonlyMap<string, number>>();
const plain = (name: string) => name.replaceAll("_", "").toUpperCase();

/**
 * Accepts "EVENT_TYPE_TIMER_FIRED", "TIMER_FIRED", "TimerFired" and the number; workflow tasks were
 * formerly named decisions. An unknown name is 0 (unspecified).
 */
export function enumValue(desc: DescEnum, json: Json, into: JsonReading): number {
  if (typeof json === "number") return json;
  if (typeof json !== "string") throw fail(into, json, "a name or number");
  let names = enums.get(desc);
  const known = names?.get(json);
  if (known !== undefined) return known;
  if (/^-?\d+$/.test(json)) return Number(json);
  if (names === undefined) {
    const prefix = `${desc.sharedPrefix ?? ""}`.toUpperCase();
    names = new Map(
      desc.values.flatMap(({ name, number }) => {
        const short = name.toUpperCase().startsWith(prefix) ? name.slice(prefix.length) : name;
        return [[name, number], [plain(name), number], [plain(short), number]] as const;
      }),
    );
    enums.set(desc, names);
  }
  return names.get(plain(json)) ?? names.get(plain(json).replace(/^DECISION/, "WORKFLOW")) ?? 0;
}

export function scalarWriter(type: ScalarType): Write {
  switch (type) {
    case ScalarType.STRING:
      return (json, into) => {
        if (typeof json === "string") into.to.text(json);
        else if (typeof json === "number") into.to.text(String(json));
        else throw fail(into, json, "a text");
      };
    case ScalarType.BOOL:
      return (json, into) => {
        if (json === true || json === "true") into.to.varint32(1);
        else if (json === false || json === "false") into.to.varint32(0);
        else throw fail(into, json, "true or false");
      };
    case ScalarType.BYTES:
      return (json, into) => {
        const bytes = bytesFromJson(json);
        if (bytes === undefined) throw fail(into, json, "bytes (base64)");
        into.to.bytes(bytes);
      };
    case ScalarType.FLOAT:
      return (json, into) => into.to.float(fractional(json, into));
    case ScalarType.DOUBLE:
      return (json, into) => into.to.double(fractional(json, into));
    default:
      return (json, into) => into.to.varint(numeral(json) ?? parseWholeNumber(json, into));
  }
}

function fractional(json: Json, into: JsonReading): number {
  const value = typeof json === "string" && json !== "" ? Number(json) : json;
  if (typeof value !== "number") throw fail(into, json, "a number");
  return value;
}

/** Returns an integer that is exact as a double; undefined for other values. */
function numeral(json: Json): number | undefined {
  const value = typeof json === "string" && json.length < 16 && /^-?\d+$/.test(json)
    ? Number(json)
    : json;
  return Number.isSafeInteger(value) ? value as number : undefined;
}

/** Parses a number, its text, or a Long in JSON: {low, high, unsigned}. */
export function parseWholeNumber(json: Json, into: JsonReading): bigint {
  if (typeof json === "number" && Number.isInteger(json)) return BigInt(json);
  if (typeof json === "string" && /^-?\d+$/.test(json)) return BigInt(json);
  if (isObject(json) && typeof json["low"] === "number" && typeof json["high"] === "number") {
    const bits = (BigInt(json["high"]) << 32n) | BigInt(json["low"] >>> 0);
    return json["unsigned"] === true ? BigInt.asUintN(64, bits) : BigInt.asIntN(64, bits);
  }
  throw fail(into, json, "a whole number");
}

interface SecondsAndNanos {
  readonly seconds: number;
  readonly nanos: number;
}

/** Writes a timestamp or duration: seconds 1, nanos 2. */
export function writeTime(
  json: Json,
  into: JsonReading,
  parse: (text: string) => SecondsAndNanos | undefined,
): void {
  if (typeof json === "string") {
    const parsed = parse(json);
    if (parsed !== undefined) return writeSeconds(parsed.seconds, parsed.nanos, into.to);
  } else if (isObject(json)) {
    const part = (name: string): bigint => {
      into.path.push(name);
      const value = parseWholeNumber(json[name] ?? 0, into);
      into.path.pop();
      return value;
    };
    return writeSeconds(part("seconds"), Number(part("nanos")), into.to);
  }
  throw fail(into, json, parse === timestamp ? "a time" : "a duration");
}

export function writeSeconds(seconds: number | bigint, nanos: number, to: WireBuffer): void {
  // deno-lint-ignore eqeqeq -- 0 and 0n
  if (seconds != 0) {
    to.varint32(1 << 3);
    to.varint(seconds);
  }
  if (nanos !== 0) {
    to.varint32(2 << 3);
    to.varint(nanos);
  }
}

const fraction = (digits: string | undefined): number =>
  Number((digits ?? "").padEnd(9, "0").slice(0, 9));

export function timestamp(text: string): SecondsAndNanos | undefined {
  return usualTimestamp(text) ?? anyTimestamp(text);
}

/** Parses `length` digits; NaN for other characters. */
function digits(text: string, at: number, length: number): number {
  let value = 0;
  for (let i = at; i < at + length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Parses the common format of exported times, 2024-05-06T07:08:09.123456Z, without a Date. Returns
 * undefined for other formats and for days that some months do not have.
 */
function usualTimestamp(text: string): SecondsAndNanos | undefined {
  const { length } = text;
  const places = length - 21;
  if (
    text.charCodeAt(length - 1) !== 0x5a ||
    !(length === 20 || (places >= 1 && places <= 9 && text[19] === "."))
  ) {
    return undefined;
  }
  if (
    text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":"
  ) return undefined;
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)];
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)];
  const nanos = places > 0 ? digits(text, 20, places) * 10 ** (9 - places) : 0;
  const isTime = year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour < 24 &&
    minute < 60 && second < 60;
  if (!isTime || Number.isNaN(nanos)) return undefined;
  return { seconds: Date.UTC(year, month - 1, day, hour, minute, second) / 1000, nanos };
}

function anyTimestamp(text: string): SecondsAndNanos | undefined {
  const m =
    /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*([Zz]|UTC|[+-]\d\d:?\d\d)?$/
      .exec(text.trim());
  if (m === null) return undefined;
  const zone = m[4] === undefined || /^(?:z|utc)$/i.test(m[4])
    ? "Z"
    : m[4].replace(/^(...)(\d\d)$/, "$1:$2");
  const ms = Date.parse(`${m[1]}T${m[2]}${zone}`);
  return Number.isNaN(ms) ? undefined : { seconds: ms / 1000, nanos: fraction(m[3]) };
}

/** Parses "10s", "0.25s" and the Go format: "1h2m3.5s", "150ms". */
export function parseDuration(text: string): SecondsAndNanos | undefined {
  const m = /^(-)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)(?:\.(\d{1,9})\d*)?s)?(?:(\d+)ms)?$/.exec(
    text.trim(),
  );
  if (m === null || text.trim() === "" || text.trim() === "-") return undefined;
  const sign = m[1] === undefined ? 1 : -1;
  const ms = Number(m[6] ?? 0);
  const seconds = Number(m[2] ?? 0) * 3600 + Number(m[3] ?? 0) * 60 + Number(m[4] ?? 0) +
    Math.trunc(ms / 1000);
  return { seconds: seconds * sign, nanos: sign * (fraction(m[5]) + (ms % 1000) * 1e6) };
}

export function wireType(type: ScalarType): number {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return LENGTH;
    case ScalarType.DOUBLE:
      return 1;
    case ScalarType.FLOAT:
      return 5;
    default:
      return 0;
  }
}
