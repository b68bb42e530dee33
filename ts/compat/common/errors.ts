// Errors of `@temporalio/common` that are not failures. Names are the official ones; programs test them with instanceof.

import { named } from "./error_names.ts";

/** A value is not what it must be. */
export class ValueError extends Error {
  /** What led to it. */
  override readonly cause: unknown;

  constructor(message: string | undefined, cause?: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** A payload cannot be read or written. */
export class PayloadConverterError extends ValueError {
}

/** Something was done at a time or place where it cannot be. */
export class IllegalStateError extends Error {
}

/** A workflow with that id is not there. */
export class WorkflowNotFoundError extends Error {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Its run, where one was named. */
  readonly runId: string | undefined;

  constructor(message: string, workflowId: string, runId: string | undefined) {
    super(message);
    this.workflowId = workflowId;
    this.runId = runId;
  }
}

/** A namespace is not there. */
export class NamespaceNotFoundError extends Error {
  /** The namespace. */
  readonly namespace: string;

  constructor(namespace: string) {
    super(`Namespace not found: '${namespace}'`);
    this.namespace = namespace;
  }
}

/** Base of the errors of workflow code's own API. */
export class WorkflowError extends Error {
}

/** Workflow code used something that would not be the same on replay. */
export class DeterminismViolationError extends WorkflowError {
}

/** An activity throws it to say that it is completed from elsewhere, with its task token or its id. */
export class CompleteAsyncError extends Error {
}

/** A payload is kept outside, and no external storage is configured here. */
export class ExternalStorageNotConfiguredError extends Error {
  constructor(message = "Detected externally stored payload(s) but external storage is not configured.") {
    super(`[TMPRL1105] ${message}`);
  }
}

named(ValueError, "ValueError");
named(PayloadConverterError, "PayloadConverterError");
named(IllegalStateError, "IllegalStateError");
named(WorkflowNotFoundError, "WorkflowNotFoundError");
named(NamespaceNotFoundError, "NamespaceNotFoundError");
named(WorkflowError, "WorkflowError");
named(DeterminismViolationError, "DeterminismViolationError");
named(CompleteAsyncError, "CompleteAsyncError");
named(ExternalStorageNotConfiguredError, "ExternalStorageNotConfiguredError");
