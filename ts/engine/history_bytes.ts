// Encoded History messages without decoding their events: cutting a batch at event ids, and appending a history to a response.
// A History is `repeated HistoryEvent events = 1`, so it is a row of (tag 0x0a, length, event); events of a batch are consecutive,
// so the n-th entry is event `first + n`. Messages may be concatenated by the rules of protobuf, and that is all that is used here.
import { StoreError } from "./store_errors.ts";

const EVENTS_TAG = 0x0a;

/** A varint at `at`: its value and the position behind it. Lengths of messages fit in 32 bits. */
function varint(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
  throw new StoreError("a stored batch of history events does not decode: it is damaged");
}

/** Position behind the entry that begins at `at`. */
function skipEvent(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== EVENTS_TAG) throw new StoreError("a stored batch of history events does not decode: it is damaged");
  const [length, body] = varint(bytes, at + 1);
  if (body + length > bytes.length) throw new StoreError("a stored batch of history events does not decode: it is cut short");
  return body + length;
}

/** The events `from`..`to` of a batch that begins with event `first` and ends with event `last`. The same bytes when nothing is cut. */
export function cutBatch(events: Uint8Array, first: number, last: number, from: number, to: number): Uint8Array {
  if (from <= first && to >= last) return events;
  let at = 0;
  let begin = 0;
  for (let id = first; id <= Math.min(to, last); id++) {
    if (id === from) begin = at;
    at = skipEvent(events, at);
  }
  return events.subarray(begin, at);
}

function varintLength(value: number): number {
  let n = 1;
  for (; value > 0x7f; value = Math.floor(value / 128)) n++;
  return n;
}

function writeVarint(out: Uint8Array, at: number, value: number): number {
  for (; value > 0x7f; value = Math.floor(value / 128)) out[at++] = (value & 0x7f) | 0x80;
  out[at++] = value;
  return at;
}

/** `body` with field `fieldNumber` appended: a History made of `parts`. */
export function appendHistory(body: Uint8Array, fieldNumber: number, parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const tag = fieldNumber * 8 + 2;
  const out = new Uint8Array(body.length + varintLength(tag) + varintLength(length) + length);
  out.set(body);
  let at = writeVarint(out, body.length, tag);
  at = writeVarint(out, at, length);
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
