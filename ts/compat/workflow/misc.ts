// Small functions of `@temporalio/workflow` that have no file of their own.
import type { UpdateInfo } from "../context.ts";
import { currentCompatRun, maybeCurrentRun } from "../current.ts";
import { uuid4From } from "./alea.ts";
import type { WorkflowInfo } from "./info.ts";

/** A UUID from the run's own random numbers, the same on every replay. Outside of workflow code an ordinary one. */
export function uuid4(): string {
  const run = maybeCurrentRun();
  return uuid4From(run === undefined ? Math.random : () => run.random());
}

/** The update whose handler is running, if any. */
export function currentUpdateInfo(): UpdateInfo | undefined {
  const run = currentCompatRun("Workflow.currentUpdateInfo(...) may only be used from a Workflow Execution.");
  return run.context.current()?.update;
}

/** Whether workflow code is running. */
export function inWorkflowContext(): boolean {
  return maybeCurrentRun() !== undefined;
}

/** The text that user interfaces show for the run; asked for by query. */
export function setCurrentDetails(details: string): void {
  currentCompatRun("setCurrentDetails() may only be used from a Workflow Execution.").details = details;
}

/** What setCurrentDetails was given last. */
export function getCurrentDetails(): string {
  return currentCompatRun("getCurrentDetails() may only be used from a Workflow Execution.").details;
}

/** What the run knows about itself. */
export function workflowInfo(): WorkflowInfo {
  return currentCompatRun("Workflow.workflowInfo(...) may only be used from a Workflow Execution.").info;
}
