// Codecs for tests.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { PayloadCodec } from "../../ts/codec/codec.ts";
import type { Payload } from "../../ts/converter/payload.ts";
import { PayloadSchema } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

export const encodingOf = (payload: Payload): string =>
  text.decode(payload.metadata["encoding"] ?? new Uint8Array(0));

/**
 * Turns every bit of the payload over: reversible, and nothing readable is left. Other payloads
 * pass.
 */
export function invertingCodec(
  name = "binary/inverted",
): PayloadCodec & { encoded: number; decoded: number } {
  const both = invertingSyncCodec(name);
  const codec = {
    encoded: 0,
    decoded: 0,
    encode: (payloads: Payload[]) => {
      codec.encoded += payloads.length;
      return both.encode(payloads);
    },
    decode: (payloads: Payload[]) => {
      codec.decoded += payloads.filter((payload) => encodingOf(payload) === name).length;
      return both.decode(payloads);
    },
  };
  return codec;
}

/** The same with the synchronous form, for reducers. */
export function invertingSyncCodec(name = "binary/inverted"): Required<PayloadCodec> {
  const invert = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff);
  const encodeSync = (payloads: Payload[]): Payload[] =>
    payloads.map(({ metadata, data }) => ({
      metadata: { encoding: utf8.encode(name) },
      data: invert(toBinary(PayloadSchema, create(PayloadSchema, { metadata, data }))),
    }));
  const decodeSync = (payloads: Payload[]): Payload[] =>
    payloads.map((payload) => {
      if (encodingOf(payload) !== name) return payload;
      const { metadata, data } = fromBinary(PayloadSchema, invert(payload.data));
      return { metadata, data };
    });
  return {
    encodeSync,
    decodeSync,
    encode: (payloads) => Promise.resolve(encodeSync(payloads)),
    decode: (payloads) => Promise.resolve(decodeSync(payloads)),
  };
}
