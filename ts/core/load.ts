// Loads the module. With no argument the inline base64 is used: it works in Node, Deno, browsers and bundlers with no permission.
// A web page may pass a Response or a compiled module instead. One instance per realm; loading again answers the same one.
import initAsync, { core_info, Engine, initSync, Run } from "./generated/core.js";
import { CoreInfo, EngineOptions, RunOptions } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreEngine } from "./engine.ts";
import { CoreRun } from "./run.ts";

export type CoreSource = WebAssembly.Module | Uint8Array<ArrayBuffer> | Response | Promise<Response>;

/** The loaded module. */
export interface Core {
  createRun(options: Partial<RunOptions>): CoreRun;
  createEngine(options: Partial<EngineOptions>): CoreEngine;
  /** Version of the core and hash of the sources it was built from. */
  info(): CoreInfo;
}

const core: Core = {
  createRun: (options) => new CoreRun(new Run(RunOptions.encode(RunOptions.fromPartial(options)).finish())),
  createEngine: (options) => new CoreEngine(new Engine(EngineOptions.encode(EngineOptions.fromPartial(options)).finish())),
  info: () => CoreInfo.decode(core_info()),
};

let loading: Promise<Core> | undefined;
let loaded = false;
let memory: WebAssembly.Memory | undefined;

/** Bytes of memory that the loaded module has taken; 0 before it is loaded. It grows as needed and never shrinks. */
export function memoryBytes(): number {
  return memory?.buffer.byteLength ?? 0;
}

/** The bytes of the inline module. */
async function inlineBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const { coreWasmBase64 } = await import("./generated/core_wasm.ts");
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

/** Loads the module once; every call answers the same core. */
export function loadCore(source?: CoreSource): Promise<Core> {
  loading ??= (async () => {
    if (!loaded) {
      memory = (await initAsync({ module_or_path: source ?? await inlineBytes() })).memory;
      loaded = true;
    }
    return core;
  })();
  return loading;
}

/** Loads a compiled module synchronously (realms get theirs posted). */
export function loadCoreSync(source: WebAssembly.Module | Uint8Array<ArrayBuffer>): Core {
  if (!loaded) {
    memory = initSync({ module: source }).memory;
    loaded = true;
    loading = Promise.resolve(core);
  }
  return core;
}

/** Compiles the inline module once, to post to realms. */
let compiled: Promise<WebAssembly.Module> | undefined;
export function coreModule(): Promise<WebAssembly.Module> {
  compiled ??= inlineBytes().then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}
