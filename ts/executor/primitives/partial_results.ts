// What a canceled receive or parallel had reached, on the failure that it throws. The failure keeps
// its class, its enumerable keys and its encoding, so that recorded runs replay unchanged.
import { TemporalFailure } from "../../converter/failures.ts";
import { isA, setStack } from "../../converter/thrown.ts";
import type { RunState } from "../scheduler/run_state.ts";

/** Registered symbols, so that two copies of the package recognize each other's failures. */
const KEYS = {
  state: Symbol.for("temporalex.canceled.receive"),
  results: Symbol.for("temporalex.canceled.parallel"),
} as const;

export type PartialName = keyof typeof KEYS;

/** Adds what was reached to a failure that no other code has yet. */
export function addPartial<E extends Error>(failure: E, name: PartialName, value: unknown): E {
  Object.defineProperty(failure, KEYS[name], { value: true });
  Object.defineProperty(failure, name, { value });
  return failure;
}

/** Whether a failure carries what a canceled receive or parallel had reached. */
export function hasPartial(error: unknown, name: PartialName): boolean {
  try {
    return isA(error, TemporalFailure) && Object.hasOwn(error, KEYS[name]);
  } catch {
    return false;
  }
}

/**
 * A copy of a branch's failure that carries the results. A copy, because the branch's failure is
 * among the results, and other code may hold it.
 */
export function withResults(run: RunState, failure: unknown, results: readonly unknown[]): unknown {
  if (!isA(failure, TemporalFailure)) return failure;
  try {
    const copy = new Error();
    const fields = Object.getOwnPropertyDescriptors(failure) as PropertyDescriptorMap;
    for (const key of [KEYS.results, KEYS.state, "results", "state", "stack"]) {
      delete fields[key as string];
    }
    Object.setPrototypeOf(copy, Object.getPrototypeOf(failure));
    Object.defineProperties(copy, fields);
    setStack(copy, failure.stack);
    if (run.scopeReasons.has(failure)) run.scopeReasons.add(copy);
    return addPartial(copy, "results", results);
  } catch {
    // A failure that refuses to be read, such as a proxy, passes as it is.
    return failure;
  }
}
