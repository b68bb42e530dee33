// Rejects options that do not exist, so that a misspelled name is not ignored. Cheap enough for
// calls in workflow code: one lookup for each given option.
import { nearestName } from "./nearest_name.ts";

/**
 * The name of every option of `T`. A record, so that the compiler reports a name that is missing or
 * wrong.
 */
export type OptionNames<T> = { readonly [name in keyof Required<T>]: unknown };

/** Names of Temporal's SDKs and API for options that have another name in this package. */
const TEMPORAL_NAMES: { readonly [name: string]: string } = {
  startToCloseTimeout: "startToClose",
  scheduleToCloseTimeout: "scheduleToClose",
  scheduleToStartTimeout: "scheduleToStart",
  heartbeatTimeout: "heartbeat",
  retryPolicy: "retry",
  workflowId: "id",
  workflowIdReusePolicy: "idReusePolicy",
  workflowIdConflictPolicy: "idConflictPolicy",
  workflowExecutionTimeout: "executionTimeout",
  workflowRunTimeout: "runTimeout",
  workflowTaskTimeout: "taskTimeout",
  typedSearchAttributes: "searchAttributes",
  staticSummary: "summary",
  staticDetails: "details",
  nexusHeader: "headers",
  waitForStage: "waitFor",
  validator: "validate",
  nextRetryDelay: "nextRetryDelayMs",
  connection: "service",
  dataConverter: "converter",
  payloadCodecs: "codec",
  workflowsPath: "workflows",
  maxConcurrentActivityTaskExecutions: "maxConcurrentActivities",
  maxConcurrentWorkflowTaskExecutions: "maxConcurrentWorkflowTasks",
  maxConcurrentLocalActivityExecutions: "maxConcurrentLocalActivities",
  maxCachedWorkflows: "cachedWorkflows",
  shutdownGraceTime: "shutdownGraceMs",
  shutdownForceTime: "shutdownForceMs",
};

/**
 * The message about an option that does not exist. `owner`: whose options they are, as in
 * "Worker.create" or "retry of activities".
 */
export function unknownOptionMessage(
  owner: string,
  name: string,
  known: readonly string[],
): string {
  const problem = `${owner} has no option "${name}"`;
  const here = Object.hasOwn(TEMPORAL_NAMES, name) ? TEMPORAL_NAMES[name]! : undefined;
  if (here !== undefined && known.includes(here)) {
    return `${problem}; Temporal's ${name} is called ${here} here`;
  }
  const near = nearestName(name, known);
  if (near !== undefined) return `${problem}; did you mean ${near}?`;
  return known.length === 0 ? problem : `${problem}; known options: ${known.join(", ")}`;
}

const describeValue = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : typeof value === "string"
    ? JSON.stringify(value)
    : typeof value === "function"
    ? "a function"
    : String(value);

/**
 * Throws a TypeError for an option that does not exist, and for options that are not an object.
 * Undefined options are valid, and so is a number, the index that `durations.map(sleep)` passes.
 */
export function rejectUnknownOptions(owner: string, options: unknown, names: object): void {
  if (options === undefined || typeof options === "number") return;
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${owner}: options must be an object, not ${describeValue(options)}`);
  }
  for (const name in options) {
    if (!Object.hasOwn(names, name)) {
      throw new TypeError(unknownOptionMessage(owner, name, Object.keys(names)));
    }
  }
}

/** A shorter beginning of a name is a different name: type, typeInfo. */
const SHORTEST_PART = 0.6;

/**
 * For programs of Temporal's SDK, which ignores unknown names, and for objects that may have more
 * properties than are read, such as a handle instead of a workflow's id: throws a TypeError for a
 * name that is nearly one of `names`, unless that one is given, too. Other names are ignored.
 */
export function rejectMisspelledOptions(owner: string, options: unknown, names: object): void {
  if (typeof options !== "object" || options === null) return;
  for (const name in options) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const near = name === "retryPolicy" && known.includes("retry")
      ? "retry"
      : nearestName(name, known);
    if (near === undefined || near in options || name.length / near.length < SHORTEST_PART) {
      continue;
    }
    throw new TypeError(`${owner} has no option "${name}"; did you mean ${near}?`);
  }
}

/** Returns the names of an object's methods, including inherited ones, without calling getters. */
function methodNames(object: object): string[] {
  const names = new Set<string>();
  for (
    let at: unknown = object;
    isObject(at) && Object.getPrototypeOf(at) !== null;
    at = Object.getPrototypeOf(at)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * Throws a TypeError for a method that is nearly one of `names` and would never be called, unless
 * that one is there, too. Other methods are the object's own helpers.
 */
export function rejectMisspelledMethods(owner: string, object: unknown, names: object): void {
  if (!isObject(object)) return;
  const known = Object.keys(names);
  for (const name of methodNames(object)) {
    if (Object.hasOwn(names, name)) continue;
    const near = nearestName(name, known);
    if (near === undefined || near in object || name.length / near.length < SHORTEST_PART) continue;
    throw new TypeError(`${owner} has no method "${name}"; did you mean ${near}?`);
  }
}

/**
 * False for the index, key or array that callbacks of arrays, maps and promises are called with
 * after a value. Works for objects of another realm.
 */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Throws a TypeError for options after the last parameter of a function, which would be ignored.
 * `instead`: what to write.
 */
export function rejectSurplusArguments(
  owner: string,
  surplus: readonly unknown[],
  instead: string,
): void {
  if (surplus.length === 0) return;
  const options = surplus.find(isPlainObject);
  if (options === undefined) return;
  throw new TypeError(
    `${owner} has no parameter for options ({ ${Object.keys(options).join(", ")} }); ${instead}`,
  );
}
