// The core that comes with the package: base64 in a module, which works in Node, Deno, browsers and bundlers with no permission and no
// condition. Where the package's file core.wasm can be read it is taken instead, because that takes a tenth of the time. Every entry of the package that needs a core wraps what needs it in `inlineCore`, and nothing else names this file; so a
// bundler that drops the unused export drops the bytes too, and "temporalex/slim", which wraps nothing, never has them.
import { ownBytes } from "../platform/own_bytes.ts";
import { type CoreSource, defaultCore } from "./load.ts";

/** Answers `of`, and has the inline core taken where `useCore` was not called. Call it as pure: unused results may be dropped. */
export function inlineCore<T>(of: T): T {
  defaultCore(inlineBytes);
  return of;
}

async function inlineBytes(): Promise<CoreSource> {
  const file = compiledFile();
  if (file !== undefined) return file;
  const { coreWasmBase64 } = await import("./generated/core_wasm.ts");
  // Node: ten times as fast as atob.
  const { Buffer: nodes } = globalThis as { Buffer?: { from?(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } };
  // There is no page whose thread must not wait the few milliseconds of a compilation.
  if (nodes?.from !== undefined) return new WebAssembly.Module(nodes.from(coreWasmBase64, "base64"));
  return decodeBase64(coreWasmBase64);
}

/** The module from its file; undefined where that cannot be had, or is damaged. */
function compiledFile(): CoreSource | undefined {
  const bytes = ownBytes("core/core.wasm");
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
