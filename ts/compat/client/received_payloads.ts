// Payloads as they come from a server. The official packages hold their bytes as Buffers where the runtime has them, and codecs of programs
// use that: `payload.data.toString()`.
import type { Payload } from "../common/mod.ts";

interface Buffers {
  from(bytes: ArrayBufferLike, offset: number, length: number): Uint8Array;
}

/** The same bytes as a Buffer, where the runtime has Buffers. */
function buffer(bytes: Uint8Array): Uint8Array {
  const made = (globalThis as { Buffer?: Buffers }).Buffer?.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return made ?? bytes;
}

/** Payloads for a codec's `decode`. */
export function receivedPayloads(payloads: readonly Payload[]): Payload[] {
  return payloads.map(({ metadata, data }) => ({
    ...(metadata && { metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, buffer(value)])) }),
    ...(data && { data: buffer(data) }),
  }));
}
