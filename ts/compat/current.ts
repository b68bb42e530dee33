// The run whose code is executing. One activation at a time per realm, so one slot is right for all of it. It lies under Symbol.for, so
// that two copies of this package in one realm do not split it.
import { IllegalStateError } from "./common/errors.ts";
import type { CompatRun } from "./run.ts";

const SLOT = Symbol.for("temporalex.compat.run");
const holder = globalThis as unknown as { [SLOT]?: CompatRun | undefined };

export function maybeCurrentRun(): CompatRun | undefined {
  return holder[SLOT];
}

/** The current run; throws IllegalStateError with the text `message` outside of workflow code. */
export function currentRun(message = "Workflow uninitialized"): CompatRun {
  const run = holder[SLOT];
  if (run === undefined) throw new IllegalStateError(message);
  return run;
}

/** Makes a run the current one, or none; answers the one before. */
export function setCurrentRun(run: CompatRun | undefined): CompatRun | undefined {
  const before = holder[SLOT];
  holder[SLOT] = run;
  return before;
}
