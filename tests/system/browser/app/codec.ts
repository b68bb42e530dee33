// A codec that page and engine worker of an application share: it reverses every payload, so that
// the store contains no plain text.
import type { PayloadCodec } from "../../../../ts/codec/codec.ts";
import type { Payload } from "../../../../ts/converter/payload.ts";

const encoding = new TextEncoder().encode("binary/turned");
const encodeSync = (payloads: Payload[]): Payload[] =>
  payloads.map(({ metadata, data }) => ({
    metadata: { ...metadata, encoding, was: metadata["encoding"]! },
    data: data.slice().reverse(),
  }));
const decodeSync = (payloads: Payload[]): Payload[] =>
  payloads.map((payload) => {
    const { was, ...metadata } = payload.metadata;
    return was === undefined
      ? payload
      : { metadata: { ...metadata, encoding: was }, data: payload.data.slice().reverse() };
  });

export const turningCodec: PayloadCodec = {
  encodeSync,
  decodeSync,
  encode: (payloads) => Promise.resolve(encodeSync(payloads)),
  decode: (payloads) => Promise.resolve(decodeSync(payloads)),
};
