// parallel: fan-out whose branches all run to their end. shield: a piece of code that a cancellation does not reach.
import { rejectSurplusArguments } from "../base/option_names.ts";
import { callingFiber } from "../executor/scheduler/api_guard.ts";
import { startParallel, startShield } from "../executor/primitives/parallel.ts";
import type { HasControl } from "./receive.ts";

/** How a branch ended. */
export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** A branch of parallel: what it returns is its value. It may not return continueAsNew or a handler result. */
// deno-lint-ignore no-explicit-any
type Branch = () => any;
type CheckedBranches<F extends readonly Branch[]> = {
  readonly [K in keyof F]: HasControl<Awaited<ReturnType<F[K]>>> extends true ? never : F[K];
};

/**
 * Runs functions concurrently and waits for all of them. They start in order; one that throws does not stop the others; the results come
 * in the order of the functions. A cancellation of the workflow is thrown, not returned.
 *
 * @example
 * const [user, config] = await parallel([() => users.fetch(id), () => configs.load(tenant)]);
 * if (!user.ok) throw user.error;
 */
export function parallel<const F extends readonly Branch[]>(
  branches: F & CheckedBranches<F>,
  ...surplus: never[]
): Promise<{ -readonly [K in keyof F]: Settled<Awaited<ReturnType<F[K]>>> }> {
  rejectSurplusArguments("parallel", surplus, "parallel needs one array of functions and has no options");
  const fiber = callingFiber("parallel");
  return startParallel(fiber, branches) as Promise<{ -readonly [K in keyof F]: Settled<Awaited<ReturnType<F[K]>>> }>;
}

/**
 * Runs a function that a cancellation of the workflow does not reach: clean-up after one, or work that must not be torn. It starts in a
 * turn of its own; nesting rules are those of where it stands.
 */
export function shield<T>(body: () => T | Promise<T>, ...surplus: never[]): Promise<T> {
  rejectSurplusArguments("shield", surplus, "shield needs one function and has no options");
  return startShield(callingFiber("shield"), body);
}
