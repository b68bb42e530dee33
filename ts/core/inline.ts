// The core that comes with the package: base64 in a module, which works in Node, Deno, browsers and bundlers with no permission and no
// condition. Every entry of the package that needs a core wraps what needs it in `inlineCore`, and nothing else names this file; so a
// bundler that drops the unused export drops the bytes too, and "temporalex/slim", which wraps nothing, never has them.
import { type CoreSource, defaultCore } from "./load.ts";

/** Answers `of`, and has the inline core taken where `useCore` was not called. Call it as pure: unused results may be dropped. */
export function inlineCore<T>(of: T): T {
  defaultCore(inlineBytes);
  return of;
}

async function inlineBytes(): Promise<CoreSource> {
  const { coreWasmBase64 } = await import("./generated/core_wasm.ts");
  // Node: ten times as fast as atob, and there is no page whose thread must not wait the few milliseconds of a compilation.
  const { Buffer: nodes } = globalThis as { Buffer?: { from?(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } };
  if (nodes?.from !== undefined) return new WebAssembly.Module(nodes.from(coreWasmBase64, "base64"));
  return decodeBase64(coreWasmBase64);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
