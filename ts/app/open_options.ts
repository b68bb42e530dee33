// Options of open(), and what is refused of them before anything is opened. Types do not reach everyone: a program in JavaScript, a value
// from the environment, a name that was misspelt in an object made elsewhere. What was not read would be lost without a word: a misspelt
// `path` would mean a store in memory, a misspelt `codec` values in clear.
import type { ClientOptions } from "../client/mod.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { EmbeddedEngineOptions, EngineLimits } from "../engine/options.ts";
import type { Logger } from "../base/logger.ts";
import type { WorkerOptions } from "../worker/options.ts";

/** Options of {@link open}. */
export interface OpenOptions extends CodecOptions {
  /** SQLite file in which everything is kept, created when missing. Without it everything is in memory, and gone with the process. */
  path?: string;
  /** The modules that define the workflows: `new URL("./workflows.ts", import.meta.url)`. Or definitions, to run them in this thread. */
  workflows?: WorkerOptions["workflows"];
  /** Activity functions by name: an object, or a module (`import * as activities from "./activities.ts"`). */
  activities?: WorkerOptions["activities"];
  /** Default: "default". */
  taskQueue?: string;
  /** How values become payloads. Default: JSON. */
  converter?: ClientOptions["converter"];
  /**
   * Functions that workflows run by `transact`, in the transaction that commits their task: an object, or a module
   * (`import * as reducers from "./reducers.ts"`).
   */
  reducers?: EmbeddedEngineOptions["reducers"];
  /** The application's own tables in the store's file, step by step; each is applied once. */
  migrations?: EmbeddedEngineOptions["migrations"];
  /** Default: lines on standard error. */
  logger?: Logger;
  /**
   * Lets the command line and other processes of the same user talk to the engine while it runs, over a socket beside the store file.
   * Default: true where there is a `path`, in Node and Deno. If that is not possible there, a warning is logged and the engine runs on.
   */
  serve?: boolean;
  /** More options of the parts. */
  engine?: Omit<EmbeddedEngineOptions, "path">;
  /** Options of the worker, beside those above. */
  worker?: Omit<WorkerOptions, "service" | "taskQueue" | "workflows" | "activities">;
  /** Options of the client, beside those above. */
  client?: Omit<ClientOptions, "service" | "taskQueue">;
}

/** What an option must be, in words, and whether a value is it; "" for what is not told of and not looked at. */
type Kind = readonly [expected: string, is: (value: unknown) => boolean];
interface Kinds {
  readonly [name: string]: Kind | Kinds;
}
/** A kind for every option. */
type Table<T> = { readonly [name in keyof Required<T>]: Kind | Kinds };

const isFunction = (value: unknown) => typeof value === "function";
const isObject = (value: unknown) => typeof value === "object" && value !== null;
const at = (value: unknown, name: string) => (value as { readonly [name: string]: unknown } | null | undefined)?.[name];
const has = (...names: string[]) => (value: unknown) => names.every((name) => isFunction(at(value, name)));
const isPromise = has("then");
const isModule = (value: unknown) => value instanceof URL || (typeof value === "string" && value !== "");
/** Holds values by name: an object, a module's namespace, an instance of a class. */
const isNamed = (value: unknown) => isObject(value) && !Array.isArray(value) && !(value instanceof URL) && !isPromise(value);
const isDefinition = (value: unknown) => isNamed(value) && isFunction(at(value, "run")) && isObject(at(value, "queries"));
/** Definitions, lists of them, and what holds them. */
const areDefinitions = (value: unknown): boolean => Array.isArray(value) ? value.every(areDefinitions) : isNamed(value);
const oneOrList = (is: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) ? value.every(is) : is(value);
const oneOf = (...names: string[]): Kind => [
  names.map((name) => `"${name}"`).join(" or "),
  (value) => names.includes(value as string),
];

const any: Kind = ["", () => true];
const text: Kind = ["text that is not empty", (value) => typeof value === "string" && value !== ""];
const flag: Kind = ["true or false", (value) => typeof value === "boolean"];
const number: Kind = ["a number", (value) => typeof value === "number"];
const count: Kind = ["a whole number of at least 1", (value) => Number.isInteger(value) && (value as number) >= 1];
const call: Kind = ["a function", isFunction];
const object: Kind = ["an object", isObject];
const list: Kind = ["a list", Array.isArray];
const module: Kind = ["a module's URL", isModule];
const duration: Kind = [
  'a duration ("10s") or a number of milliseconds',
  (value) => ["string", "number", "object"].includes(typeof value) && value !== null,
];
const converter: Kind = ["an object with the functions toPayload and fromPayload", has("toPayload", "fromPayload")];
const logger: Kind = [
  "an object with the functions debug, info, warn and error, as console is",
  has("debug", "info", "warn", "error"),
];
const codec: { readonly [name in keyof CodecOptions]-?: Kind } = {
  codec: ["an object with the functions encode and decode, or a list of them", oneOrList(has("encode", "decode"))],
  encodeCommonAttributes: flag,
};
const ofTables = {
  reducers: ["an object of functions, as a module's namespace is", isNamed] as Kind,
  migrations: [
    "a list of { name, sql }",
    (value: unknown) => Array.isArray(value) && value.every((step) => text[1](at(step, "name")) && text[1](at(step, "sql"))),
  ] as Kind,
};

const LIMITS: Table<EngineLimits> = {
  ...{ openRuns: count, inbox: count, updatesInFlight: count, updates: count, cachedRuns: count, payloadBytes: count },
  ...{ suggestContinueAsNewEvents: count, suggestContinueAsNewBytes: count, suggestContinueAsNewUpdates: count },
  historyEvents: count,
};

const ENGINE: Table<NonNullable<OpenOptions["engine"]>> = {
  ...{ store: object, synchronous: oneOf("FULL", "NORMAL"), driver: text, visit: flag, namespace: text, limits: LIMITS },
  ...{ clock: ["a clock", has("nowMs")], timers: oneOf("due", "manual"), remoteWorkers: flag, reducing: any, core: any },
  ...{ onError: call, onActivityTimeout: call, converter, ...codec, ...ofTables },
};

const WORKER: Table<NonNullable<OpenOptions["worker"]>> = {
  ...{ namespace: text, identity: text, activityThreads: object, nexusServices: call, converter, ...codec, logger },
  ...{ maxConcurrentWorkflowTasks: number, maxConcurrentActivities: number, maxConcurrentLocalActivities: number },
  ...{ maxConcurrentNexusTasks: number, maxActivitiesPerSecond: number, maxTaskQueueActivitiesPerSecond: number },
  ...{ workflowTaskPollerBehavior: object, activityTaskPollerBehavior: object, nexusTaskPollerBehavior: object },
  ...{ cachedWorkflows: number, stickyScheduleToStartTimeout: duration, shutdownGraceMs: number, shutdownForceMs: number },
  ...{ workerDeploymentOptions: object, heartbeatThrottle: object, payloadLimits: object, activityInterceptors: list },
  ...{
    workflowTracer: object,
    metrics: object,
    crashNote: text,
    events: object,
    realmEntry: ["a bundle's URL, or a function that makes a Worker of it", (value) => isModule(value) || isFunction(value)],
    sources: object,
  },
  realm: ['"worker", "inline" or a realm', (value) => isObject(value) || value === "worker" || value === "inline"],
  ...{ payloadConverterModule: module, workflowInterceptors: ["the URLs of modules", oneOrList(isModule)], sinks: object },
  ...{ watchdogMs: number, workflowThreads: number, realmStarting: any, buildStamp: any, unknownActivityIsFinal: any },
  ...{ localActivitiesOnly: any, maxEagerActivities: any, commonQueuePart: any, activityDialect: any, nexus: any },
  ...{ workflowLog: any, timers: any, activityTimers: any },
};

const CLIENT: Table<NonNullable<OpenOptions["client"]>> = {
  ...{ namespace: text, converter, identity: text, timeout: duration, retry: object, payloadLimits: object },
  ...{ interceptors: list, metrics: object, logger, ...codec },
};

const OPTIONS: Table<OpenOptions> = {
  path: text,
  workflows: [
    'the URL of a module (new URL("./workflows.ts", import.meta.url)), a list of them, or definitions ({ order })',
    (value) => {
      if (!Array.isArray(value)) return isModule(value) || (isNamed(value) && !isDefinition(value));
      return value.length > 0 && (value.every(isModule) || value.every(areDefinitions));
    },
  ],
  activities: ["an object of functions, as a module's namespace is, or a list of such objects", oneOrList(isNamed)],
  taskQueue: text,
  ...ofTables,
  converter,
  ...codec,
  logger,
  serve: flag,
  engine: ENGINE,
  worker: WORKER,
  client: CLIENT,
};

/** Throws a TypeError that names the option, what was given and what is expected. */
export function checkOptions(options: OpenOptions): void {
  if (!isNamed(options)) throw new TypeError(`open takes an object of options, not ${shown(options)}`);
  check("", options, OPTIONS);
}

function check(part: string, given: object, kinds: Kinds): void {
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name]! : undefined;
    if (kind === undefined) throw new TypeError(unknown(part, name, kinds));
    if (value === undefined) continue;
    const option = part === "" ? name : `${part}.${name}`;
    const [expected, is]: Kind = Array.isArray(kind) ? kind as unknown as Kind : ["an object of options", isNamed];
    if (!is(value)) throw new TypeError(`open's option ${option} must be ${expected}, not ${shown(value, is)}`);
    if (!Array.isArray(kind)) check(option, value as object, kind as Kinds);
  }
}

function unknown(part: string, name: string, kinds: Kinds): string {
  if (part !== "" && Object.hasOwn(OPTIONS, name)) {
    return `${name} is an option of open itself: write open({ ${name} }), not ${part}.${name}`;
  }
  const names = Object.entries(kinds).filter(([, kind]) => kind !== any).map(([each]) => each).join(", ");
  return part === ""
    ? `open has no option "${name}"; it has ${names}`
    : `open's option ${part} has no "${name}"; it has ${names}`;
}

/** What a value is, in a few words; of a list the first that makes it wrong. */
function shown(value: unknown, is: Kind[1] = () => false): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}...` : value);
  if (isFunction(value)) return `a function ${(value as { readonly name: string }).name}`.trimEnd();
  if (!isObject(value)) return String(value);
  if (value instanceof URL) return "a URL";
  if (isPromise(value)) return "a promise: await it";
  if (isDefinition(value)) return `a workflow: write { ${at(value, "name")} }`;
  if (!Array.isArray(value)) return "an object";
  if (value.length === 0) return "an empty list";
  const wrong = value.findIndex((each) => !is([each]));
  return wrong < 0 ? "a list of modules and definitions" : `a list with ${shown(value[wrong])}`;
}
