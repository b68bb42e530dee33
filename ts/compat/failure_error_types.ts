// Errors that fail a run instead of its task: by class (options of a workflow), or by the name of
// the class (`workflowFailureErrorTypes` of a worker, which has no classes of workflow code).
import { isA, read } from "../converter/thrown.ts";

// deno-lint-ignore no-explicit-any
type ErrorClass = new (...args: any[]) => Error;

/** A proxy may have no last base class. */
const MAX_CLASSES = 32;

/** Names of a class and its base classes. Stops at code that throws. */
function* classNames(error: unknown): Iterable<unknown> {
  if (typeof error !== "object" || error === null) return;
  let type = read(error, "constructor");
  for (let i = 0; i < MAX_CLASSES && typeof type === "function"; i++) {
    yield read(type, "name");
    try {
      type = Object.getPrototypeOf(type);
    } catch {
      return;
    }
  }
}

/**
 * Returns whether an error is of one of the classes or of a class with one of the names. `Error`
 * and "Error" match every thrown value.
 */
export function matchesErrorTypes(
  error: unknown,
  classes: readonly ErrorClass[],
  names: readonly string[] = [],
): boolean {
  if (classes.some((type) => type === Error || isA(error, type))) return true;
  if (names.length === 0) return false;
  if (names.includes("Error")) return true;
  for (const name of classNames(error)) {
    if (typeof name === "string" && names.includes(name)) return true;
  }
  return false;
}
