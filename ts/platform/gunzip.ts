// Decompresses gzip with the runtime's own implementation.
import { builtin } from "./builtin.ts";

/** Decompresses gzip; undefined in browsers, which need a promise. Throws for other bytes. */
export function gunzipSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  return builtin<{ gunzipSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> }>("node:zlib")
    ?.gunzipSync(bytes);
}

/** Decompresses gzip. Rejects, or throws, for other bytes. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  // Node and Deno: the first stream there takes 100 ms.
  const unpacked = gunzipSync(bytes);
  if (unpacked !== undefined) return unpacked;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
