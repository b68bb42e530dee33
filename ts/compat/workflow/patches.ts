// patched and deprecatePatch (docs/dev/semantics/commands.md#patches): versions of workflow code
// beside each other.
import { currentCompatRun } from "../current.ts";
import { groupsOf } from "./event_groups.ts";

const OUTSIDE = "Workflow.patch(...) and Workflow.deprecatePatch may only be used from a Workflow Execution.";

/** True where the new code must run: always when live, on replay if the history has the patch. */
export function patched(patchId: string): boolean {
  const run = currentCompatRun(OUTSIDE);
  return run.patch(patchId, false, groupsOf(run));
}

/** Says that no run is left that took the old code. */
export function deprecatePatch(patchId: string): void {
  const run = currentCompatRun(OUTSIDE);
  run.patch(patchId, true, groupsOf(run));
}
