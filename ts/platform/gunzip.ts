// Decompresses gzip with the runtime's own implementation.
import { builtin } from "./builtin.ts";

/** Decompresses gzip. Rejects, or throws, for other bytes. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  // Node and Deno: the first stream there takes 100 ms.
  const zlib = builtin<{ gunzipSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> }>("node:zlib");
  if (zlib !== undefined) return zlib.gunzipSync(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
