// Reducers: functions of the application that change its tables in the transaction that commits a
// workflow task. They run synchronously in the engine's thread, each under a savepoint.
import type { Database } from "./database.ts";

/** A reducer. Gets the database and the arguments of `transact`; returns a value, not a promise. */
// deno-lint-ignore no-explicit-any
export type ReducerFunction = (database: Database, ...args: any[]) => unknown;

/** Reducers by name: an object, or a module (`import * as reducers from "./reducers.ts"`). */
export type ReducerTable = { readonly [name: string]: unknown };

/** The longest run time of a reducer, in ms: it blocks the engine. */
export const MAX_REDUCER_MS = 1000;

/** The reducer does not exist, returned a promise or a generator, or took too long. */
export class ReducerError extends Error {
  override name = "ReducerError";
}

/**
 * The reducer does not exist. Fails the task even if awaited: an engine with the reducer continues
 * the run.
 */
export class UnknownReducerError extends ReducerError {}

/** Returns the functions of a table, by name. */
export function reducersOf(table: ReducerTable): ReadonlyMap<string, ReducerFunction> {
  const found = new Map<string, ReducerFunction>();
  for (const [name, value] of Object.entries(table)) {
    if (typeof value === "function") found.set(name, value as ReducerFunction);
  }
  return found;
}

const GENERATOR = /^\[object (?:Async)?Generator\]$/;

/**
 * Returns what a function that must be synchronous has returned instead of its value; undefined for
 * a value. The rejection of a promise is ignored: the caller reports the promise itself.
 */
export function unfinishedOf(value: unknown): "a promise" | "a generator" | undefined {
  if (GENERATOR.test(Object.prototype.toString.call(value))) return "a generator";
  if (typeof (value as PromiseLike<unknown> | undefined)?.then !== "function") return undefined;
  // Not its own `then`: the query of a library may begin to run when it is called.
  if (value instanceof Promise) Promise.prototype.then.call(value, undefined, () => {});
  return "a promise";
}

/**
 * Runs a reducer. Throws its error, or a ReducerError if it does not exist, returns a promise or
 * takes too long.
 */
export function reduce(
  reducers: ReadonlyMap<string, ReducerFunction>,
  name: string,
  database: Database,
  args: readonly unknown[],
): unknown {
  const reducer = reducers.get(name);
  if (reducer === undefined) {
    const known = [...reducers.keys()].map((each) => `"${each}"`).join(", ");
    throw new UnknownReducerError(
      `unknown reducer "${name}"; known reducers: ${known === "" ? "none" : known}`,
    );
  }
  const began = performance.now();
  const value = reducer(database, ...args);
  const unfinished = unfinishedOf(value);
  if (unfinished !== undefined) {
    throw new ReducerError(
      unfinished === "a promise"
        ? `reducer "${name}" returned a promise: reducers must be synchronous; use an activity for asynchronous work`
        : `reducer "${name}" returned a generator: the body of a generator function has not run; use a function without *`,
    );
  }
  const took = performance.now() - began;
  if (took > MAX_REDUCER_MS) {
    throw new ReducerError(
      `reducer "${name}" took ${
        Math.round(took)
      } ms; reducers block the engine, so the limit is ${MAX_REDUCER_MS} ms`,
    );
  }
  return value;
}
