// Converts payloads to and from bytes of temporal.api.common.v1.Payload.
import { MapEntry, Payload as PayloadFields } from "../messages/generated/fields.ts";
import { Fields, Message } from "../messages/wire.ts";
import type { Payload } from "../converter/payload.ts";

/** Decodes a payload into new arrays. Throws for invalid bytes. */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  const payload: Payload = { metadata: {}, data: new Uint8Array(0) };
  for (const at = new Fields(bytes); at.next();) {
    if (at.tag === PayloadFields.data) payload.data = at.bytes().slice();
    else if (at.tag === PayloadFields.metadata) {
      let key = "";
      let value: Uint8Array = new Uint8Array(0);
      for (const of = at.inner(); of.next();) {
        if (of.tag === MapEntry.key) key = of.text();
        else if (of.tag === MapEntry.value) value = of.bytes().slice();
      }
      // Defined, not assigned: a key may be "__proto__".
      const property = { value, enumerable: true, writable: true, configurable: true };
      Object.defineProperty(payload.metadata, key, property);
    }
  }
  return payload;
}

/** Encodes a payload as temporal.api.common.v1.Payload, which codecs encrypt or store. */
export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  const payload = new Message();
  for (const key of Object.keys(metadata)) {
    payload.message(
      PayloadFields.metadata,
      (entry) => entry.text(MapEntry.key, key).bytes(MapEntry.value, metadata[key]!),
    );
  }
  if (data.length > 0) payload.bytes(PayloadFields.data, data);
  return payload.finish();
}
