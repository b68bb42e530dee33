// What deep imports of `@temporalio/workflow/lib/...` lead to: the package, and what Temporal's add-on packages take of its inside.
import { maybeCurrentRun } from "../current.ts";
import { IllegalStateError } from "../common/errors.ts";
import type { WorkflowInfo } from "./info.ts";

export * from "./mod.ts";
export { SdkFlags } from "../flags.ts";

/** Of the official SDK's activator, what others ask it. */
export interface ActivatorLike {
  readonly info: WorkflowInfo;
  hasFlag(flag: { readonly id: number }): boolean;
}

/** The run that is executing. */
export function getActivator(): ActivatorLike {
  const run = maybeCurrentRun();
  if (run === undefined) throw new IllegalStateError("Workflow uninitialized");
  return { info: run.info, hasFlag: ({ id }) => run.hasFlag(id) };
}
