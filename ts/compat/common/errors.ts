// Errors of `@temporalio/common` that are not failures. Names are the official ones; programs test them with instanceof.

/** A value is not what it must be. */
export class ValueError extends Error {
  override name = "ValueError";
  /** What led to it. */
  override readonly cause: unknown;

  constructor(message: string | undefined, cause?: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** A payload cannot be read or written. */
export class PayloadConverterError extends ValueError {
  override name = "PayloadConverterError";
}

/** Something was done at a time or place where it cannot be. */
export class IllegalStateError extends Error {
  override name = "IllegalStateError";
}

/** A workflow with that id is not there. */
export class WorkflowNotFoundError extends Error {
  override name = "WorkflowNotFoundError";
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
  override name = "NamespaceNotFoundError";
  /** The namespace. */
  readonly namespace: string;

  constructor(namespace: string) {
    super(`Namespace not found: '${namespace}'`);
    this.namespace = namespace;
  }
}

/** Workflow code used something that would not be the same on replay. */
export class DeterminismViolationError extends Error {
  override name = "DeterminismViolationError";
}
