// Worker threads: worker_threads in Node, Web Workers in Deno and browsers, behind one interface,
// because their events, errors and ends have different names.
import { needBuiltin } from "./builtin.ts";

/** The host's side of a worker. */
export interface Thread {
  post(message: unknown): void;
  /** Resolves when the thread has ended. */
  terminate(): Promise<void>;
  /** Sets whether the thread keeps the process alive (Node). */
  hold(keep: boolean): void;
}

export interface ThreadEvents {
  message(data: unknown): void;
  /** The thread has crashed or will. Called once, not after `terminate`. */
  died(reason: string): void;
}

export interface ThreadOptions {
  readonly name: string;
  /** Maximum heap in MB (Node); above it the thread ends, not the process. */
  readonly maxHeapMb?: number;
}

/**
 * Returns false if a computing thread continues after `terminate` until its process ends: Deno
 * (denoland/deno#35657, seen with 2.9). Such a thread costs processor time only; its messages are
 * ignored.
 */
export const endsComputingThreads = (): boolean => !("Deno" in globalThis);

/** The part of a Web Worker that is used here. */
export interface WebWorker {
  /** Sends a message to the worker. */
  postMessage(message: unknown): void;
  /** Ends the worker at once. */
  terminate(): void;
  /** Receives messages of the worker. */
  onmessage: ((event: MessageEvent) => void) | null;
  /** A message cannot be deserialized. */
  onmessageerror: ((event: MessageEvent) => void) | null;
  /** The worker could not be loaded, or threw. */
  onerror: ((event: ErrorEvent) => void) | null;
}

interface NodeWorker {
  postMessage(message: unknown): void;
  terminate(): Promise<number>;
  ref(): void;
  unref(): void;
  on(event: string, listener: (value: never) => void): void;
}

interface NodeThreads {
  readonly Worker: new (url: URL, options: object) => NodeWorker;
  readonly parentPort: {
    postMessage(message: unknown, transfer?: readonly object[]): void;
    on(event: string, listener: (data: unknown) => void): void;
  } | null;
}

/** Returns whether threads are those of Node: an idle one does not keep the process running. */
export const isNode = (): boolean =>
  !("Deno" in globalThis) &&
  (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !==
    undefined;

const nodeThreads = (): NodeThreads => needBuiltin<NodeThreads>("node:worker_threads");

/** Starts a worker from the URL of a module, or uses a worker that the caller made. */
export async function startThread(
  entry: URL | (() => WebWorker),
  events: ThreadEvents,
  options: ThreadOptions,
): Promise<Thread> {
  if (typeof entry === "function") return webThread(entry(), events);
  if (!isNode()) {
    return webThread(
      new Worker(entry, { type: "module", name: options.name }) as unknown as WebWorker,
      events,
    );
  }
  const { Worker: ThreadWorker } = nodeThreads();
  const { process } = globalThis as unknown as {
    process: { readonly execArgv: readonly string[] };
  };
  const worker = new ThreadWorker(entry, {
    name: options.name,
    // A program on the command line (`node --input-type=module -e ...`) would pass that option on
    // to its threads.
    ...(process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {}),
    ...(options.maxHeapMb === undefined
      ? {}
      : { resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb } }),
  });
  let ended = false;
  let reason = "";
  const died = (what: string) => {
    if (ended) return;
    ended = true;
    events.died(what);
  };
  worker.on("message", ((data: unknown) => events.message(data)) as never);
  worker.on(
    "messageerror",
    ((error: Error) =>
      died(`a message from the worker cannot be deserialized: ${error.message}`)) as never,
  );
  worker.on(
    "error",
    ((error: { code?: string; message?: string }) => {
      reason = error?.code === "ERR_WORKER_OUT_OF_MEMORY"
        ? "it ran out of memory"
        : error?.message ?? String(error);
    }) as never,
  );
  worker.on(
    "exit",
    ((code: number) => died(reason !== "" ? reason : `it ended with code ${code}`)) as never,
  );
  return {
    post: (message) => worker.postMessage(message),
    terminate: async () => {
      ended = true;
      await worker.terminate();
    },
    hold: (keep) => keep ? worker.ref() : worker.unref(),
  };
}

function webThread(worker: WebWorker, events: ThreadEvents): Thread {
  let ended = false;
  const died = (reason: string) => {
    if (ended) return;
    ended = true;
    worker.terminate();
    events.died(reason);
  };
  worker.onmessage = (event) => events.message(event.data);
  worker.onmessageerror = () => died("a message from the worker cannot be deserialized");
  worker.onerror = (event) => {
    event.preventDefault();
    const at = event.filename ? ` (${event.filename}:${event.lineno})` : "";
    died(`${event.message || "it could not be loaded"}${at}`);
  };
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => {
      ended = true;
      worker.terminate();
      return Promise.resolve();
    },
    hold: () => {},
  };
}

/** The worker's connection to the host. */
export interface HostPort {
  post(message: unknown, transfer?: readonly object[]): void;
  /** Call once, as soon as possible: browsers drop messages without a listener. */
  listen(listener: (data: unknown) => void): void;
}

/**
 * Returns the port of this worker. Its functions are captured: a guard may replace the globals
 * afterwards.
 */
export function hostPort(): HostPort {
  if (!isNode()) {
    const scope = globalThis as unknown as {
      postMessage(message: unknown, transfer: readonly object[]): void;
      addEventListener(type: string, listener: (event: MessageEvent) => void): void;
    };
    const post = scope.postMessage.bind(scope);
    const add = scope.addEventListener.bind(scope);
    return {
      post: (message, transfer = []) => post(message, transfer),
      listen: (listener) => add("message", (event) => listener(event.data)),
    };
  }
  const { parentPort } = nodeThreads();
  if (parentPort === null) {
    throw new Error(
      "this file is the entry of a worker thread of a realm; it cannot run as a program",
    );
  }
  return {
    post: (message: unknown, transfer: readonly object[] = []) =>
      parentPort.postMessage(message, transfer),
    listen: (listener: (data: unknown) => void) => parentPort.on("message", listener),
  };
}
