// The run whose code is executing. One activation at a time per realm, so one slot is right for all of it. It lies under Symbol.for, so
// that two copies of this package in one realm do not split it; in an object of its own, because a realm's global object is sealed.
import { IllegalStateError } from "./common/errors.ts";
import type { CompatRun } from "./run.ts";

const key = Symbol.for("temporalex.compat.run");
interface Holder {
  run: CompatRun | undefined;
}
const holder: Holder = (globalThis as unknown as { [key]?: Holder })[key] ??= { run: undefined };

export function maybeCurrentRun(): CompatRun | undefined {
  return holder.run;
}

/** The current run; throws IllegalStateError with the text `message` outside of workflow code. */
export function currentCompatRun(message = "Workflow uninitialized"): CompatRun {
  const { run } = holder;
  if (run === undefined) throw new IllegalStateError(message);
  return run;
}

/** Makes a run the current one, or none; returns the one before. */
export function setCurrentRun(run: CompatRun | undefined): CompatRun | undefined {
  const before = holder.run;
  holder.run = run;
  return before;
}
