// Loads the module: compiles it once, to post to realms, and instantiates it once in this thread. Where its bytes come from is said by
// `useCore`, or else by the entry of the package that was imported (inline.ts). This file does not know the inline bytes, so that a bundle
// made from "temporalex/slim" does not contain them.
import initAsync, { core_info, Engine, initSync, Run } from "./generated/core.js";
import { CoreInfo, EngineOptions, RunOptions } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreEngine } from "./engine.ts";
import { CoreLoadError } from "./errors.ts";
import { CoreRun } from "./run.ts";

/** The address of the package's file `core.wasm`, the answer of a fetch for it, its bytes, or the module that was compiled from it. */
export type CoreSource = string | URL | Response | WebAssembly.Module | ArrayBuffer | Uint8Array<ArrayBuffer>;

/** The loaded module. */
export interface Core {
  /** One workflow run, worker's side. */
  createRun(options: Partial<RunOptions>): CoreRun;
  /** An embedded engine's state machine. */
  createEngine(options: Partial<EngineOptions>): CoreEngine;
  /** Version of the core and hash of the sources it was built from. */
  info(): CoreInfo;
}

const core: Core = {
  createRun: (options) => new CoreRun(new Run(RunOptions.encode(RunOptions.fromPartial(options)).finish())),
  createEngine: (options) => new CoreEngine(new Engine(EngineOptions.encode(EngineOptions.fromPartial(options)).finish())),
  info: () => CoreInfo.decode(core_info()),
};

let given: CoreSource | Promise<CoreSource> | undefined;
let byDefault: (() => Promise<CoreSource>) | undefined;
let compiling: Promise<WebAssembly.Module> | undefined;
let loading: Promise<Core> | undefined;
let loaded = false;
let memory: WebAssembly.Memory | undefined;

/** Bytes of memory that the loaded module has taken; 0 before it is loaded. It grows as needed and never shrinks. */
export function memoryBytes(): number {
  return memory?.buffer.byteLength ?? 0;
}

/**
 * Says where the core comes from. Call it before anything that needs the core (`open`, an engine, a worker, a realm); an address is fetched
 * when the core is first needed, and again after a fetch that failed. Realms get the compiled module from here, so they fetch nothing.
 * Once the module has been loaded in this thread, further calls change nothing.
 *
 * @example
 * import coreUrl from "temporalex/core.wasm?url"; // Vite; or the address at which your server has the package's file
 * useCore(coreUrl);
 */
export function useCore(source: CoreSource | Promise<CoreSource>): void {
  given = source;
  // Whoever needs the core is told; until then nobody listens.
  if (source instanceof Promise) source.catch(() => {});
}

/** The source that is taken where `useCore` was not called. */
export function defaultCore(source: () => Promise<CoreSource>): void {
  byDefault = source;
}

/** The compiled module, to post to realms and other workers. Rejects with a CoreLoadError; the next call tries again. */
export function coreModule(): Promise<WebAssembly.Module> {
  if (compiling !== undefined) return compiling;
  const source = given ?? byDefault?.();
  if (source === undefined) {
    return Promise.reject(
      new CoreLoadError(
        'nobody has said where the core comes from: call useCore (of "temporalex/slim") with the address of core.wasm first, ' +
          'or import from "temporalex", which brings the core with it',
      ),
    );
  }
  const attempt = compiling = compile(source);
  attempt.catch(() => (compiling = undefined));
  return attempt;
}

/** Loads the module once; every call answers the same core. With a `source` as if `useCore` had been called before. */
export function loadCore(source?: CoreSource | Promise<CoreSource>): Promise<Core> {
  if (source !== undefined) useCore(source);
  if (loading !== undefined) return loading;
  const attempt = loading = coreModule().then(instantiate);
  attempt.catch(() => (loading = undefined));
  return attempt;
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

async function instantiate(module: WebAssembly.Module): Promise<Core> {
  if (loaded) return core;
  try {
    memory = instantiateSync(module) ?? (await initAsync({ module_or_path: module })).memory;
  } catch (e) {
    throw new CoreLoadError(`this is not the core that belongs to this version of the package: ${(e as Error).message}`, e);
  }
  loaded = true;
  return core;
}

/** Saves a turn, and in Node the loading of fetch, for which the glue's other way looks. Undefined on pages whose browser wants the other. */
function instantiateSync(module: WebAssembly.Module): WebAssembly.Memory | undefined {
  try {
    return initSync({ module }).memory;
  } catch (e) {
    if (e instanceof RangeError) return undefined;
    throw e;
  }
}

async function compile(from: CoreSource | Promise<CoreSource>): Promise<WebAssembly.Module> {
  const source = await awaited(from);
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return await compileBytes(source, "what was given");
  const response = source instanceof Response ? source : await fetched(source);
  const where = response.url === "" ? "the response" : response.url;
  if (!response.ok) throw new CoreLoadError(`the core could not be fetched: ${where} answered with status ${response.status}`);
  const type = response.headers.get("content-type") ?? "no content type";
  if (/^application\/wasm\b/i.test(type)) {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (e) {
      throw refused(where, e);
    }
  }
  return await compileBytes(await response.arrayBuffer(), `${where} (${type})`);
}

async function awaited(source: CoreSource | Promise<CoreSource>): Promise<CoreSource> {
  try {
    return await source;
  } catch (e) {
    throw new CoreLoadError(`the core could not be fetched: ${(e as Error).message}`, e);
  }
}

async function fetched(url: string | URL): Promise<Response> {
  try {
    return await fetch(url);
  } catch (e) {
    throw new CoreLoadError(`the core could not be fetched from ${url}: ${(e as Error).message}`, e);
  }
}

async function compileBytes(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>, where: string): Promise<WebAssembly.Module> {
  const [a, b, c, d] = new Uint8Array(
    bytes instanceof Uint8Array ? bytes.buffer : bytes,
    bytes instanceof Uint8Array ? bytes.byteOffset : 0,
  );
  if (a !== 0 || b !== 0x61 || c !== 0x73 || d !== 0x6d) {
    throw new CoreLoadError(`${where} is not the core, nor any WebAssembly module: the package's file core.wasm is wanted there`);
  }
  try {
    return await WebAssembly.compile(bytes);
  } catch (e) {
    throw refused(where, e);
  }
}

function refused(where: string, e: unknown): CoreLoadError {
  const { message } = e as Error;
  const policy = /content security policy|unsafe-eval/i.test(message)
    ? "; the page's Content-Security-Policy must allow 'wasm-unsafe-eval' in script-src"
    : "";
  return new CoreLoadError(`${where} cannot be compiled: ${message}${policy}`, e);
}
