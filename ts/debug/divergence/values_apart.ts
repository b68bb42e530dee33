// Where two values differ, by path. Values that one side cannot be read of are not compared: their bytes differ by the key of a codec alone.
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { short } from "../value_text.ts";
import { shown } from "../values.ts";

/** A place in which two values differ: "input[1].amount", and what both sides have there. */
export interface Apart {
  readonly path: string;
  readonly history: string;
  readonly code: string;
}

/** So many places are named; where more differ, the value as a whole is. */
const MOST = 4;
const ROOM = 60;

/** Lists of payloads: the arguments of a call. A list of one has no index in its path. */
export function listsApart(
  name: string,
  history: readonly Payload[],
  code: readonly Payload[],
  converter: PayloadConverter | undefined,
): Apart[] {
  const length = Math.max(history.length, code.length);
  return Array.from({ length }, (_, i) => payloadsApart(length === 1 ? name : `${name}[${i}]`, history[i], code[i], converter))
    .flat();
}

type Named = { readonly [name: string]: Payload };

/** Payloads by name: a memo. */
export function mapsApart(name: string, history: Named, code: Named, converter: PayloadConverter | undefined): Apart[] {
  const names = new Set([...Object.keys(history), ...Object.keys(code)]);
  return [...names].flatMap((key) => payloadsApart(`${name} ${key}`, history[key], code[key], converter));
}

function payloadsApart(
  path: string,
  history: Payload | undefined,
  code: Payload | undefined,
  converter: PayloadConverter | undefined,
): Apart[] {
  if (history !== undefined && code !== undefined && areSameBytes(history.data, code.data)) return [];
  const [before, now] = [shown(history, converter), shown(code, converter)];
  if ("unreadable" in before || "unreadable" in now) return [];
  const found: Apart[] = [];
  collect(path, before.value, now.value, found);
  return found.length > MOST ? [apart(path, before.value, now.value)] : found;
}

function collect(path: string, history: unknown, code: unknown, into: Apart[]): void {
  // What a value has not and what is null in it differ by the encoding, and not for the code that reads it.
  if (Object.is(history ?? null, code ?? null)) return;
  if (typeof history === "string" && typeof code === "string" && isReplaced(history, code)) return;
  // Histories do not name their namespace: code that asks for it is given "".
  if (code === "" && typeof history === "string") return;
  if (Array.isArray(history) && Array.isArray(code) && history.length === code.length) {
    history.forEach((value, i) => collect(`${path}[${i}]`, value, code[i], into));
  } else if (isRecord(history) && isRecord(code)) {
    for (const key of new Set([...Object.keys(history), ...Object.keys(code)])) {
      collect(`${path}.${key}`, history[key], code[key], into);
    }
  } else if (!isSame(history, code)) into.push(apart(path, history, code));
}

/** What redaction puts in the place of a text: a number, filled up to its length (take_away/redact.ts). */
const REPLACED = /^[\da-z]{1,4}x{2,}$/;

/** A history without its values: who began it is replaced, too. */
export const isRedacted = (identity: string): boolean => REPLACED.test(identity);

const isReplaced = (history: string, code: string): boolean => history.length === code.length && REPLACED.test(history);

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Lists of another length, dates, class instances: by what JSON makes of them. */
function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return areSameBytes(a, b);
  return short(a, Infinity) === short(b, Infinity);
}

function apart(path: string, history: unknown, code: unknown): Apart {
  const [before, now] = [short(history, Infinity), short(code, Infinity)];
  let from = 0;
  while (from < before.length && before[from] === now[from]) from++;
  // The difference is in sight, also of long texts.
  const start = from < ROOM - 20 || Math.max(before.length, now.length) <= ROOM ? 0 : from - 10;
  const part = (text: string) =>
    `${start > 0 ? "…" : ""}${text.slice(start, start + ROOM)}${text.length > start + ROOM ? "…" : ""}`;
  return { path, history: part(before), code: part(now) };
}

const areSameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);
