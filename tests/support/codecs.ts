// Codecs for tests.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { PayloadCodec } from "../../ts/codec/codec.ts";
import type { Payload } from "../../ts/converter/payload.ts";
import { PayloadSchema } from "../../ts/api/generated/temporal/api/common/v1/message_pb.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

export const encodingOf = (payload: Payload): string => text.decode(payload.metadata["encoding"] ?? new Uint8Array(0));

/** Turns every bit of the payload over: reversible, and nothing readable is left. Other payloads pass. */
export function invertingCodec(name = "binary/inverted"): PayloadCodec & { encoded: number; decoded: number } {
  const invert = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff);
  const codec = {
    encoded: 0,
    decoded: 0,
    encode: (payloads: Payload[]) => {
      codec.encoded += payloads.length;
      return Promise.resolve(payloads.map(({ metadata, data }) => ({
        metadata: { encoding: utf8.encode(name) },
        data: invert(toBinary(PayloadSchema, create(PayloadSchema, { metadata, data }))),
      })));
    },
    decode: (payloads: Payload[]) =>
      Promise.resolve(payloads.map((payload) => {
        if (encodingOf(payload) !== name) return payload;
        codec.decoded++;
        const { metadata, data } = fromBinary(PayloadSchema, invert(payload.data));
        return { metadata, data };
      })),
  };
  return codec;
}
