// A payload as bytes and back: metadata is field 1 (entries of key 1 and value 2), data field 2 of temporal.api.common.v1.Payload.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Payload } from "../converter/payload.ts";

const text = new TextDecoder();

/** The payload of its bytes, in arrays of its own. Throws when the bytes are no message. */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  const payload: Payload = { metadata: {}, data: new Uint8Array(0) };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.LengthDelimited || number > 2) reader.skip(type, number);
    else if (number === 2) payload.data = reader.bytes().slice();
    else {
      const entry = reader.bytes();
      let key = "";
      let value: Uint8Array = new Uint8Array(0);
      const fields = new BinaryReader(entry);
      while (fields.pos < fields.len) {
        const [field, kind] = fields.tag();
        if (field === 1 && kind === WireType.LengthDelimited) key = text.decode(fields.bytes());
        else if (field === 2 && kind === WireType.LengthDelimited) value = fields.bytes().slice();
        else fields.skip(kind, field);
      }
      // Defined, not assigned: a key may be "__proto__".
      const property = { value, enumerable: true, writable: true, configurable: true };
      Object.defineProperty(payload.metadata, key, property);
    }
  }
  return payload;
}

/** The payload as bytes of temporal.api.common.v1.Payload: what codecs encrypt or store, with its metadata. */
export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  const writer = new BinaryWriter();
  for (const key of Object.keys(metadata)) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).bytes(metadata[key]!).join();
  }
  if (data.length > 0) writer.tag(2, WireType.LengthDelimited).bytes(data);
  return writer.finish();
}
