// Encoded History messages, without decoding their events: cutting a batch at event ids, appending
// a history to a response. Event ids of a batch are consecutive: entry n is event `first + n`.
// Concatenated protobuf messages are one message.
import { History } from "../messages/generated/fields.ts";
import { concat, fieldHead, Fields, lengthPrefix, tagWithLength } from "../messages/wire.ts";
import { StoreError } from "./store_errors.ts";

/**
 * Returns the events `from`..`to` of a batch with the events `first`..`last`; the same bytes if
 * nothing is cut.
 */
export function cutBatch(
  events: Uint8Array,
  first: number,
  last: number,
  from: number,
  to: number,
): Uint8Array {
  if (from <= first && to >= last) return events;
  let begin = 0;
  const at = new Fields(events);
  try {
    for (let id = first; id <= Math.min(to, last); id++) {
      if (!at.next() || at.tag !== History.events) throw new RangeError(`event ${id} is missing`);
      if (id === from) begin = at.start;
    }
  } catch (cause) {
    throw new StoreError(
      `the stored history events ${first} to ${last} cannot be decoded: they are damaged`,
      { cause },
    );
  }
  return events.subarray(begin, at.end);
}

/** Returns `body` with the field `fieldNumber` appended: a History made of `parts`. */
export function appendHistory(
  body: Uint8Array,
  fieldNumber: number,
  parts: readonly Uint8Array[],
): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  return concat([body, fieldHead(tagWithLength(fieldNumber)), lengthPrefix(length), ...parts]);
}
