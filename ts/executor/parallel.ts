// parallel and shield: child strands whose end settles one awaiter of their parent. Every branch runs to its end; a failing one does not
// stop the others. Branches start in order, each in a turn of its own up to its first block.
import { isCancellation } from "../converter/failures.ts";
import { isContinueAsNew, isHandlerResult } from "./definition.ts";
import { isTaskError, NestingError } from "./errors.ts";
import { Awaiter, Strand } from "./strand.ts";
import { startStrand } from "./turns.ts";

export type SettledShape = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** Waits for strands of its own run only; they are cancelled, it follows. */
class ChildrenAwaiter<T> extends Awaiter<T> {
  readonly waitsFor = "children";
  readonly external = false;
  readonly #name: string;

  constructor(strand: Strand, name: string) {
    super(strand);
    this.#name = name;
  }

  describe(): string {
    return this.#name;
  }

  cancel(): void {}
}

/** Values that only run and message handlers may return, returned elsewhere. */
export function refuseControlValue(strand: Strand, value: unknown): void {
  if (isHandlerResult(value)) {
    strand.run.fail(
      new NestingError(
        `${strand.label} returned a ${
          value.kind === "async" ? "spawnAsync" : value.kind
        } result; only message handlers of a receive ` +
          `return those`,
      ),
    );
  } else if (isContinueAsNew(value)) {
    strand.run.fail(
      new NestingError(`${strand.label} returned continueAsNew; only the run function does: return to it and decide there`),
    );
  }
}

export function startParallel(strand: Strand, branches: readonly (() => unknown)[]): Promise<SettledShape[]> {
  if (branches.length === 0) return Promise.resolve([]);
  const { run } = strand;
  const awaiter = new ChildrenAwaiter<SettledShape[]>(strand, "parallel");
  const results: SettledShape[] = new Array(branches.length);
  let left = branches.length;
  branches.forEach((branch, i) => {
    const child = new Strand(run, "branch", `branch ${i + 1} of parallel in ${strand.label}`, strand);
    startStrand(child, branch, (outcome) => {
      if (outcome.ok) refuseControlValue(child, outcome.value);
      else if (isTaskError(outcome.error)) run.fail(outcome.error);
      results[i] = outcome;
      if (--left > 0) return;
      // A cancellation of the workflow is not a branch's result: it goes on up.
      const cancelled = run.cancellation === undefined || strand.shielded
        ? undefined
        : results.find((result) => !result.ok && isCancellation(result.error));
      if (cancelled === undefined || cancelled.ok) awaiter.fulfil(results);
      else awaiter.fail(cancelled.error);
    });
  });
  return awaiter.promise;
}

/** Runs a function that a cancellation of the workflow does not reach. */
export function startShield<T>(strand: Strand, body: () => T | PromiseLike<T>): Promise<T> {
  const awaiter = new ChildrenAwaiter<T>(strand, "shield");
  const child = new Strand(strand.run, "shield", `shield in ${strand.label}`, strand, { shielded: true });
  startStrand(child, body, (outcome) => {
    if (outcome.ok) awaiter.fulfil(outcome.value);
    else awaiter.fail(outcome.error);
  });
  return awaiter.promise;
}
