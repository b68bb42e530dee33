// patched and deprecatePatch (docs/dev/semantics/commands.md#patches): versions of workflow code
// beside each other.
import { currentRun } from "../current.ts";

const OUTSIDE = "Workflow.patch(...) and Workflow.deprecatePatch may only be used from a Workflow Execution.";

/** True where the new code must run: always when live, on replay if the history has the patch. */
export function patched(patchId: string): boolean {
  return currentRun(OUTSIDE).patch(patchId, false);
}

/** Says that no run is left that took the old code. */
export function deprecatePatch(patchId: string): void {
  currentRun(OUTSIDE).patch(patchId, true);
}
