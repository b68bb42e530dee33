// Threads of the host: worker_threads in Node, Web Workers in Deno and browsers, behind one small port each way. Values cross by
// structured clone. Node's module is asked for, not imported, so that bundles for browsers do not stumble over its name.

/** A thread as its maker sees it. */
export interface Thread {
  post(message: unknown, transfer?: ArrayBuffer[]): void;
  onMessage(listener: (message: never) => void): void;
  /** Called when the thread has failed or ended by itself; it will say nothing more. */
  onEnd(listener: (error: Error) => void): void;
  terminate(): Promise<void>;
}

/** The other side, inside the thread. */
export interface ThreadPort {
  post(message: unknown, transfer?: ArrayBuffer[]): void;
  onMessage(listener: (message: never) => void): void;
}

interface NodeWorker {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: "message" | "error" | "messageerror" | "exit", listener: (value: never) => void): void;
  terminate(): Promise<unknown>;
}

interface WorkerThreads {
  Worker: new (url: URL) => NodeWorker;
  parentPort: {
    postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
    on(event: "message", listener: (message: never) => void): void;
  } | null;
}

type Builtins = { process?: { getBuiltinModule?(name: string): unknown } };
const builtin = <T>(name: string) => (globalThis as Builtins).process?.getBuiltinModule?.(name) as T | undefined;
const inDeno = "Deno" in globalThis;

/** Starts a thread with a module of this package. */
export function startThread(url: URL): Thread {
  const threads = inDeno ? undefined : builtin<WorkerThreads>("node:worker_threads");
  return threads === undefined ? webThread(url) : nodeThread(new threads.Worker(url));
}

function nodeThread(worker: NodeWorker): Thread {
  let ended: (error: Error) => void = () => {};
  let failure: Error | undefined;
  worker.on("error", (error: Error) => (failure = error));
  worker.on("exit", (code: number) => ended(failure ?? new Error(`the thread ended with exit code ${code}`)));
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) => worker.on("message", listener),
    onEnd: (listener) => (ended = listener),
    terminate: async () => void await worker.terminate(),
  };
}

function webThread(url: URL): Thread {
  const worker = new Worker(url, { type: "module" });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => worker.addEventListener("message", (event) => listener(event.data as never)),
    onEnd: (listener) =>
      worker.addEventListener("error", (event) => {
        // Otherwise the error goes on to the host's own handler, which in Deno ends the process.
        event.preventDefault();
        worker.terminate();
        listener(event.error instanceof Error ? event.error : new Error(event.message || "the thread has failed"));
      }),
    terminate: () => Promise.resolve(worker.terminate()),
  };
}

/** The port of the thread that this code runs in. */
export function threadPort(): ThreadPort {
  const port = inDeno ? undefined : builtin<WorkerThreads>("node:worker_threads")?.parentPort;
  if (port) {
    return {
      post: (message, transfer) => port.postMessage(message, transfer),
      onMessage: (listener) => port.on("message", listener),
    };
  }
  const scope = globalThis as unknown as {
    postMessage(message: unknown, transfer: ArrayBuffer[]): void;
    addEventListener(type: "message", listener: (event: { data: never }) => void): void;
  };
  return {
    post: (message, transfer = []) => scope.postMessage(message, transfer),
    onMessage: (listener) => scope.addEventListener("message", (event) => listener(event.data)),
  };
}

/** How many threads the machine runs at once; 2 where nobody says. */
export function hardwareThreads(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  const os = builtin<{ availableParallelism(): number }>("node:os");
  return navigator?.hardwareConcurrency ?? os?.availableParallelism() ?? 2;
}
