// The run whose code is executing; a realm has one activation at a time. Under Symbol.for, so that
// two copies of this package in one realm share it, and in a separate object, because a realm's
// global object is sealed.
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

/** Returns the current run. Throws IllegalStateError with `message` outside of workflow code. */
export function currentCompatRun(message = "Workflow uninitialized"): CompatRun {
  const { run } = holder;
  if (run === undefined) throw new IllegalStateError(message);
  return run;
}

/** Sets the current run; returns the previous one. */
export function setCurrentRun(run: CompatRun | undefined): CompatRun | undefined {
  const before = holder.run;
  holder.run = run;
  return before;
}
