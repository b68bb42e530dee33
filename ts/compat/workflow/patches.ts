// patched and deprecatePatch (docs/dev/semantics/commands.md#patches): versions of workflow code.
import { currentCompatRun } from "../current.ts";
import { encodeGroups } from "./event_groups.ts";

const OUTSIDE =
  "Workflow.patch(...) and Workflow.deprecatePatch may only be used from a Workflow Execution.";

/** Returns whether the new code must run: always when live, on replay if history has the patch. */
export function patched(patchId: string): boolean {
  const run = currentCompatRun(OUTSIDE);
  return run.patch(patchId, false, encodeGroups(run));
}

/** Declares that no run of the old code is left. */
export function deprecatePatch(patchId: string): void {
  const run = currentCompatRun(OUTSIDE);
  run.patch(patchId, true, encodeGroups(run));
}
