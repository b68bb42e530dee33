// Encodes commands. One writer is reused (encoding is synchronous, and `finish` resets it);
// payloads of the converter get the additional field of the generated codec.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  Payload as PayloadCodec,
  type Payload as WirePayload,
} from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import type { MessageFns } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { MapEntry, Payload as PayloadFields, Payloads } from "../../messages/generated/fields.ts";
import { namingArgument } from "../../converter/lossy_value.ts";
import { type Payload, type PayloadConverter, toPayloads } from "../../converter/payload.ts";
import { namingField, requireWellFormed } from "./well_formed.ts";

export type { WirePayload };

class WellFormedWriter extends BinaryWriter {
  override string(value: string): this {
    requireWellFormed(value);
    return super.string(value);
  }
}

const writer = new WellFormedWriter();
const NO_EXTERNAL: WirePayload["externalPayloads"] = [];

/**
 * Returns the encoded message. Throws a TypeError that names the field where a text has a lone
 * surrogate.
 */
export function encodeWith<T>(codec: MessageFns<T>, message: T): Uint8Array {
  try {
    return codec.encode(message, writer).finish();
  } catch (e) {
    // Discards the partial message.
    writer.finish();
    throw namingField(e, message);
  }
}

/** Returns what `write` has written. */
export function encodeParts(write: (writer: BinaryWriter) => void): Uint8Array {
  try {
    write(writer);
  } catch (e) {
    writer.finish();
    throw e;
  }
  return writer.finish();
}

/** Converts a converter's payload for the generated codec. */
export function wire(payload: Payload): WirePayload {
  return { metadata: payload.metadata, data: payload.data, externalPayloads: NO_EXTERNAL };
}

export function wireAll(converter: PayloadConverter, values: readonly unknown[]): WirePayload[] {
  const out: WirePayload[] = new Array(values.length);
  for (let i = 0; i < values.length; i++) {
    out[i] = wire(namingArgument(i, () => converter.toPayload(values[i])));
  }
  return out;
}

/** Converts a record of values to payloads, in insertion order. */
export function wireRecord(
  converter: PayloadConverter,
  values: { readonly [key: string]: unknown } | undefined,
): { [key: string]: WirePayload } {
  const out: { [key: string]: WirePayload } = {};
  for (const [key, value] of Object.entries(values ?? {})) {
    out[key] = wire(converter.toPayload(value));
  }
  return out;
}

/** Converts a record of payloads, in insertion order. */
export function wirePayloads(
  payloads: { readonly [key: string]: Payload },
): { [key: string]: WirePayload } {
  return Object.fromEntries(Object.entries(payloads).map(([key, payload]) => [key, wire(payload)]));
}

/** Returns encoded temporal.api.common.v1.Payloads. */
export function encodePayloads(payloads: readonly WirePayload[]): Uint8Array {
  for (const payload of payloads) {
    PayloadCodec.encode(payload, writer.uint32(Payloads.payloads).fork()).join();
  }
  return writer.finish();
}

/**
 * Appends a repeated payload field (`tag`) to an encoded message. Protobuf fields may be in any
 * order, so the part that is equal for all calls is encoded once. `more`: fields after the head.
 */
export function withPayloads(
  head: Uint8Array,
  tag: number,
  converter: PayloadConverter,
  values: readonly unknown[],
  more?: Uint8Array,
): Uint8Array {
  // Before anything is written: a value that cannot be converted leaves the writer empty.
  const payloads = toPayloads(converter, values);
  writer.raw(head);
  if (more !== undefined && more.length > 0) writer.raw(more);
  for (const { metadata, data } of payloads) {
    writer.uint32(tag).fork();
    for (const key in metadata) {
      writer.uint32(PayloadFields.metadata).fork();
      writer.uint32(MapEntry.key).string(key).uint32(MapEntry.value).bytes(metadata[key]!).join();
    }
    if (data.length > 0) writer.uint32(PayloadFields.data).bytes(data);
    writer.join();
  }
  return writer.finish();
}
