// The global object of a run's modules: that of the official sandbox, in every runtime. Built-in
// objects of the language and of the realm's guard (Date, Math.random, console) come from the
// realm; the rest is here. Each run has a separate global object. Reading a name that the official
// sandbox lacks reports an alternative.
import { DeterminismViolationError } from "../common/errors.ts";
import { clearTimeout, setTimeout } from "../workflow/timers.ts";
import { assert } from "./assert.ts";
import { AsyncLocalStorage } from "./async_local_storage.ts";

/**
 * Names of the realm, as listed by the module compiler (modules/loader/run_globals.ts), for the
 * global object.
 */
const OF_REALM =
  ("AbortController AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean " +
    "DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array " +
    "Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String " +
    "SuppressedError Symbol SyntaxError Temporal TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array " +
    "Uint8Array Uint8ClampedArray WeakMap WeakSet WebAssembly console decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval " +
    "isFinite isNaN parseFloat parseInt undefined unescape").split(" ");

/** Rejected: their effects depend on the garbage collector. */
function refused(name: string): unknown {
  const stand = function () {
    throw new DeterminismViolationError(
      `${name} cannot be used in workflow code: when it acts depends on the garbage collector`,
    );
  };
  Object.defineProperty(stand, "name", { value: name });
  return stand;
}

const OWN: { readonly [name: string]: unknown } = {
  setTimeout,
  clearTimeout,
  assert,
  AsyncLocalStorage,
  WeakRef: refused("WeakRef"),
  FinalizationRegistry: refused("FinalizationRegistry"),
};

/**
 * Markers by which Temporal's packages detect the sandbox, and its time in milliseconds since 1970.
 */
const MARKS: { readonly [name: string]: unknown } = {
  __webpack_module_cache__: Object.freeze({}),
  __TEMPORAL_ACTIVATOR__: Object.freeze({
    get now(): number {
      return Date.now();
    },
  }),
};

const ACTIVITY = "do it in an activity";
const ARGUMENT = "pass what you need as an argument, or read it in an activity";
const TIMER = 'use sleep() of "@temporalio/workflow" or setTimeout(), which are durable timers';
const INSTEAD: { readonly [name: string]: string } = Object.assign(Object.create(null) as object, {
  setInterval: TIMER,
  setImmediate: TIMER,
  clearInterval: TIMER,
  clearImmediate: TIMER,
  queueMicrotask: "use Promise.resolve().then()",
  process: ARGUMENT,
  navigator: ARGUMENT,
  location: ARGUMENT,
  Deno: ARGUMENT,
  Bun: ARGUMENT,
  crypto:
    'use uuid4() of "@temporalio/workflow" or Math.random(), which are seeded; hash and sign in an activity',
  performance: "time is workflow time: use Date.now(), and measure in an activity",
  Buffer: "use Uint8Array with TextEncoder and TextDecoder",
  structuredClone: "copy the value yourself, or through JSON",
  require: "use an import declaration",
});

/** Returns the alternative for a name that the sandbox lacks, if there is one. */
export const findAlternative = (name: string): string | undefined => INSTEAD[name];

/** Global object of one run, and the object for undeclared names. */
export interface RunGlobals {
  readonly global: object;
  readonly lookup: object;
}

/**
 * Returns the global object of one run, created on first use, because most runs do not need it.
 * Reads the realm's objects then, after a guard has replaced them.
 */
export function runGlobals(): RunGlobals {
  let made: RunGlobals | undefined;
  return {
    get global() {
      return (made ??= makeGlobals()).global;
    },
    get lookup() {
      return (made ??= makeGlobals()).lookup;
    },
  };
}

function makeGlobals(): RunGlobals {
  const global: { [name: string]: unknown } = {};
  const add = (name: string, value: unknown) =>
    Object.defineProperty(global, name, {
      value,
      writable: true,
      enumerable: false,
      configurable: true,
    });
  const realm = globalThis as unknown as { readonly [name: string]: unknown };
  for (const name of OF_REALM) if (Object.hasOwn(realm, name)) add(name, realm[name]);
  for (const name of Object.keys(OWN)) add(name, OWN[name]);
  for (const name of Object.keys(MARKS)) add(name, MARKS[name]);
  add("globalThis", global);
  add("global", global);
  return { global, lookup: lookupIn(global) };
}

function lookupIn(global: object): object {
  return new Proxy(global, {
    get(target, name) {
      if (Reflect.has(target, name)) return Reflect.get(target, name);
      const advice = INSTEAD[String(name)] ??
        `the sandbox of workflow code does not have it: ${ACTIVITY}`;
      throw new ReferenceError(`${String(name)} is not defined in workflow code: ${advice}`);
    },
  });
}
