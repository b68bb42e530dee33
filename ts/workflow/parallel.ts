// parallel: runs branches concurrently, each to its end. shield: runs code that a cancellation does
// not reach.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { MisuseError } from "../executor/program/errors.ts";
import { callingFiber } from "../executor/scheduler/api_guard.ts";
import { startParallel, startShield } from "../executor/primitives/parallel.ts";
import type { HasControl } from "./receive.ts";
import { type OnCancel, returnsOnCancel } from "./cancellations.ts";

/** The outcome of a branch. */
export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/**
 * A branch of parallel; its result is its value. It must not return continueAsNew or a handler
 * result.
 */
// deno-lint-ignore no-explicit-any
type Branch = () => any;
type CheckedBranches<F extends readonly Branch[]> = {
  readonly [K in keyof F]: HasControl<Awaited<ReturnType<F[K]>>> extends true ? never : F[K];
};

/** The outcomes of the branches, in their order. */
type AllSettled<F extends readonly Branch[]> = {
  -readonly [K in keyof F]: Settled<Awaited<ReturnType<F[K]>>>;
};

/** Options of {@link parallel}. */
export interface ParallelOptions {
  /**
   * A cancellation of the workflow that a branch does not handle is thrown as a {@link
   * ParallelCancellation}, or returned as a {@link ParallelOutcome}. Default: `"throw"`.
   */
  readonly onCancel?: OnCancel;
}

/**
 * The result of a {@link parallel} with `onCancel: "return"`. `results`: every branch has ended, by
 * itself or by the cancellation.
 */
export type ParallelOutcome<R> =
  | { readonly canceled: true; readonly results: R }
  | { readonly canceled: false; readonly result: R };

const PARALLEL_OPTIONS: OptionNames<ParallelOptions> = { onCancel: 1 };

/**
 * Runs functions concurrently and waits for all. They start in order; an error does not stop the
 * others; results are in the order of the functions. A cancellation of the workflow is thrown with
 * the results ({@link isParallelCancellation}); `onCancel: "return"` returns them.
 *
 * @example
 * const [user, config] = await parallel([() => users.fetch(id), () => configs.load(tenant)]);
 * if (!user.ok) throw user.error;
 */
export function parallel<const F extends readonly Branch[]>(
  branches: F & CheckedBranches<F>,
  options: ParallelOptions & { readonly onCancel: "return" },
): Promise<ParallelOutcome<AllSettled<F>>>;
export function parallel<const F extends readonly Branch[]>(
  branches: F & CheckedBranches<F>,
  options?: ParallelOptions & { readonly onCancel?: "throw" | undefined },
): Promise<AllSettled<F>>;
export function parallel(
  branches: readonly Branch[],
  options: ParallelOptions = {},
  ...surplus: unknown[]
): Promise<unknown> {
  rejectUnknownOptions("parallel", options, PARALLEL_OPTIONS);
  rejectSurplusArguments(
    "parallel",
    surplus,
    "parallel needs one array of functions and options",
  );
  const fiber = callingFiber("parallel");
  if (!Array.isArray(branches)) {
    fiber.run.misuse(new MisuseError("parallel needs an array of functions"));
  }
  Array.from(branches).forEach((branch: unknown, i) => {
    if (typeof branch !== "function") {
      fiber.run.misuse(new MisuseError(`branch ${i + 1} of parallel ${whyNoFunction(branch)}`));
    }
  });
  return startParallel(fiber, branches, returnsOnCancel("parallel", options.onCancel, fiber.run));
}

/**
 * Runs a function that a cancellation of the workflow does not reach: clean-up, or atomic work. It
 * starts in a separate turn; the nesting rules of its call site apply.
 */
export function shield<T>(body: () => T | Promise<T>, ...surplus: never[]): Promise<T> {
  rejectSurplusArguments("shield", surplus, "shield needs one function and has no options");
  const fiber = callingFiber("shield");
  if (typeof body !== "function") {
    fiber.run.misuse(new MisuseError(`the argument of shield ${whyNoFunction(body)}`));
  }
  return startShield(fiber, body);
}

/** A call in the place of a function runs before the branch exists. */
function whyNoFunction(value: unknown): string {
  if (typeof (value as { then?: unknown } | null | undefined)?.then === "function") {
    return "is a promise, not a function: write () => before the call";
  }
  return `is ${value === null ? "null" : typeof value}, not a function`;
}
