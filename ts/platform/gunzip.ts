// Bytes that were gzipped, unzipped by what the runtime has for it.
import { builtin } from "./builtin.ts";

/** Unzips gzipped bytes. Rejects, or throws, where they are none. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  // Node and Deno: their first stream takes a tenth of a second.
  const zlib = builtin<{ gunzipSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> }>("node:zlib");
  if (zlib !== undefined) return zlib.gunzipSync(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
