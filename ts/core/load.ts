// Loads the module: compiles it once, to post to realms, and instantiates it in this thread: once, and again after a trap, whose instance
// is left to the handles that lie in it. Where its bytes come from is said by `useCore`, or else by the entry of the package that was imported (inline.ts). This file does not know the inline bytes, so that a bundle
// made from "temporalex/slim" does not contain them.
import { createGlue, sourceHash } from "./generated/core.js";
import { CoreInfo, EngineOptions, RunOptions } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreEngine } from "./engine.ts";
import { CoreLoadError } from "./errors.ts";
import type { CoreInstance } from "./handle.ts";
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
  createRun: (options) => {
    const bytes = RunOptions.encode(RunOptions.fromPartial(options)).finish();
    return new CoreRun(sound(), ({ Run }) => new Run(bytes));
  },
  createEngine: (options) => {
    const bytes = EngineOptions.encode(EngineOptions.fromPartial(options)).finish();
    return new CoreEngine(sound(), ({ Engine }) => new Engine(bytes));
  },
  info: () => CoreInfo.decode(loaded!.instance.glue.core_info()),
};

let given: CoreSource | Promise<CoreSource> | undefined;
let byDefault: (() => Promise<CoreSource>) | undefined;
let compiling: Promise<WebAssembly.Module> | undefined;
let loading: Promise<Core> | undefined;
let loaded: { readonly module: WebAssembly.Module; instance: CoreInstance } | undefined;

/** Bytes of memory that the module has taken in this thread; 0 before it is loaded. It grows as needed and never shrinks. */
export function memoryBytes(): number {
  return loaded?.instance.memory.buffer.byteLength ?? 0;
}

/** The instance that new handles are made in: after a trap a new one. */
function sound(): CoreInstance {
  const { module, instance } = loaded!;
  if (!instance.broken && !instance.calling) return instance;
  try {
    return loaded!.instance = instanceOf(module);
  } catch {
    // No memory for another, or a realm, which the guard keeps from making one and which is being replaced: the old one is what there is.
    return instance;
  }
}

function instanceOf(module: WebAssembly.Module): CoreInstance {
  const glue = createGlue();
  return { glue, memory: glue.initSync({ module }).memory, broken: false, calling: false };
}

function checked(instance: CoreInstance): CoreInstance {
  const { sourceHash: found } = CoreInfo.decode(instance.glue.core_info());
  if (found === sourceHash) return instance;
  throw new CoreLoadError(
    `this core belongs to another version of the package (it was built from ${found.slice(0, 12)} instead of ${
      sourceHash.slice(0, 12)
    }): ` +
      "core.wasm, the page and the entries of its workers must be of one version",
  );
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
  if (loaded === undefined) {
    const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source);
    loaded = { module, instance: checked(instanceOf(module)) };
    loading = Promise.resolve(core);
  }
  return core;
}

async function instantiate(module: WebAssembly.Module): Promise<Core> {
  if (loaded !== undefined) return core;
  let instance: CoreInstance;
  try {
    instance = await firstInstance(module);
  } catch (e) {
    throw new CoreLoadError(`this is not the core that belongs to this version of the package: ${(e as Error).message}`, e);
  }
  loaded ??= { module, instance: checked(instance) };
  return core;
}

/** At once, which saves a turn, and in Node the loading of fetch, for which the glue's other way looks; that one where a browser wants it. */
async function firstInstance(module: WebAssembly.Module): Promise<CoreInstance> {
  try {
    return instanceOf(module);
  } catch (e) {
    if (!(e instanceof RangeError)) throw e;
  }
  const glue = createGlue();
  return { glue, memory: (await glue.init({ module_or_path: module })).memory, broken: false, calling: false };
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
