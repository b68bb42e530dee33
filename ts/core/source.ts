// Sources of the core's bytes. The core has two modules: the worker's runs workflow code against
// histories, the engine's is the embedded engine. A half is fetched and compiled once, on demand,
// and posted compiled to workers. This file refers to neither bytes nor glue, so a bundle of
// "temporalex/slim" has no bytes.
import { CoreLoadError } from "./errors.ts";

/**
 * Halves of the core: "worker" for realms, workers and the debugger, "engine" for the embedded
 * engine.
 */
export type CoreHalf = "worker" | "engine";

/** The URL of a half's file in the package, a fetch response, its bytes, or its compiled module. */
export type CoreSource =
  | string
  | URL
  | Response
  | WebAssembly.Module
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>;

/** Sources of the halves. Unused halves may be omitted. */
export interface CoreSources {
  /** The package's `worker.wasm`: for workers, realms and debug sessions. */
  readonly worker?: CoreSource | Promise<CoreSource>;
  /** The package's `engine.wasm`: for the embedded engine. */
  readonly engine?: CoreSource | Promise<CoreSource>;
}

interface Origin {
  /** Name of the user in messages. */
  readonly user: string;
  /** A function that only this half's module exports. */
  readonly mark: string;
  given?: CoreSource | Promise<CoreSource>;
  byDefault?: () => Promise<CoreSource>;
  compiling?: Promise<WebAssembly.Module>;
}

const origins: { readonly [half in CoreHalf]: Origin } = {
  worker: { user: "workflow code", mark: "run_new" },
  engine: { user: "the embedded engine", mark: "engine_new" },
};

/**
 * Sets the sources of the core's halves. Call it before any use (`open`, an engine, a worker, a
 * realm); a URL is fetched on first use, and again after a failed fetch. Realms get the compiled
 * module from here. Later calls may add halves; a half that is loaded in this thread keeps its
 * source. Throws a TypeError for anything but an object with `worker`, `engine` or both.
 *
 * @example
 * import engine from "temporalex/engine.wasm?url"; // Vite; or the addresses at which your server has the package's files
 * import worker from "temporalex/worker.wasm?url";
 * useCore({ worker, engine });
 */
export function useCore(sources: CoreSources): void {
  checkSources(sources);
  for (const half of ["worker", "engine"] as const) {
    const source = sources[half];
    if (source === undefined) continue;
    origins[half].given = source;
    // A failure is thrown to the user of the half; until then it has no listener.
    if (source instanceof Promise) source.catch(() => {});
  }
}

/** A URL alone does not identify its half. */
function checkSources(sources: CoreSources): void {
  const isOne = typeof sources !== "object" || sources === null || sources instanceof Promise ||
    sources instanceof URL ||
    sources instanceof WebAssembly.Module || sources instanceof ArrayBuffer ||
    ArrayBuffer.isView(sources) ||
    (typeof Response === "function" && sources instanceof Response);
  const names = isOne ? [] : Object.keys(sources);
  const unknown = names.find((name) => !Object.hasOwn(origins, name));
  if (names.length > 0 && unknown === undefined) return;
  const found = unknown !== undefined
    ? `the name "${unknown}"`
    : typeof sources === "string"
    ? JSON.stringify(sources)
    : isOne
    ? `a ${sources === null ? "null" : (sources as object)?.constructor?.name ?? typeof sources}`
    : "an empty object";
  throw new TypeError(
    `the core has two modules, and each needs its own source: { worker, engine }, the addresses of the package's files worker.wasm (for ` +
      `workflow code) and engine.wasm (for the embedded engine), not ${found}`,
  );
}

/** Sets the source of a half for use without `useCore`. */
export function defaultCore(half: CoreHalf, source: () => Promise<CoreSource>): void {
  origins[half].byDefault = source;
}

/** Returns the compiled module of a half. Rejects with a CoreLoadError; a later call retries. */
export function coreModule(half: CoreHalf): Promise<WebAssembly.Module> {
  const origin = origins[half];
  if (origin === undefined) {
    return Promise.reject(
      new TypeError(`the core has the modules "worker" and "engine", not ${JSON.stringify(half)}`),
    );
  }
  if (origin.compiling !== undefined) return origin.compiling;
  const source = origin.given ?? origin.byDefault?.();
  if (source === undefined) {
    return Promise.reject(
      new CoreLoadError(
        `${origin.user} needs ${half}.wasm, but its source is not set: call useCore({ ${half}: ... }) (of "temporalex/slim") with ` +
          `the address of the package's file ${half}.wasm first, or import from "temporalex", which includes it`,
      ),
    );
  }
  const attempt = origin.compiling = compile(half, source);
  attempt.catch(() => delete origin.compiling);
  return attempt;
}

/** Throws a CoreLoadError if the module is of the other half. */
export function checkHalf(half: CoreHalf, module: WebAssembly.Module): void {
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  if (exported.has(origins[half].mark)) return;
  const other = half === "worker" ? "engine" : "worker";
  if (!exported.has(origins[other].mark)) return;
  throw new CoreLoadError(
    `this is the core's file ${other}.wasm, where ${origins[half].user} needs ${half}.wasm`,
  );
}

async function compile(
  half: CoreHalf,
  from: CoreSource | Promise<CoreSource>,
): Promise<WebAssembly.Module> {
  const source = await awaited(half, from);
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) {
    return await compileBytes(half, source, "the given value");
  }
  const response = source instanceof Response ? source : await fetched(half, source);
  const where = response.url === "" ? "the response" : response.url;
  if (!response.ok) {
    throw new CoreLoadError(
      `${half}.wasm could not be fetched: ${where} returned status ${response.status}`,
    );
  }
  const type = response.headers.get("content-type") ?? "no content type";
  if (/^application\/wasm\b/i.test(type)) {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (e) {
      throw refused(where, e);
    }
  }
  return await compileBytes(half, await response.arrayBuffer(), `${where} (${type})`);
}

async function awaited(
  half: CoreHalf,
  source: CoreSource | Promise<CoreSource>,
): Promise<CoreSource> {
  try {
    return await source;
  } catch (e) {
    throw new CoreLoadError(`${half}.wasm could not be fetched: ${(e as Error).message}`, e);
  }
}

async function fetched(half: CoreHalf, url: string | URL): Promise<Response> {
  try {
    return await fetch(url);
  } catch (e) {
    throw new CoreLoadError(
      `${half}.wasm could not be fetched from ${url}: ${(e as Error).message}`,
      e,
    );
  }
}

async function compileBytes(
  half: CoreHalf,
  bytes: ArrayBuffer | Uint8Array<ArrayBuffer>,
  where: string,
): Promise<WebAssembly.Module> {
  const [a, b, c, d] = new Uint8Array(
    bytes instanceof Uint8Array ? bytes.buffer : bytes,
    bytes instanceof Uint8Array ? bytes.byteOffset : 0,
  );
  if (a !== 0 || b !== 0x61 || c !== 0x73 || d !== 0x6d) {
    throw new CoreLoadError(
      `${where} is not a WebAssembly module: expected the package's file ${half}.wasm is needed there`,
    );
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
