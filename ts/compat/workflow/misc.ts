// Small functions of `@temporalio/workflow`.
import type { UpdateInfo } from "../context.ts";
import { currentCompatRun, maybeCurrentRun } from "../current.ts";
import { uuid4From } from "./alea.ts";
import type { WorkflowInfo } from "./info.ts";

/**
 * Returns a UUID from the run's random numbers, the same on every replay; a random one outside of
 * workflow code.
 */
export function uuid4(): string {
  const run = maybeCurrentRun();
  return uuid4From(run === undefined ? Math.random : () => run.random());
}

/** Returns the update whose handler is running; undefined without one. */
export function currentUpdateInfo(): UpdateInfo | undefined {
  const run = currentCompatRun(
    "Workflow.currentUpdateInfo(...) may only be used from a Workflow Execution.",
  );
  return run.context.current()?.update;
}

/** Returns whether workflow code is running. */
export function inWorkflowContext(): boolean {
  return maybeCurrentRun() !== undefined;
}

/** Sets the run's details for user interfaces, which query them. */
export function setCurrentDetails(details: string): void {
  currentCompatRun("setCurrentDetails() may only be used from a Workflow Execution.").details =
    details;
}

/** Returns the last value of setCurrentDetails. */
export function getCurrentDetails(): string {
  return currentCompatRun("getCurrentDetails() may only be used from a Workflow Execution.")
    .details;
}

/** Returns information about the run. */
export function workflowInfo(): WorkflowInfo {
  return currentCompatRun("Workflow.workflowInfo(...) may only be used from a Workflow Execution.")
    .info;
}
