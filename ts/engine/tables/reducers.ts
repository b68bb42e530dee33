// Reducers: functions of the application that change its tables in the transaction that commits a workflow task. They run on the engine's
// thread, synchronously, each under a savepoint.
import type { Database } from "./database.ts";

/** A reducer: gets the database and the arguments of transact; returns a value, not a promise. */
// deno-lint-ignore no-explicit-any
export type ReducerFunction = (database: Database, ...args: any[]) => unknown;

/** Reducers by name: an object, or a module (`import * as reducers from "./reducers.ts"`). */
export type ReducerTable = { readonly [name: string]: unknown };

/** What a reducer may not take longer than, in milliseconds: everything else of the engine waits for it. */
export const MAX_REDUCER_MS = 1000;

/** A reducer that is not there, or that does what reducers must not. */
export class ReducerError extends Error {
  override name = "ReducerError";
}

/** A reducer that is not there. It fails the task, whoever waits: an engine that has it goes on with the run. */
export class UnknownReducerError extends ReducerError {}

/** The functions of a table, by name. */
export function reducersOf(table: ReducerTable): ReadonlyMap<string, ReducerFunction> {
  const found = new Map<string, ReducerFunction>();
  for (const [name, value] of Object.entries(table)) if (typeof value === "function") found.set(name, value as ReducerFunction);
  return found;
}

/** Runs one. Throws what it throws, and a ReducerError where it is not there, returns a promise or takes too long. */
export function reduce(
  reducers: ReadonlyMap<string, ReducerFunction>,
  name: string,
  database: Database,
  args: readonly unknown[],
): unknown {
  const reducer = reducers.get(name);
  if (reducer === undefined) {
    const known = [...reducers.keys()].map((each) => `"${each}"`).join(", ");
    throw new UnknownReducerError(`unknown reducer "${name}"; known reducers: ${known === "" ? "none" : known}`);
  }
  const began = performance.now();
  const value = reducer(database, ...args);
  if (typeof (value as PromiseLike<unknown> | undefined)?.then === "function") {
    Promise.resolve(value).catch(() => {});
    throw new ReducerError(
      `reducer "${name}" returned a promise: reducers must be synchronous; use an activity for asynchronous work`,
    );
  }
  const took = performance.now() - began;
  if (took > MAX_REDUCER_MS) {
    throw new ReducerError(
      `reducer "${name}" took ${Math.round(took)} ms; reducers block the engine, so the limit is ${MAX_REDUCER_MS} ms`,
    );
  }
  return value;
}
