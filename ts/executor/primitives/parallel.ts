// parallel and shield: child fibers whose end settles one awaiter of their parent. Every branch
// runs to its end, even if another fails. Branches start in order, each in a separate turn until it
// blocks.
import { isCancellation } from "../../converter/failures.ts";
import { isContinueAsNew, isHandlerResult } from "../program/definition.ts";
import { isTaskError, NestingError } from "../program/errors.ts";
import { Awaiter, Fiber } from "../scheduler/fiber.ts";
import { startFiber } from "../scheduler/turns.ts";
import { withResults } from "./partial_results.ts";

export type SettledShape = { readonly ok: true; readonly value: unknown } | {
  readonly ok: false;
  readonly error: unknown;
};

/** How a parallel reports a cancellation of the workflow. */
export type ParallelResultShape =
  | { readonly canceled: true; readonly results: SettledShape[] }
  | { readonly canceled: false; readonly result: SettledShape[] };

/** Waits only for fibers of the same run; cancellation reaches those, and this follows. */
class ChildrenAwaiter<T> extends Awaiter<T> {
  readonly waitsFor = "children";
  readonly external = false;
  readonly #name: string;

  constructor(fiber: Fiber, name: string) {
    super(fiber);
    this.#name = name;
  }

  describe(): string {
    return this.#name;
  }

  cancel(): void {}
}

/** Rejects values that only run and message handlers may return. */
export function refuseControlValue(fiber: Fiber, value: unknown): void {
  if (isHandlerResult(value)) {
    fiber.run.fail(
      new NestingError(
        `${fiber.label} returned a ${
          value.kind === "async" ? "spawnAsync" : value.kind
        } result; only message handlers of a receive ` +
          `return those`,
      ),
    );
  } else if (isContinueAsNew(value)) {
    fiber.run.fail(
      new NestingError(
        `${fiber.label} returned continueAsNew; only the run function can return it: return to run first`,
      ),
    );
  }
}

export function startParallel(
  fiber: Fiber,
  branches: readonly (() => unknown)[],
  returnsOnCancel = false,
): Promise<SettledShape[] | ParallelResultShape> {
  const completed = (result: SettledShape[]) =>
    returnsOnCancel ? { canceled: false as const, result } : result;
  if (branches.length === 0) return Promise.resolve(completed([]));
  const { run } = fiber;
  const awaiter = new ChildrenAwaiter<SettledShape[] | ParallelResultShape>(fiber, "parallel");
  const results: SettledShape[] = new Array(branches.length);
  let left = branches.length;
  branches.forEach((branch, i) => {
    const child = new Fiber(run, "branch", `branch ${i + 1} of parallel in ${fiber.label}`, fiber);
    startFiber(child, branch, (outcome) => {
      if (outcome.ok) refuseControlValue(child, outcome.value);
      else if (isTaskError(outcome.error)) run.fail(outcome.error);
      else run.port.branchFailed?.(child.label, outcome.error);
      results[i] = outcome;
      if (--left > 0) return;
      // A cancellation of the workflow is not a result of a branch: it propagates.
      const cancelled = run.cancellation === undefined || fiber.shielded
        ? undefined
        : results.find((result) => !result.ok && isCancellation(result.error));
      if (cancelled === undefined || cancelled.ok) return awaiter.fulfil(completed(results));
      if (!returnsOnCancel) return awaiter.fail(withResults(run, cancelled.error, results));
      run.cancellation!.told = true;
      awaiter.fulfil({ canceled: true, results });
    });
  });
  return awaiter.promise;
}

/** Runs a function that a cancellation of the workflow does not reach. */
export function startShield<T>(fiber: Fiber, body: () => T | PromiseLike<T>): Promise<T> {
  const awaiter = new ChildrenAwaiter<T>(fiber, "shield");
  const child = new Fiber(fiber.run, "shield", `shield in ${fiber.label}`, fiber, {
    shielded: true,
  });
  startFiber(child, body, (outcome) => {
    if (outcome.ok) awaiter.fulfil(outcome.value);
    else awaiter.fail(outcome.error);
  });
  return awaiter.promise;
}
