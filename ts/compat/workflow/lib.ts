// Exports for deep imports of `@temporalio/workflow/lib/...`: the package, and internals that
// Temporal's add-on packages use.
import { maybeCurrentRun } from "../current.ts";
import { IllegalStateError } from "../common/errors.ts";
import type { WorkflowInfo } from "./info.ts";

export * from "./mod.ts";
export { SdkFlags } from "../flags.ts";

/** The part of the official SDK's activator that others use. */
export interface ActivatorLike {
  readonly info: WorkflowInfo;
  hasFlag(flag: { readonly id: number }): boolean;
}

/** Returns the current run. */
export function getActivator(): ActivatorLike {
  const run = maybeCurrentRun();
  if (run === undefined) throw new IllegalStateError("Workflow uninitialized");
  return { info: run.info, hasFlag: ({ id }) => run.hasFlag(id) };
}
