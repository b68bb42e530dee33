// Errors that fail a workflow task (not the workflow): the server gives the task again, so that a corrected deployment can go on.
// Each says what is wrong, where, and what to do instead. A handler, branch or try/catch of the user never swallows them: the run
// remembers the first one (run.fail) and fails the activation with it.

import { brand } from "../../converter/brand.ts";
import { describeValue, isA, safeText } from "../../converter/thrown.ts";

/** temporal.api.enums.v1.WorkflowTaskFailedCause */
export const FailedCause = { UNHANDLED_FAILURE: 14, NON_DETERMINISTIC_ERROR: 24 } as const;

/** Fails the workflow task. */
export class WorkflowTaskError extends Error {
  override name = "WorkflowTaskError";
  /** temporal.api.enums.v1.WorkflowTaskFailedCause */
  get failedCause(): number {
    return FailedCause.UNHANDLED_FAILURE;
  }
}

brand("WorkflowTaskError", WorkflowTaskError);

/** A construct was used where the nesting rules forbid it (receive in a branch, spawnAsync in run, ...). */
export class NestingError extends WorkflowTaskError {
  override name = "NestingError";
}

/** The workflow API was used in a way that it does not allow. */
export class MisuseError extends WorkflowTaskError {
  override name = "MisuseError";
}

/** A primitive was called while no turn was active: a host callback woke workflow code. */
export class OutsideTurnError extends WorkflowTaskError {
  override name = "OutsideTurnError";
}

/** Nothing in the run waits on a primitive, so nothing can ever wake it. */
export class DeadlockError extends WorkflowTaskError {
  override name = "DeadlockError";
  readonly code = "DEADLOCK";
}

/** A promise of the user was rejected and nothing handled it. */
export class UnhandledRejectionError extends WorkflowTaskError {
  override name = "UnhandledRejectionError";
}

/** The history lacks what the code asks for. */
export class HistoryMismatchError extends WorkflowTaskError {
  override name = "HistoryMismatchError";
  override get failedCause(): number {
    return FailedCause.NON_DETERMINISTIC_ERROR;
  }
}

/** No program of that name is known to this worker. */
export class UnknownWorkflowError extends WorkflowTaskError {
  override name = "UnknownWorkflowError";
}

/** What workflow code threw that is neither a Temporal failure nor a task error: a bug, which a deployment may correct. */
export function taskErrorOf(thrown: unknown, where: string): Error {
  if (isA(thrown, Error)) return thrown;
  const message = `${where} threw ${
    describeThrown(thrown)
  }, which is not an Error; throw an ApplicationFailure to fail the workflow`;
  const error = new WorkflowTaskError(message);
  // The value has no stack. The frames of this error name where the value was caught, often another line of the user's.
  error.stack = `${error.name}: ${message}`;
  return error;
}

/** Characters of a thrown value that a message quotes. */
const MAX_SHOWN = 10_000;

/** In words. Does not throw, whatever was thrown. */
export function describeThrown(thrown: unknown): string {
  if (typeof thrown === "string") return `the string ${JSON.stringify(safeText(thrown, MAX_SHOWN))}`;
  if (typeof thrown === "function") return "a function";
  return safeText(`${typeof thrown} ${describeValue(thrown)}`, MAX_SHOWN);
}

export function isTaskError(error: unknown): error is WorkflowTaskError {
  return error instanceof WorkflowTaskError;
}
