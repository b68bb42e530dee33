// Search attributes of a run as values for queries, derived from the run's own message. Each
// element of a keyword list is a separate value. What cannot be decoded (another encoding, null)
// has no value.
import { Payload, SearchAttributes } from "../../messages/generated/fields.ts";
import { Fields } from "../../messages/wire.ts";
import { momentOf } from "./moment.ts";

/** Kinds of values; values compare only within a kind. */
export const Kind = {
  TEXT: 1,
  NUMBER: 2,
  /** 0 or 1. */
  BOOL: 3,
  /** Milliseconds since the epoch. */
  TIME: 4,
} as const;
export type Kind = typeof Kind[keyof typeof Kind];

export interface AttributeValue {
  readonly name: string;
  readonly kind: Kind;
  readonly value: string | number;
}

// A map entry is a message with its key and its value.
const ENTRY = { key: 10, value: 18 } as const;
const text = new TextDecoder();

/**
 * Returns the values in encoded SearchAttributes; empty if the bytes do not decode, because a run
 * is stored whatever a client sent.
 */
export function attributeValues(message: Uint8Array): AttributeValue[] {
  const found: AttributeValue[] = [];
  if (message.length === 0) return found;
  try {
    for (const [name, payload] of payloadsOf(message)) add(found, name, payload);
  } catch (e) {
    if (e instanceof RangeError) return [];
    throw e;
  }
  return found;
}

function payloadsOf(message: Uint8Array): Map<string, Uint8Array> {
  const payloads = new Map<string, Uint8Array>();
  for (const at = new Fields(message); at.next();) {
    if (at.tag !== SearchAttributes.indexedFields) continue;
    const [key, value] = entryOf(at.bytes());
    payloads.set(text.decode(key), value);
  }
  return payloads;
}

function entryOf(bytes: Uint8Array): [key: Uint8Array, value: Uint8Array] {
  let key = NONE;
  let value = NONE;
  for (const entry = new Fields(bytes); entry.next();) {
    if (entry.tag === ENTRY.key) key = entry.bytes();
    else if (entry.tag === ENTRY.value) value = entry.bytes();
  }
  return [key, value];
}

const NONE: Uint8Array = new Uint8Array(0);

function add(found: AttributeValue[], name: string, payload: Uint8Array): void {
  let type = "";
  let data = NONE;
  for (const at = new Fields(payload); at.next();) {
    if (at.tag === Payload.data) data = at.bytes();
    else if (at.tag === Payload.metadata) {
      const [key, value] = entryOf(at.bytes());
      if (text.decode(key) === "type") type = text.decode(value);
    }
  }
  let json: unknown;
  try {
    json = JSON.parse(text.decode(data));
  } catch {
    return;
  }
  const isTime = type === "Datetime" || type === "INDEXED_VALUE_TYPE_DATETIME";
  for (const each of new Set(Array.isArray(json) ? json : [json])) {
    const value = valueOf(each, isTime);
    if (value !== undefined) found.push({ name, ...value });
  }
}

function valueOf(json: unknown, isTime: boolean): Omit<AttributeValue, "name"> | undefined {
  switch (typeof json) {
    case "string": {
      const ms = isTime ? momentOf(json) : NaN;
      return Number.isNaN(ms) ? { kind: Kind.TEXT, value: json } : { kind: Kind.TIME, value: ms };
    }
    case "number":
      return { kind: Kind.NUMBER, value: json };
    case "boolean":
      return { kind: Kind.BOOL, value: json ? 1 : 0 };
  }
  return undefined;
}
