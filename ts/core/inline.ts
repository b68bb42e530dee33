// The halves of the core that come with the package, each as base64 in a module, which works in Node, Deno, browsers and bundlers with no
// permission and no condition. In the published package the bytes are gzipped before (tools/lib/shared_files.mjs): two fifths of the text.
// Where the package's file can be read it is taken instead, because that takes a tenth of the time.
//
// Every entry of the package that needs a half wraps what needs it in `inlineWorker` or `inlineEngine` (files of their own, so that a
// bundle has one without the other), and nothing else names the bytes; so a bundler that drops the unused export drops the bytes too, and
// "temporalex/slim", which wraps nothing, never has them.
import { gunzip } from "../platform/gunzip.ts";
import { ownBytes } from "../platform/own_bytes.ts";
import type { CoreHalf, CoreSource } from "./source.ts";

/** A half from its file, or from the text that `load` has. */
export async function inlineHalf(half: CoreHalf, load: () => Promise<{ wasmBase64: string }>): Promise<CoreSource> {
  const file = compiledFile(half);
  if (file !== undefined) return file;
  const { wasmBase64 } = await load();
  // Node: ten times as fast as atob.
  const { Buffer: nodes } = globalThis as { Buffer?: { from?(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } };
  // There is no page whose thread must not wait the few milliseconds of a compilation.
  if (nodes?.from !== undefined) return new WebAssembly.Module(await unzipped(nodes.from(wasmBase64, "base64")));
  return await unzipped(decodeBase64(wasmBase64));
}

/** The bytes that were gzipped; others as they are. */
async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isGzipped ? await gunzip(bytes) : bytes;
}

/** The module from its file; undefined where that cannot be had, or is damaged. */
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
  const native = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
