// The determinism guard: in a worker realm the globals are replaced for good, before workflow modules are loaded. What a run can observe is
// then a function of its history. It guards against accidents; code that is out to break it can, and hostile code belongs elsewhere.
//
// Left as they are, on purpose: promises, microtasks, typed arrays, URL, text encoders, structuredClone, JSON, regular expressions: they
// answer the same everywhere. What does not, and is left all the same (the last digit of Math.sin and its like, a locale's data, messages of
// the language's own errors), is listed with figures in docs/dev/determinism.md; the linter warns of the first.
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
  /** console calls where no run is active: while modules are loaded. */
  readonly log: (level: Level, message: string) => void;
}

export interface Guard {
  /** Evaluates text, as indirect eval did. */
  readonly evaluate: (code: string) => unknown;
  /** The stand-in for a module of Node that a package imports. */
  readonly hostModule: (name: string, advice: string, part: object | undefined) => unknown;
  /** Evaluates modules for a run. */
  readonly whileLoading: <T>(work: () => T) => T;
  /** Undoes what a module has done to built-in objects; the first such thing. After each module. */
  restore: Keeper["restore"];
  /** Makes what modules have added to built-in objects stay as it is when they are evaluated again, for a run. */
  keepAdditions(): void;
  /** Freezes what is left, and what else the runs share; after the modules are loaded. */
  seal(shared: readonly unknown[]): void;
}

/** What libraries may know about a process: that there is none. */
const PROCESS_CONSTANTS = {
  versions: undefined,
  version: undefined,
  release: undefined,
  browser: undefined,
  type: undefined,
  title: undefined,
};

/** Replaces the globals of this realm. There is no way back: call it in a worker of its own. */
export function installGuard(options: GuardOptions): Guard {
  const globals = globalThis as unknown as Globals;
  const context = new GuardContext(options.current);
  const evaluate = globals["eval"] as (code: string) => unknown;
  const present = globalNames(globals);
  // Deno takes its own hold of this function when it is first called, off the global object.
  queueMicrotask(() => {});
  const real = readables(globals);
  const hostEvents = dispatchForHost(globals, context);
  // Time first: other parts use what is left of Date.
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
    // What stays becomes a plain property: some runtimes make theirs when it is first read, which sealing would prevent.
    if (KEPT_GLOBALS.has(name)) settle(globals, name);
    else {
      const stand = standIn(globals, context, name, real[name]);
      // In Node >= 22 to redefine a class that is loaded when it is first looked at would load it, and what is behind it (undici) does not
      // run in a realm. To delete it does not.
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

/** Own and inherited: in browsers much of the global object's interface lies on its prototypes. */
function globalNames(globals: object): Set<string> {
  const names = new Set<string>();
  for (let object = globals; object !== null && object !== Object.prototype; object = Object.getPrototypeOf(object) as object) {
    for (const name of Object.getOwnPropertyNames(object)) names.add(name);
  }
  return names;
}

/** The host's objects that the function of sideEffect() may read, taken before anything is replaced. */
function readables(globals: Globals): { readonly [name: string]: unknown } {
  const deno = globals["Deno"] as { readonly env: { get(name: string): string | undefined }; readonly pid: number } | undefined;
  // Reading Deno's `process` would load its whole imitation of Node. Variables are read one by one, when they are asked for: a program that
  // was not allowed to read the environment has realms all the same.
  const env = new Proxy({}, { get: (_, name) => typeof name === "string" ? deno?.env.get(name) : undefined });
  const process = deno === undefined ? globals["process"] : Object.defineProperties({}, {
    env: { get: () => env },
    pid: { get: () => deno.pid },
  });
  return { Deno: deno, process, navigator: globals["navigator"], location: globals["location"] };
}

function standIn(globals: Globals, context: GuardContext, name: string, real: unknown): unknown {
  const row = BLOCKED.get(name);
  const constants = name === "process" ? { ...PROCESS_CONSTANTS, env: environment(context, real) } : undefined;
  const typeOf = row?.typeOf ?? (row !== undefined || /^[A-Z]/.test(name) ? "function" : typeOfGlobal(globals, name));
  return blocked(context, name, { advice: adviceFor(name), typeOf, ...(constants === undefined ? {} : { constants }), real });
}

/** What `typeof` says of a global that nobody has thought about. Accessors are not read, and of classes not even the descriptor (see above). */
function typeOfGlobal(globals: Globals, name: string): "function" | "object" {
  const { value, get } = Object.getOwnPropertyDescriptor(globals, name) ?? {};
  return typeof value === "function" || get !== undefined ? "function" : "object";
}

/** `process.env.NODE_ENV` is what bundlers make of it; every other variable is a fact about the machine. */
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
  if (descriptor?.get !== undefined && descriptor.configurable) override(globals, name, globals[name]);
}

/** Deno itself calls the global dispatchEvent for its own events, of classes that workflow code cannot make. */
function dispatchForHost(globals: Globals, context: GuardContext): ((event: unknown) => unknown) | undefined {
  const dispatch = globals["dispatchEvent"];
  if (!("Deno" in globals) || typeof dispatch !== "function") return undefined;
  type EventClass = new () => object;
  const classes = ["PromiseRejectionEvent", "ErrorEvent", "MessageEvent"].map((name) => globals[name] as EventClass | undefined);
  return function dispatchEvent(event) {
    if (classes.some((known) => known !== undefined && event instanceof known)) return Reflect.apply(dispatch, globals, [event]);
    return context.refuse("dispatchEvent()", adviceFor("dispatchEvent"));
  };
}

function remove(globals: Globals, name: string): void {
  if (Reflect.deleteProperty(globals, name) && !(name in globals)) return;
  // A property that cannot be deleted (`gc` of --expose-gc), or that a prototype has.
  if (Object.getOwnPropertyDescriptor(globals, name)?.configurable === false) globals[name] = undefined;
  else override(globals, name, undefined);
}

/** Methods of what is kept that would not be the same twice. */
function guardParts(globals: Globals, context: GuardContext): void {
  const close = (holder: unknown, path: string, advice: string) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    if (holder !== undefined) defineMethod(holder as object, name, () => context.refuse(`${path}()`, advice));
  };
  for (const name of ["wait", "waitAsync"]) close(globals["Atomics"], `Atomics.${name}`, 'use sleep() of "temporalex/workflow"');
  close(
    globals["AbortSignal"],
    "AbortSignal.timeout",
    'use sleep() of "temporalex/workflow", and abort a controller when it returns',
  );
  for (const name of ["createObjectURL", "revokeObjectURL"]) close(globals["URL"], `URL.${name}`, adviceFor("Blob"));
  // Whoever could not start a timer may still clear it.
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate", "cancelAnimationFrame", "cancelIdleCallback"]) {
    defineMethod(globals, name, () => {});
  }
  // A callback that throws becomes a rejection, which belongs to a run; as an uncaught error it would be the realm's.
  const enqueue = globals["queueMicrotask"] as (callback: () => void) => void;
  defineMethod(globals, "queueMicrotask", (callback: () => unknown) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
    enqueue(() => {
      try {
        callback();
      } catch (e) {
        void Promise.reject(e);
      }
    });
  });
  // How a stack is shown is not the workflow's business, and the frames that the hook gets lead out of it.
  Object.defineProperty(globals.Error, "prepareStackTrace", {
    value: (globals.Error as { prepareStackTrace?: unknown }).prepareStackTrace,
    writable: false,
    configurable: false,
  });
  guardRegExp(globals);
  // The errors and handles of the core's glue are needed while it runs; compiling is not.
  const wasm = globals["WebAssembly"] as { [name: string]: unknown };
  const left = {};
  for (const name of Object.getOwnPropertyNames(wasm)) {
    const needed = /^(?:Exception|Tag|JSTag|.*Error)$/.test(name);
    override(
      left,
      name,
      needed ? wasm[name] : blocked(context, `WebAssembly.${name}`, { advice: "compile and run modules in an activity" }),
    );
  }
  override(globals, "WebAssembly", Object.freeze(left));
}
