// The halves of the core in the package, each as base64 in a module, which works in all runtimes
// and bundlers. The published package gzips the bytes first (tools/lib/shared_files.mjs). If the
// package's file is readable, it is used instead, ten times as fast. Entries wrap exports with
// `inlineWorker` or `inlineEngine`, and nothing else refers to the bytes, so bundlers drop unused
// ones.
import { gunzip } from "../platform/gunzip.ts";
import { ownBytes } from "../platform/own_bytes.ts";
import type { CoreHalf, CoreSource } from "./source.ts";

/** Returns a half from its file, or from the text that `load` returns. */
export async function inlineHalf(
  half: CoreHalf,
  load: () => Promise<{ wasmBase64: string }>,
): Promise<CoreSource> {
  const file = compiledFile(half);
  if (file !== undefined) return file;
  const { wasmBase64 } = await load();
  // Node: ten times as fast as atob.
  const { Buffer: nodes } = globalThis as {
    Buffer?: { from?(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> };
  };
  // No page in this runtime, so compilation may block the thread for some milliseconds.
  if (nodes?.from !== undefined) {
    return new WebAssembly.Module(await unzipped(nodes.from(wasmBase64, "base64")));
  }
  return await unzipped(decodeBase64(wasmBase64));
}

/** Decompresses gzipped bytes; others are unchanged. */
async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isGzipped ? await gunzip(bytes) : bytes;
}

/** Compiles the module from its file; undefined if unreadable or damaged. */
function compiledFile(half: CoreHalf): CoreSource | undefined {
  const bytes = ownBytes(`core/${half}.wasm`);
  if (bytes === undefined) return undefined;
  try {
    return new WebAssembly.Module(bytes);
  } catch {
    return undefined;
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native =
    (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
