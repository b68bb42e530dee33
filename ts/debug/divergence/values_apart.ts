// Finds where two values differ, by path. Without `onUnread`, values that cannot be decoded are not
// compared: an encrypting codec makes their bytes differ.
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { readPayload } from "../values.ts";
import type { ValuePath } from "./value_rules.ts";

/** A difference between two values. */
export interface Apart {
  /** For sentences: "input[1].amount", "memo level". */
  readonly field: string;
  readonly path: ValuePath;
  readonly history: string;
  readonly code: string;
}

/** How values are compared. */
export interface CompareHow {
  readonly converter: PayloadConverter | undefined;
  /** Values that are not compared. */
  isIgnored?(path: ValuePath): boolean;
  /**
   * Called for a recorded value that cannot be decoded next to one of the code that can. If
   * present, values of the same unknown encoding are compared as bytes.
   */
  onUnread?(path: ValuePath, encoding: string): void;
  /** Texts of the code that stand for facts that histories do not contain: the namespace. */
  readonly unknownTexts: ReadonlySet<string>;
}

interface At {
  readonly field: string;
  readonly path: ValuePath;
}

/** Maximum number of reported places; if more differ, only the value as a whole is reported. */
const MOST = 4;
const ROOM = 60;

/**
 * Compares lists of payloads: the arguments of a call ("input"), a "result", the "details" of a
 * failure. The field of a single one has no index.
 */
export function compareLists(
  name: string,
  history: readonly Payload[],
  code: readonly Payload[],
  how: CompareHow,
): Apart[] {
  const length = Math.max(history.length, code.length);
  return Array.from({ length }, (_, i) => {
    const field = length === 1 ? name : `${name}[${i}]`;
    const path = name === "result" ? [name] : name === "input" ? [name, i] : ["failure", name, i];
    return payloadsApart({ field, path }, history[i], code[i], how);
  }).flat();
}

/** Compares texts that are not payloads: the message of a failure. */
export function compareTexts(
  field: string,
  path: ValuePath,
  history: string,
  code: string,
  how: CompareHow,
): Apart[] {
  const found: Apart[] = [];
  collect({ field, path }, history, code, how, found);
  return found;
}

type Named = { readonly [name: string]: Payload };

/** Compares payloads by name: a memo. `root`: first name of paths. */
export function compareMaps(
  name: string,
  root: string,
  history: Named,
  code: Named,
  how: CompareHow,
): Apart[] {
  const names = new Set([...Object.keys(history), ...Object.keys(code)]);
  return [...names].flatMap((key) => {
    const at = { field: `${name} ${key}`, path: [root, key] };
    return payloadsApart(at, history[key], code[key], how);
  });
}

function payloadsApart(
  at: At,
  history: Payload | undefined,
  code: Payload | undefined,
  how: CompareHow,
): Apart[] {
  if (how.isIgnored?.(at.path) === true) return [];
  if (
    history !== undefined && code !== undefined && areSameBytes(history.data, code.data) &&
    METADATA.every((key) => areSameBytes(history.metadata[key], code.metadata[key]))
  ) {
    return [];
  }
  const [before, now] = [
    readPayload(history, how.converter),
    readPayload(code, how.converter),
  ];
  if ("unreadable" in before || "unreadable" in now) {
    return unreadApart(at, history, code, "unreadable" in before, how);
  }
  const found: Apart[] = [];
  try {
    collect(at, before.value, now.value, how, found);
    return found.length > MOST ? [apart(at, before.value, now.value)] : found;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Nested too deeply to be compared by parts.
    const bytes = { history: history?.data, code: code?.data };
    return [{
      ...at,
      history: bytesText(history?.data ?? new Uint8Array(0), bytes),
      code: bytesText(code?.data ?? new Uint8Array(0), bytes),
    }];
  }
}

/** Metadata that changes the value of the same bytes: see the default payload converter. */
const METADATA = ["encoding", "js-types"];

/** Compares payloads of which at least one cannot be decoded. */
function unreadApart(
  at: At,
  history: Payload | undefined,
  code: Payload | undefined,
  isHistoryUnread: boolean,
  { onUnread }: CompareHow,
): Apart[] {
  if (onUnread === undefined) return [];
  const encoding = encodingName(history);
  if (isHistoryUnread && code !== undefined && encoding !== encodingName(code)) {
    // A codec that was not given has encoded it: its bytes say nothing about the value.
    onUnread(at.path, encoding);
    return [];
  }
  const common = { history: history?.data, code: code?.data };
  const text = (payload: Payload | undefined) =>
    payload === undefined
      ? "nothing"
      : `${bytesText(payload.data, common)} of ${encodingName(payload)} (compared as bytes)`;
  return [{ ...at, history: text(history), code: text(code) }];
}

function encodingName(payload: Payload | undefined): string {
  const name = new TextDecoder().decode(payload?.metadata["encoding"]);
  return name === "" ? "an unknown encoding" : name;
}

/** Describes bytes by their number, and by the first one that differs if the numbers are equal. */
function bytesText(
  bytes: Uint8Array,
  { history, code }: { readonly history: unknown; readonly code: unknown },
): string {
  const size = `${bytes.length} bytes`;
  if (
    !(history instanceof Uint8Array) || !(code instanceof Uint8Array) ||
    history.length !== code.length
  ) {
    return size;
  }
  const first = history.findIndex((byte, i) => byte !== code[i]);
  return first < 0
    ? size
    : `${size}, byte ${first + 1} is 0x${bytes[first]!.toString(16).padStart(2, "0")}`;
}

function collect(at: At, history: unknown, code: unknown, how: CompareHow, into: Apart[]): void {
  if (how.isIgnored?.(at.path) === true) return;
  // A missing field and null differ only by the encoding.
  if (Object.is(history ?? null, code ?? null)) return;
  if (typeof history === "string" && typeof code === "string") {
    if (isReplaced(history, code) || how.unknownTexts.has(code)) return;
  }
  if (Array.isArray(history) && Array.isArray(code) && history.length === code.length) {
    history.forEach((value, i) => collect(inside(at, i), value, code[i], how, into));
    return;
  }
  const [before, now] = [fieldsOf(history), fieldsOf(code)];
  if (before !== undefined && now !== undefined) {
    for (const key of new Set([...before.keys(), ...now.keys()])) {
      collect(inside(at, key), before.get(key), now.get(key), how, into);
    }
  } else if (valueText(history) !== valueText(code)) into.push(apart(at, history, code));
}

function inside({ field, path }: At, part: string | number): At {
  return {
    field: typeof part === "number" ? `${field}[${part}]` : `${field}.${part}`,
    path: [...path, part],
  };
}

/**
 * Redaction replaces texts with a base-36 number, padded to the length of the text
 * (take_away/redact.ts).
 */
const REPLACED = /^[\da-z]{1,4}x{2,}$/;

/** Returns whether the values of a history were redacted, by the identity that started it. */
export const isRedacted = (identity: string): boolean => REPLACED.test(identity);

const isReplaced = (history: string, code: string): boolean =>
  history.length === code.length && REPLACED.test(history);

/** Returns the fields of a plain object; undefined for other values. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isPlain = typeof value === "object" && value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isPlain ? new Map(Object.entries(value)) : undefined;
}

/** Prints a value so that different values have different texts; JSON, where JSON is exact. */
function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Uint8Array) {
    return `bytes ${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
  if (value instanceof Map) {
    return `Map {${
      [...value].map(([key, item]) => `${valueText(key)}: ${valueText(item)}`).join(",")
    }}`;
  }
  if (value instanceof Date) return `Date ${JSON.stringify(value)}`;
  if (value instanceof Set) return `Set {${[...value].map(valueText).join(",")}}`;
  if (Array.isArray(value)) return `[${Array.from(value, valueText).join(",")}]`;
  const fields = fieldsOf(value);
  if (fields !== undefined) {
    return `{${
      [...fields].filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}:${valueText(item)}`).join(",")
    }}`;
  }
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // An object of the caller's converter throws.
    return `a ${typeof value} that cannot be printed`;
  }
}

function apart(at: At, history: unknown, code: unknown): Apart {
  const [before, now] = [history, code].map((value) =>
    value instanceof Uint8Array ? bytesText(value, { history, code }) : valueText(value)
  ) as [string, string];
  let from = 0;
  while (from < before.length && before[from] === now[from]) from++;
  // Shortens long texts so that the difference stays visible.
  const start = from < ROOM - 20 || Math.max(before.length, now.length) <= ROOM ? 0 : from - 10;
  const part = (text: string) =>
    `${start > 0 ? "…" : ""}${text.slice(start, start + ROOM)}${
      text.length > start + ROOM ? "…" : ""
    }`;
  return { ...at, history: part(before), code: part(now) };
}

const areSameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  (a?.length ?? 0) === (b?.length ?? 0) && (a ?? []).every((byte, i) => byte === b![i]);
