// Received payloads. The official packages have Buffers if the runtime supports them, and codecs of
// programs depend on it: `payload.data.toString()`.
import type { Payload } from "../common/mod.ts";

interface Buffers {
  from(bytes: ArrayBufferLike, offset: number, length: number): Uint8Array;
}

/** Returns the same bytes as a Buffer, if the runtime has Buffers. */
function buffer(bytes: Uint8Array): Uint8Array {
  const made = (globalThis as { Buffer?: Buffers }).Buffer?.from(
    bytes.buffer,
    bytes.byteOffset,
    bytes.byteLength,
  );
  return made ?? bytes;
}

/** Returns payloads for a codec's `decode`. */
export function receivedPayloads(payloads: readonly Payload[]): Payload[] {
  return payloads.map(({ metadata, data }) => ({
    ...(metadata &&
      {
        metadata: Object.fromEntries(
          Object.entries(metadata).map(([name, value]) => [name, buffer(value)]),
        ),
      }),
    ...(data && { data: buffer(data) }),
  }));
}
