// Finds where two values differ, by path. Values that cannot be decoded are not compared: an
// encrypting codec makes their bytes differ.
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { formatShort } from "../value_text.ts";
import { readPayload } from "../values.ts";

/** A difference between two values. Paths look like "input[1].amount". */
export interface Apart {
  readonly path: string;
  readonly history: string;
  readonly code: string;
}

/** Maximum number of reported places; if more differ, only the value as a whole is reported. */
const MOST = 4;
const ROOM = 60;

/**
 * Compares lists of payloads: the arguments of a call. The path of a single argument has no index.
 */
export function compareLists(
  name: string,
  history: readonly Payload[],
  code: readonly Payload[],
  converter: PayloadConverter | undefined,
): Apart[] {
  const length = Math.max(history.length, code.length);
  return Array.from(
    { length },
    (_, i) => payloadsApart(length === 1 ? name : `${name}[${i}]`, history[i], code[i], converter),
  )
    .flat();
}

type Named = { readonly [name: string]: Payload };

/** Compares payloads by name: a memo. */
export function compareMaps(
  name: string,
  history: Named,
  code: Named,
  converter: PayloadConverter | undefined,
): Apart[] {
  const names = new Set([...Object.keys(history), ...Object.keys(code)]);
  return [...names].flatMap((key) =>
    payloadsApart(`${name} ${key}`, history[key], code[key], converter)
  );
}

function payloadsApart(
  path: string,
  history: Payload | undefined,
  code: Payload | undefined,
  converter: PayloadConverter | undefined,
): Apart[] {
  if (history !== undefined && code !== undefined && areSameBytes(history.data, code.data)) {
    return [];
  }
  const [before, now] = [readPayload(history, converter), readPayload(code, converter)];
  if ("unreadable" in before || "unreadable" in now) return [];
  const found: Apart[] = [];
  collect(path, before.value, now.value, found);
  return found.length > MOST ? [apart(path, before.value, now.value)] : found;
}

function collect(path: string, history: unknown, code: unknown, into: Apart[]): void {
  // A missing field and null differ only by the encoding.
  if (Object.is(history ?? null, code ?? null)) return;
  if (typeof history === "string" && typeof code === "string" && isReplaced(history, code)) return;
  // Histories do not contain their namespace, so code that reads it gets "".
  if (code === "" && typeof history === "string") return;
  if (Array.isArray(history) && Array.isArray(code) && history.length === code.length) {
    history.forEach((value, i) => collect(`${path}[${i}]`, value, code[i], into));
  } else if (isRecord(history) && isRecord(code)) {
    for (const key of new Set([...Object.keys(history), ...Object.keys(code)])) {
      collect(`${path}.${key}`, history[key], code[key], into);
    }
  } else if (!isSame(history, code)) into.push(apart(path, history, code));
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

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Compares lists of different length, dates and class instances by their JSON. */
function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return areSameBytes(a, b);
  return formatShort(a, Infinity) === formatShort(b, Infinity);
}

function apart(path: string, history: unknown, code: unknown): Apart {
  const [before, now] = [formatShort(history, Infinity), formatShort(code, Infinity)];
  let from = 0;
  while (from < before.length && before[from] === now[from]) from++;
  // Shortens long texts so that the difference stays visible.
  const start = from < ROOM - 20 || Math.max(before.length, now.length) <= ROOM ? 0 : from - 10;
  const part = (text: string) =>
    `${start > 0 ? "…" : ""}${text.slice(start, start + ROOM)}${
      text.length > start + ROOM ? "…" : ""
    }`;
  return { path, history: part(before), code: part(now) };
}

const areSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);
