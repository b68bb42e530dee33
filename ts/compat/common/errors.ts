// Errors of `@temporalio/common` that are not failures, with the official names; programs use
// instanceof.

import { defineErrorName } from "./error_names.ts";

/** A value is invalid. */
export class ValueError extends Error {
  override readonly cause: unknown;

  constructor(message: string | undefined, cause?: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** A payload cannot be encoded or decoded. */
export class PayloadConverterError extends ValueError {
}

/** An operation is not allowed in the current state. */
export class IllegalStateError extends Error {
}

/** No workflow with that id exists. */
export class WorkflowNotFoundError extends Error {
  readonly workflowId: string;
  /** Run in the call, if any. */
  readonly runId: string | undefined;

  constructor(message: string, workflowId: string, runId: string | undefined) {
    super(message);
    this.workflowId = workflowId;
    this.runId = runId;
  }
}

/** The namespace does not exist. */
export class NamespaceNotFoundError extends Error {
  readonly namespace: string;

  constructor(namespace: string) {
    super(`Namespace not found: '${namespace}'`);
    this.namespace = namespace;
  }
}

/** Base class of errors of the workflow API. */
export class WorkflowError extends Error {
}

/** Workflow code used an API that is not deterministic. */
export class DeterminismViolationError extends WorkflowError {
}

/** Thrown by an activity to be completed from outside, by task token or id. */
export class CompleteAsyncError extends Error {
}

/** A payload is in external storage, which is not configured here. */
export class ExternalStorageNotConfiguredError extends Error {
  constructor(
    message = "Detected externally stored payload(s) but external storage is not configured.",
  ) {
    super(`[TMPRL1105] ${message}`);
  }
}

defineErrorName(ValueError, "ValueError");
defineErrorName(PayloadConverterError, "PayloadConverterError");
defineErrorName(IllegalStateError, "IllegalStateError");
defineErrorName(WorkflowNotFoundError, "WorkflowNotFoundError");
defineErrorName(NamespaceNotFoundError, "NamespaceNotFoundError");
defineErrorName(WorkflowError, "WorkflowError");
defineErrorName(DeterminismViolationError, "DeterminismViolationError");
defineErrorName(CompleteAsyncError, "CompleteAsyncError");
defineErrorName(ExternalStorageNotConfiguredError, "ExternalStorageNotConfiguredError");
