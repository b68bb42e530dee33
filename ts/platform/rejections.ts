// How a runtime reports unhandled rejections: Node by events of the process, Deno and browsers by
// events of the global object. `captureRejections` captures everything, before a guard replaces
// globals.

/** What the executor listens to; same shape as its RejectionListener. */
export interface RejectionListener {
  unhandled(promise: Promise<unknown>, reason: unknown): boolean;
  handled(promise: Promise<unknown>): void;
}

export interface RejectionHost {
  listen(listener: RejectionListener): () => void;
}

export interface RejectionOptions {
  /**
   * True if this thread runs only workflow code: unhandled errors are reported here and do not end
   * the thread.
   */
  readonly ownThread: boolean;
  readonly stray?: (reason: unknown) => void;
}

interface NodeProcess {
  on(event: string, listener: (a: never, b: never) => void): void;
  off(event: string, listener: (a: never, b: never) => void): void;
  listenerCount(event: string): number;
  emitWarning(warning: string, type: string): void;
  exitCode?: number | string | null | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly execArgv: readonly string[];
}

interface Target {
  addEventListener(type: string, listener: (event: RejectionEvent) => void): void;
  removeEventListener(type: string, listener: (event: RejectionEvent) => void): void;
}

interface RejectionEvent {
  readonly promise: Promise<unknown>;
  readonly reason: unknown;
  readonly error?: unknown;
  preventDefault(): void;
}

export function captureRejections(options: RejectionOptions): RejectionHost {
  const scope = globalThis as unknown as {
    process?: NodeProcess & { versions?: { node?: string } };
    Deno?: unknown;
  };
  if (scope.Deno === undefined && scope.process?.versions?.node !== undefined) {
    return nodeHost(scope.process, options);
  }
  return webHost(globalThis as unknown as Target, options);
}

/**
 * Listeners of a thread that also runs other code, with one listener of the process for all of
 * them.
 */
interface Shared {
  readonly listeners: Set<RejectionListener>;
  stop(): void;
}

// Under Symbol.for: with one listener for each copy of this package, each would take the other for
// the program's own.
const KEY = Symbol.for("temporalex.rejections.1");

function sharedNodeHost(process: NodeProcess): RejectionHost {
  const scope = globalThis as unknown as { [KEY]?: Shared };
  const shared = scope[KEY] ??= { listeners: new Set(), stop() {} };
  const unhandled = (reason: unknown, promise: Promise<unknown>) => {
    let taken = false;
    for (const listener of shared.listeners) taken = listener.unhandled(promise, reason) || taken;
    if (!taken && process.listenerCount("unhandledRejection") === 1) {
      asWithoutListener(process, reason);
    }
  };
  const handled = (promise: Promise<unknown>) => {
    for (const listener of shared.listeners) listener.handled(promise);
  };
  return {
    listen(listener) {
      if (shared.listeners.size === 0) {
        shared.stop = () => {
          process.off("unhandledRejection", unhandled as never);
          process.off("rejectionHandled", handled as never);
        };
        process.on("unhandledRejection", unhandled as never);
        process.on("rejectionHandled", handled as never);
      }
      shared.listeners.add(listener);
      return () => {
        if (shared.listeners.delete(listener) && shared.listeners.size === 0) shared.stop();
      };
    },
  };
}

/**
 * Does what Node does with an unhandled rejection, by its option --unhandled-rejections. A listener
 * changes the behavior in two modes only; in the others Node warns or throws with a listener as
 * well.
 */
function asWithoutListener(process: NodeProcess, reason: unknown): void {
  const mode = rejectionMode(process);
  if (mode === "throw") throw reason;
  if (mode !== "warn-with-error-code") return;
  process.emitWarning(
    `unhandled promise rejection: ${shown(reason)}`,
    "UnhandledPromiseRejectionWarning",
  );
  process.exitCode = 1;
}

function shown(reason: unknown): string {
  try {
    return String((reason as { stack?: unknown } | null | undefined)?.stack ?? reason);
  } catch {
    return "a value that cannot be printed";
  }
}

/** The last option counts, and the command line overrides the environment. */
function rejectionMode({ env, execArgv }: NodeProcess): string {
  const options = [...(env["NODE_OPTIONS"] ?? "").split(/\s+/), ...execArgv];
  const at = options.findLastIndex((option) => option.startsWith(MODE));
  if (at < 0) return "throw";
  return (options[at] === MODE ? options[at + 1] : options[at]!.slice(MODE.length + 1)) ?? "throw";
}

const MODE = "--unhandled-rejections";

function nodeHost(process: NodeProcess, { ownThread, stray }: RejectionOptions): RejectionHost {
  if (!ownThread) return sharedNodeHost(process);
  const on = process.on.bind(process);
  const off = process.off.bind(process);
  return {
    listen(listener) {
      const unhandled = (reason: unknown, promise: Promise<unknown>) => {
        if (listener.unhandled(promise, reason)) return;
        stray?.(reason);
      };
      const handled = (promise: Promise<unknown>) => listener.handled(promise);
      const uncaught = (error: unknown) => uncaughtError(listener, error, stray);
      on("unhandledRejection", unhandled as never);
      on("rejectionHandled", handled as never);
      on("uncaughtException", uncaught as never);
      return () => {
        off("unhandledRejection", unhandled as never);
        off("rejectionHandled", handled as never);
        off("uncaughtException", uncaught as never);
      };
    },
  };
}

function webHost(target: Target, { ownThread, stray }: RejectionOptions): RejectionHost {
  const add = target.addEventListener.bind(target);
  const remove = target.removeEventListener.bind(target);
  return {
    listen(listener) {
      const unhandled = (event: RejectionEvent) => {
        const taken = listener.unhandled(event.promise, event.reason);
        if (taken || ownThread) event.preventDefault();
        if (!taken && ownThread) stray?.(event.reason);
      };
      const handled = (event: RejectionEvent) => listener.handled(event.promise);
      const uncaught = (event: RejectionEvent) => {
        event.preventDefault();
        uncaughtError(listener, event.error, stray);
      };
      add("unhandledrejection", unhandled);
      add("rejectionhandled", handled);
      if (ownThread) add("error", uncaught);
      return () => {
        remove("unhandledrejection", unhandled);
        remove("rejectionhandled", handled);
        remove("error", uncaught);
      };
    },
  };
}

/**
 * Reports an error outside any promise (from a listener of an EventTarget) to the active run, like
 * a rejection.
 */
function uncaughtError(
  listener: RejectionListener,
  error: unknown,
  stray?: (reason: unknown) => void,
): void {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  if (!listener.unhandled(promise, error)) stray?.(error);
}
