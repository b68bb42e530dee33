// The table of globals: those that workflow code keeps, and an alternative for those that it loses.
// A name in neither list is blocked with a general message, so a new global of a runtime is blocked
// until it is reviewed. The table is the same in all runtimes.

/** Kept as they are; other files of this folder change some of them. */
export const KEPT_GLOBALS: ReadonlySet<string> = new Set(
  ("globalThis undefined NaN Infinity parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape " +
    "unescape Object Array Number Boolean String Symbol BigInt Promise RegExp Error AggregateError EvalError RangeError ReferenceError " +
    "SuppressedError SyntaxError TypeError URIError ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array " +
    "Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Map Set WeakMap WeakSet Proxy Reflect JSON " +
    "Math Atomics Iterator AsyncIterator DisposableStack AsyncDisposableStack Date Intl Temporal " +
    "Function eval crypto performance console queueMicrotask clearTimeout clearInterval clearImmediate cancelAnimationFrame " +
    "cancelIdleCallback structuredClone atob btoa TextEncoder TextDecoder URL URLSearchParams AbortController AbortSignal Event " +
    "EventTarget CustomEvent DOMException QuotaExceededError WebAssembly self").split(" "),
);

/**
 * Removed without a trace, so that libraries that test for them do without. The loader rejects user
 * modules that name them.
 */
export const REMOVED: readonly string[] = [
  ...["WeakRef", "FinalizationRegistry", "Buffer", "global", "gc", "name"],
  ...["require", "module", "exports", "__filename", "__dirname"],
];

const ACTIVITY = 'do it in an activity (activities() of "temporalex/workflow")';
const SLEEP = 'use sleep() of "temporalex/workflow", a durable timer';
const ARGUMENT = "pass what you need as an argument, or read it in sideEffect() or an activity";
const MESSAGES =
  'use signals and updates: receive(), select() and waitForSignal() of "temporalex/workflow"';
const STATE =
  "keep state in local variables and in receive(); publish it with publishState(); store it in an activity";
const BYTES =
  "its content arrives at unpredictable times; work with strings and Uint8Array, and do I/O in an activity";
const PARALLEL = "use parallel() for concurrency, and an activity for heavy work";
const CODE = "imports must be known before the module runs; use an import declaration";
const CHUNKS =
  "the bundler loads a part of the program here, which needs the host's functions: import the workflows at the " +
  "top of the realm's entry, and pass them as serveRealm(workflows)";
const MEASURE = "time is workflow time; use Date.now() for it, and measure in an activity";

interface Row {
  readonly names: string;
  readonly advice: string;
  readonly typeOf?: "object";
}

const ROWS: readonly Row[] = [
  {
    names: "setTimeout setInterval setImmediate requestAnimationFrame requestIdleCallback",
    advice: SLEEP,
  },
  {
    names:
      "fetch XMLHttpRequest WebSocket WebSocketStream EventSource WebTransport RTCPeerConnection Request Response Headers fetchLater",
    advice: ACTIVITY,
  },
  { names: "process Deno Bun navigator location", advice: ARGUMENT, typeOf: "object" },
  { names: "origin isSecureContext crossOriginIsolated", advice: ARGUMENT },
  {
    names: "localStorage sessionStorage indexedDB caches cookieStore",
    advice: STATE,
    typeOf: "object",
  },
  { names: "importScripts", advice: CHUNKS },
  {
    names:
      "Blob File FileReader FileReaderSync FormData ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader " +
      "ReadableStreamDefaultController ReadableByteStreamController ReadableStreamBYOBRequest WritableStream " +
      "WritableStreamDefaultController WritableStreamDefaultWriter TransformStream TransformStreamDefaultController " +
      "CompressionStream DecompressionStream TextEncoderStream TextDecoderStream ByteLengthQueuingStrategy CountQueuingStrategy " +
      "createImageBitmap",
    advice: BYTES,
  },
  {
    names: "Crypto CryptoKey SubtleCrypto",
    advice:
      "use crypto.randomUUID() and crypto.getRandomValues(), which are seeded; hash and sign in an activity",
  },
  {
    names:
      "MessageChannel MessagePort MessageEvent BroadcastChannel postMessage addEventListener removeEventListener dispatchEvent " +
      "onmessage onmessageerror onerror onunhandledrejection onrejectionhandled reportError close",
    advice: MESSAGES,
  },
  {
    names: "Worker SharedWorker ServiceWorker ServiceWorkerContainer SharedArrayBuffer",
    advice: PARALLEL,
  },
  { names: "scheduler", advice: SLEEP, typeOf: "object" },
  {
    names:
      "Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList",
    advice: MEASURE,
  },
  { names: "alert confirm prompt Notification", advice: ACTIVITY },
  { names: "ShadowRealm", advice: CODE },
];

const GENERAL = `it may return another value on replay; ${ACTIVITY}, or ${ARGUMENT}`;

/** Blocked in every runtime, also where the runtime has no such global. */
export const BLOCKED: ReadonlyMap<
  string,
  { readonly advice: string; readonly typeOf: "function" | "object" }
> = new Map(
  ROWS.flatMap(({ names, advice, typeOf }) =>
    names.split(" ").map((name) => [name, { advice, typeOf: typeOf ?? "function" }] as const)
  ),
);

/** Lists in which bundlers register the parts of a program that load later. */
const CHUNK_LIST = /^(?:TURBOPACK|webpackChunk|parcelRequire)/;

export function adviceFor(name: string): string {
  return BLOCKED.get(name)?.advice ?? (CHUNK_LIST.test(name) ? CHUNKS : GENERAL);
}
