// What a canceled receive or parallel had reached: on the failure that it throws, or returned.
import type { CancelledFailure, TemporalFailure } from "../converter/failures.ts";
import { hasPartial } from "../executor/primitives/partial_results.ts";
import { MisuseError } from "../executor/program/errors.ts";
import type { RunState } from "../executor/scheduler/run_state.ts";
import type { Settled } from "./parallel.ts";

/** How a receive or parallel reports a cancellation of the workflow. */
export type OnCancel = "throw" | "return";

/** The failure that a canceled receive throws. */
export interface ReceiveCancellation<S> extends CancelledFailure {
  /** The state after the last processed message. */
  readonly state: S;
}

/**
 * The failure that a canceled parallel throws: that of the first branch that ended by the
 * cancellation.
 */
export interface ParallelCancellation<R> extends TemporalFailure {
  /** The outcomes of all branches, in their order. */
  readonly results: R;
}

/**
 * Returns whether an error was thrown by a canceled receive. `S` is not checked: give the state
 * type of that receive, or use `onCancel: "return"`, which infers it.
 *
 * @example
 * const order = await receive(empty, handlers).catch(async (error) => {
 *   if (isReceiveCancellation<Order>(error)) await shield(() => release(error.state));
 *   throw error;
 * });
 */
export function isReceiveCancellation<S = unknown>(
  error: unknown,
): error is ReceiveCancellation<S> {
  return hasPartial(error, "state");
}

/**
 * Returns whether an error was thrown by a canceled parallel. `R` is not checked: give the types of
 * the branches, or use `onCancel: "return"`, which infers them. `isCancellation` is true as well.
 *
 * @example
 * if (isParallelCancellation<Settled<string>[]>(error)) {
 *   for (const result of error.results) if (result.ok) await stock.release(result.value);
 * }
 */
export function isParallelCancellation<R extends readonly Settled<unknown>[] = Settled<unknown>[]>(
  error: unknown,
): error is ParallelCancellation<R> {
  return hasPartial(error, "results");
}

/** @internal Checks the option `onCancel`. */
export function returnsOnCancel(api: string, onCancel: unknown, run: RunState): boolean {
  if (onCancel !== undefined && onCancel !== "throw" && onCancel !== "return") {
    run.misuse(
      new MisuseError(
        `onCancel of ${api} must be "throw" or "return", not ${JSON.stringify(onCancel)}`,
      ),
    );
  }
  return onCancel === "return";
}
