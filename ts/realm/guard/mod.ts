// The determinism guard: replaces the globals of a worker realm before workflow modules are loaded,
// so that everything a run observes follows from its history. Protects from mistakes, not from
// hostile code. APIs with the same results everywhere stay unchanged (promises, typed arrays, URL,
// JSON, regular expressions). docs/dev/determinism.md lists what differs and stays (last digits of
// Math.sin, locale data, error messages).
import type { Current } from "../../executor/program/current.ts";
import { blocked } from "./blocked.ts";
import { guardCode } from "./code.ts";
import { guardConsole } from "./console.ts";
import { keepBuiltIns, type Keeper } from "./keep.ts";
import { hostModule } from "./host_modules.ts";
import { guardLocale } from "./locale.ts";
import { guardNumbers } from "./numbers.ts";
import { defineMethod, type Globals, override } from "./patch.ts";
import { restoreProto } from "./proto.ts";
import { guardRandom } from "./random.ts";
import { guardRegExp } from "./regexp.ts";
import { sealRealm } from "./seal.ts";
import { adviceFor, BLOCKED, KEPT_GLOBALS, REMOVED } from "../../modules/guarded_names.ts";
import { guardTime } from "./time.ts";
import { GuardContext, type Level } from "./violations.ts";

export { DeterminismError } from "./errors.ts";

export interface GuardOptions {
  readonly current: Current;
  /** Handles console calls outside of runs, while modules are loaded. */
  readonly log: (level: Level, message: string) => void;
}

export interface Guard {
  /** Evaluates text like the original indirect eval. */
  readonly evaluate: (code: string) => unknown;
  /** Returns the stand-in for a module of Node that a package imports. */
  readonly hostModule: (name: string, advice: string, part: object | undefined) => unknown;
  /** Evaluates modules for a run. */
  readonly whileLoading: <T>(work: () => T) => T;
  /** Undoes changes of built-in objects, after each module. Returns the first change. */
  restore: Keeper["restore"];
  /** Makes additions to built-in objects constant when modules are evaluated again for a run. */
  keepAdditions(): void;
  /** Freezes the remaining globals and the values that runs share, after the modules are loaded. */
  seal(shared: readonly unknown[]): void;
}

/** What libraries read of `process`: the values are those of a runtime without processes. */
const PROCESS_CONSTANTS = {
  versions: undefined,
  version: undefined,
  release: undefined,
  browser: undefined,
  type: undefined,
  title: undefined,
};

/** Replaces the globals of this realm, permanently: call it only in a dedicated worker. */
export function installGuard(options: GuardOptions): Guard {
  const globals = globalThis as unknown as Globals;
  const context = new GuardContext(options.current);
  const evaluate = globals["eval"] as (code: string) => unknown;
  const present = globalNames(globals);
  // At the first call Deno saves this function from the global object.
  queueMicrotask(() => {});
  const real = readables(globals);
  const hostEvents = dispatchForHost(globals, context);
  // Time first: other parts use the remaining Date.
  guardTime(globals, context);
  guardLocale(globals, context);
  guardRandom(globals, context);
  guardNumbers(globals);
  restoreProto();
  guardConsole(globals, (level, message) => context.log(level, message, options.log));
  guardParts(globals, context);
  guardCode(globals, context);
  for (const name of REMOVED) remove(globals, name);
  for (const name of new Set([...present, ...BLOCKED.keys()])) {
    if (REMOVED.includes(name) || name === "constructor") continue;
    // Makes remaining globals plain properties: some runtimes create theirs on first access, which
    // sealing would prevent.
    if (KEPT_GLOBALS.has(name)) settle(globals, name);
    else {
      const stand = standIn(globals, context, name, real[name]);
      // In Node >= 22, redefining a lazily loaded class would load it, and its implementation
      // (undici) does not run in a realm. Deleting it does not load it.
      Reflect.deleteProperty(globals, name);
      override(globals, name, stand);
    }
  }
  override(globals, "self", globals);
  if (hostEvents !== undefined) override(globals, "dispatchEvent", hostEvents);
  const keeper = keepBuiltIns(globals);
  return {
    evaluate: (code) => evaluate(code),
    whileLoading: (work) => context.whileLoading(work),
    hostModule: (name, advice, part) => hostModule(context, name, advice, part),
    restore: keeper.restore,
    keepAdditions: keeper.keepAdditions,
    seal: (shared) => sealRealm(globals, shared),
  };
}

/** Own and inherited names: in browsers much of the global interface is on the prototypes. */
function globalNames(globals: object): Set<string> {
  const names = new Set<string>();
  for (
    let object = globals;
    object !== null && object !== Object.prototype;
    object = Object.getPrototypeOf(object) as object
  ) {
    for (const name of Object.getOwnPropertyNames(object)) names.add(name);
  }
  return names;
}

/**
 * Returns the host's objects that the function of sideEffect() may read, saved before anything is
 * replaced.
 */
function readables(globals: Globals): { readonly [name: string]: unknown } {
  const deno = globals["Deno"] as {
    readonly env: { get(name: string): string | undefined };
    readonly pid: number;
  } | undefined;
  // Reading Deno's `process` would load its whole Node compatibility layer. Variables are read one
  // by one on access, so a program without permission to read the environment can have realms.
  const env = new Proxy({}, {
    get: (_, name) => typeof name === "string" ? deno?.env.get(name) : undefined,
  });
  const process = deno === undefined ? globals["process"] : Object.defineProperties({}, {
    env: { get: () => env },
    pid: { get: () => deno.pid },
  });
  return { Deno: deno, process, navigator: globals["navigator"], location: globals["location"] };
}

function standIn(globals: Globals, context: GuardContext, name: string, real: unknown): unknown {
  const row = BLOCKED.get(name);
  const constants = name === "process"
    ? { ...PROCESS_CONSTANTS, env: environment(context, real) }
    : undefined;
  const typeOf = row?.typeOf ??
    (row !== undefined || /^[A-Z]/.test(name) ? "function" : typeOfGlobal(globals, name));
  return blocked(context, name, {
    advice: adviceFor(name),
    typeOf,
    ...(constants === undefined ? {} : { constants }),
    real,
  });
}

/**
 * Returns the `typeof` of an unlisted global. Does not read accessors, nor the descriptors of
 * classes (see above).
 */
function typeOfGlobal(globals: Globals, name: string): "function" | "object" {
  const { value, get } = Object.getOwnPropertyDescriptor(globals, name) ?? {};
  return typeof value === "function" || get !== undefined ? "function" : "object";
}

/**
 * `process.env.NODE_ENV` has the value that bundlers insert; other variables depend on the machine.
 */
function environment(context: GuardContext, process: unknown): unknown {
  const real = (process as { env?: object } | undefined)?.env;
  return blocked(context, "process.env", {
    advice: adviceFor("process"),
    typeOf: "object",
    constants: { NODE_ENV: "production" },
    real,
  });
}

function settle(globals: Globals, name: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(globals, name);
  if (descriptor?.get !== undefined && descriptor.configurable) {
    override(globals, name, globals[name]);
  }
}

/**
 * Deno calls the global dispatchEvent for its own events, whose classes workflow code cannot
 * create.
 */
function dispatchForHost(
  globals: Globals,
  context: GuardContext,
): ((event: unknown) => unknown) | undefined {
  const dispatch = globals["dispatchEvent"];
  if (!("Deno" in globals) || typeof dispatch !== "function") return undefined;
  type EventClass = new () => object;
  const classes = ["PromiseRejectionEvent", "ErrorEvent", "MessageEvent"].map((name) =>
    globals[name] as EventClass | undefined
  );
  return function dispatchEvent(event) {
    if (classes.some((known) => known !== undefined && event instanceof known)) {
      return Reflect.apply(dispatch, globals, [event]);
    }
    return context.refuse("dispatchEvent()", adviceFor("dispatchEvent"));
  };
}

function remove(globals: Globals, name: string): void {
  if (Reflect.deleteProperty(globals, name) && !(name in globals)) return;
  // A non-configurable property (`gc` of --expose-gc), or one on a prototype.
  if (Object.getOwnPropertyDescriptor(globals, name)?.configurable === false) {
    globals[name] = undefined;
  } else override(globals, name, undefined);
}

/** Replaces methods of the remaining globals whose results would differ on replay. */
function guardParts(globals: Globals, context: GuardContext): void {
  const close = (holder: unknown, path: string, advice: string) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    if (holder !== undefined) {
      defineMethod(holder as object, name, () => context.refuse(`${path}()`, advice));
    }
  };
  for (const name of ["wait", "waitAsync"]) {
    close(globals["Atomics"], `Atomics.${name}`, 'use sleep() of "temporalex/workflow"');
  }
  close(
    globals["AbortSignal"],
    "AbortSignal.timeout",
    'use sleep() of "temporalex/workflow", and abort a controller when it returns',
  );
  for (const name of ["createObjectURL", "revokeObjectURL"]) {
    close(globals["URL"], `URL.${name}`, adviceFor("Blob"));
  }
  // Clearing a timer is allowed, although starting one is not.
  for (
    const name of [
      "clearTimeout",
      "clearInterval",
      "clearImmediate",
      "cancelAnimationFrame",
      "cancelIdleCallback",
    ]
  ) {
    defineMethod(globals, name, () => {});
  }
  // An error in a callback becomes a rejection, which belongs to a run; an uncaught error would end
  // the realm.
  const enqueue = globals["queueMicrotask"] as (callback: () => void) => void;
  defineMethod(globals, "queueMicrotask", (callback: () => unknown) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask() needs a function");
    enqueue(() => {
      try {
        callback();
      } catch (e) {
        void Promise.reject(e);
      }
    });
  });
  // Workflow code must not customize stacks, and the hook's frames give access to code outside of
  // it.
  Object.defineProperty(globals.Error, "prepareStackTrace", {
    value: (globals.Error as { prepareStackTrace?: unknown }).prepareStackTrace,
    writable: false,
    configurable: false,
  });
  guardRegExp(globals);
  // Errors and handles of the core's glue are needed at run time; compiling is not.
  const wasm = globals["WebAssembly"] as { [name: string]: unknown };
  const left = {};
  for (const name of Object.getOwnPropertyNames(wasm)) {
    const needed = /^(?:Exception|Tag|JSTag|.*Error)$/.test(name);
    override(
      left,
      name,
      needed ? wasm[name] : blocked(context, `WebAssembly.${name}`, {
        advice: "compile and run modules in an activity",
      }),
    );
  }
  override(globals, "WebAssembly", Object.freeze(left));
}
