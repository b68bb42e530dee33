// Errors that fail a workflow task, not the workflow: the server retries the task, so that a
// corrected deployment can continue. Handlers, branches and try/catch of the user never swallow
// them: the run remembers the first one (run.fail) and fails the activation.

import { brand } from "../../converter/brand.ts";
import { describeValue, isA, safeText, setStack } from "../../converter/thrown.ts";

/** temporal.api.enums.v1.WorkflowTaskFailedCause */
export const FailedCause = { UNHANDLED_FAILURE: 14, NON_DETERMINISTIC_ERROR: 24 } as const;

/** An error that fails the workflow task. */
export class WorkflowTaskError extends Error {
  override name = "WorkflowTaskError";
  /** temporal.api.enums.v1.WorkflowTaskFailedCause */
  get failedCause(): number {
    return FailedCause.UNHANDLED_FAILURE;
  }
}

brand("WorkflowTaskError", WorkflowTaskError);

/**
 * A construct was used where the nesting rules forbid it (receive in a branch, spawnAsync in run,
 * ...).
 */
export class NestingError extends WorkflowTaskError {
  override name = "NestingError";
}

/** The workflow API was used in a way that is not allowed. */
export class MisuseError extends WorkflowTaskError {
  override name = "MisuseError";
}

/** A primitive was called outside a turn: a host callback woke workflow code. */
export class OutsideTurnError extends WorkflowTaskError {
  override name = "OutsideTurnError";
}

/** No primitive of the run is awaited, so nothing can wake it. */
export class DeadlockError extends WorkflowTaskError {
  override name = "DeadlockError";
  readonly code = "DEADLOCK";
}

/** A promise was rejected without a handler. */
export class UnhandledRejectionError extends WorkflowTaskError {
  override name = "UnhandledRejectionError";
}

/** The history lacks an entry that the code needs. */
export class HistoryMismatchError extends WorkflowTaskError {
  override name = "HistoryMismatchError";
  override get failedCause(): number {
    return FailedCause.NON_DETERMINISTIC_ERROR;
  }
}

/** The worker has no workflow with this name. */
export class UnknownWorkflowError extends WorkflowTaskError {
  override name = "UnknownWorkflowError";
}

/**
 * Converts an error that is neither a Temporal failure nor a task error: a bug to fix by a
 * deployment.
 */
export function taskErrorOf(thrown: unknown, where: string): Error {
  if (isA(thrown, Error)) return thrown;
  const message = `${where} threw ${
    describeThrown(thrown)
  }, which is not an Error; throw an ApplicationFailure to fail the workflow`;
  const error = new WorkflowTaskError(message);
  // The value has no stack, and the frames of this error show where it was caught.
  setStack(error, `${error.name}: ${message}`);
  return error;
}

/** Maximum characters of a thrown value in a message. */
const MAX_SHOWN = 10_000;

/** Describes a thrown value. Never throws. */
export function describeThrown(thrown: unknown): string {
  if (typeof thrown === "string") {
    return `the string ${JSON.stringify(safeText(thrown, MAX_SHOWN))}`;
  }
  if (typeof thrown === "function") return "a function";
  if (thrown === undefined || thrown === null) return String(thrown);
  return safeText(`${typeof thrown} ${describeValue(thrown)}`, MAX_SHOWN);
}

export function isTaskError(error: unknown): error is WorkflowTaskError {
  return error instanceof WorkflowTaskError;
}
