// Failures of `@temporalio/common`, with the same class names, constructors and fields, so that
// instanceof works. All are TemporalFailures of ts/converter as well. `failure` is the message that
// one was decoded from, so that a failure passed on loses nothing that another SDK added.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { TemporalFailure as ConverterFailure } from "../../converter/failures.ts";
import { findCause, isA, messageOf, nameOf, setStack } from "../../converter/thrown.ts";
import { defineErrorName } from "./error_names.ts";
import { type InBothSpellings, inBothSpellings } from "./options.ts";
import { recordOriginal } from "./originals.ts";
import type { Duration } from "./time.ts";

const TIMEOUTS = ["START_TO_CLOSE", "SCHEDULE_TO_START", "SCHEDULE_TO_CLOSE", "HEARTBEAT"] as const;
/** The exceeded timeout. */
export const TimeoutType: InBothSpellings<"TIMEOUT_TYPE_", TimeoutType> = inBothSpellings(
  "TIMEOUT_TYPE_",
  TIMEOUTS,
);
/** The exceeded timeout. */
export type TimeoutType = (typeof TIMEOUTS)[number];

const RETRY_STATES = [
  ...[
    "IN_PROGRESS",
    "NON_RETRYABLE_FAILURE",
    "TIMEOUT",
    "MAXIMUM_ATTEMPTS_REACHED",
    "RETRY_POLICY_NOT_SET",
  ] as const,
  ...["INTERNAL_SERVER_ERROR", "CANCEL_REQUESTED"] as const,
];
/** Reason why no further attempt follows. */
export const RetryState: InBothSpellings<"RETRY_STATE_", RetryState> = inBothSpellings(
  "RETRY_STATE_",
  RETRY_STATES,
);
/** Reason why no further attempt follows. */
export type RetryState = (typeof RETRY_STATES)[number];

/** Category of an application failure: "BENIGN" ones are expected. */
export const ApplicationFailureCategory = { BENIGN: "BENIGN" } as const;
/** Category of an application failure: "BENIGN" ones are expected. */
export type ApplicationFailureCategory = keyof typeof ApplicationFailureCategory;

/** SDK name in failures of this package. */
export const FAILURE_SOURCE = "TypeScriptSDK";

/** A run of a workflow. */
export interface WorkflowExecution {
  workflowId: string;
  runId: string;
}

/** Base class of failures. */
export class TemporalFailure extends ConverterFailure {
  override readonly cause: Error | undefined;

  constructor(message?: string | null, cause?: Error) {
    super(message ?? undefined);
    // Fields of the native class that the official one lacks.
    delete (this as { name?: string }).name;
    delete this.source;
    // Keeps the order in which the official fields are printed.
    delete this.failure;
    this.cause = cause;
    this.failure = undefined;
  }
}

/** A failure of the server. */
export class ServerFailure extends TemporalFailure {
  /** True if a retry cannot succeed. */
  readonly nonRetryable: boolean;

  constructor(message: string | undefined, nonRetryable: boolean, cause?: Error) {
    super(message, cause);
    this.nonRetryable = nonRetryable;
  }
}

/** Options of an application failure. */
export interface ApplicationFailureOptions {
  message?: string;
  /** Name for retry policies and callers. Default: "Error", or the class of the thrown error. */
  type?: string;
  /** Disables retries. */
  nonRetryable?: boolean;
  /** Data for the code that catches the failure. */
  details?: unknown[];
  /** Delay before the next attempt; overrides the retry policy. */
  nextRetryDelay?: Duration;
  cause?: Error;
  category?: ApplicationFailureCategory;
}

const APPLICATION_FAILURE: OptionNames<ApplicationFailureOptions> = {
  ...{ message: 1, type: 1, nonRetryable: 1, details: 1, cause: 1, nextRetryDelay: 1, category: 1 },
};

/** Failure of a workflow or activity with a type and details. */
export class ApplicationFailure extends TemporalFailure {
  /** Name for retry policies and callers. Default: "Error", or the class of the thrown error. */
  readonly type: string | undefined | null;
  /** True if retries are disabled. */
  readonly nonRetryable: boolean | undefined | null;
  /** Data for the code that catches the failure. */
  readonly details: unknown[] | undefined | null;
  /** Delay before the next attempt; overrides the retry policy. */
  readonly nextRetryDelay: Duration | undefined | null;
  readonly category: ApplicationFailureCategory | undefined | null;

  constructor(
    message?: string | null,
    type?: string | null,
    nonRetryable?: boolean | null,
    details?: unknown[] | null,
    cause?: Error,
    nextRetryDelay?: Duration | null,
    category?: ApplicationFailureCategory | null,
  ) {
    super(message, cause);
    this.type = type;
    this.nonRetryable = nonRetryable;
    this.details = details;
    this.nextRetryDelay = nextRetryDelay;
    this.category = category;
  }

  /**
   * Returns the same failure with the given fields, or a failure with the error's message, class
   * name and stack.
   */
  static fromError(error: unknown, overrides?: ApplicationFailureOptions): ApplicationFailure {
    return Object.assign(ensureApplicationFailure(error), overrides);
  }

  /** Returns a failure with these fields. */
  static create(options: ApplicationFailureOptions): ApplicationFailure {
    rejectMisspelledOptions("ApplicationFailure.create", options, APPLICATION_FAILURE);
    const { message, type, nonRetryable, details, cause, nextRetryDelay, category } = options;
    return new this(message, type, nonRetryable ?? false, details, cause, nextRetryDelay, category);
  }

  /** Returns a failure that the retry policy may retry. */
  static retryable(
    message?: string | null,
    type?: string | null,
    ...details: unknown[]
  ): ApplicationFailure {
    return new this(message, type ?? "Error", false, details);
  }

  /** Returns a failure that is not retried. */
  static nonRetryable(
    message?: string | null,
    type?: string | null,
    ...details: unknown[]
  ): ApplicationFailure {
    return new this(message, type ?? "Error", true, details);
  }
}

/** The workflow, a scope, or an activity was canceled. */
export class CancelledFailure extends TemporalFailure {
  /** Data for the code that catches the failure. */
  readonly details: unknown[];

  constructor(message: string | undefined, details: unknown[] = [], cause?: Error) {
    super(message, cause);
    this.details = details;
  }
}

/** The workflow was terminated. */
export class TerminatedFailure extends TemporalFailure {
  constructor(message: string | undefined, cause?: Error) {
    super(message, cause);
  }
}

/** A timeout of an activity or a run. */
export class TimeoutFailure extends TemporalFailure {
  /** Details of the activity's last heartbeat. */
  readonly lastHeartbeatDetails: unknown;
  /** The exceeded timeout. */
  readonly timeoutType: TimeoutType | undefined;

  constructor(
    message: string | undefined,
    lastHeartbeatDetails: unknown,
    timeoutType: TimeoutType | undefined,
  ) {
    super(message);
    this.lastHeartbeatDetails = lastHeartbeatDetails;
    this.timeoutType = timeoutType;
  }
}

/** An activity failed, timed out or was canceled; `cause` has the reason. */
export class ActivityFailure extends TemporalFailure {
  readonly activityType: string;
  readonly activityId: string | undefined;
  /** Reason why no further attempt follows. */
  readonly retryState: RetryState | undefined;
  /** Identity of the worker. */
  readonly identity: string | undefined;

  constructor(
    message: string | undefined,
    activityType: string,
    activityId: string | undefined,
    retryState: RetryState | undefined,
    identity: string | undefined,
    cause?: Error,
  ) {
    super(message, cause);
    this.activityType = activityType;
    this.activityId = activityId;
    this.retryState = retryState;
    this.identity = identity;
  }
}

/** A child workflow failed, timed out, was canceled or terminated; `cause` has the reason. */
export class ChildWorkflowFailure extends TemporalFailure {
  readonly namespace: string | undefined;
  /** Ids of the child. */
  readonly execution: WorkflowExecution;
  readonly workflowType: string;
  /** Reason why no further attempt follows. */
  readonly retryState: RetryState | undefined;

  constructor(
    namespace: string | undefined,
    execution: WorkflowExecution,
    workflowType: string,
    retryState: RetryState | undefined,
    cause?: Error,
  ) {
    super("Child Workflow execution failed", cause);
    this.namespace = namespace;
    this.execution = execution;
    this.workflowType = workflowType;
    this.retryState = retryState;
  }
}

/** A workflow with that id is running. */
export class WorkflowExecutionAlreadyStartedError extends TemporalFailure {
  readonly workflowId: string;
  readonly workflowType: string;

  constructor(message: string, workflowId: string, workflowType: string) {
    super(message);
    this.workflowId = workflowId;
    this.workflowType = workflowType;
  }
}

/** A Nexus operation failed, timed out or was canceled; `cause` has the reason. */
export class NexusOperationFailure extends TemporalFailure {
  readonly scheduledEventId: number | undefined;
  readonly endpoint: string;
  readonly service: string;
  readonly operation: string;
  /** Token from the handler. */
  readonly operationToken: string | undefined;

  constructor(
    message: string | undefined,
    scheduledEventId: number | undefined,
    endpoint: string,
    service: string,
    operation: string,
    operationToken: string | undefined,
    cause?: Error,
  ) {
    super(message, cause);
    this.scheduledEventId = scheduledEventId;
    this.endpoint = endpoint;
    this.service = service;
    this.operation = operation;
    this.operationToken = operationToken;
  }
}

defineErrorName(TemporalFailure, "TemporalFailure");
defineErrorName(ServerFailure, "ServerFailure");
defineErrorName(ApplicationFailure, "ApplicationFailure");
defineErrorName(CancelledFailure, "CancelledFailure");
defineErrorName(TerminatedFailure, "TerminatedFailure");
defineErrorName(TimeoutFailure, "TimeoutFailure");
defineErrorName(ActivityFailure, "ActivityFailure");
defineErrorName(ChildWorkflowFailure, "ChildWorkflowFailure");
defineErrorName(WorkflowExecutionAlreadyStartedError, "WorkflowExecutionAlreadyStartedError");
defineErrorName(NexusOperationFailure, "NexusOperationFailure");

/** Returns the failure for an invalid payload, which is not retried. */
export function createPayloadValidationError(details: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    message: "Payload validation failed",
    type: "PayloadValidationError",
    nonRetryable: true,
    details: details === undefined || details === null ? [] : [details],
  });
}

/**
 * Returns an ApplicationFailure unchanged; converts other errors to a retryable one with their
 * message and class name.
 */
export function ensureApplicationFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const record = typeof error === "object" && error !== null ? error as Partial<Error> : undefined;
  try {
    const failure = new ApplicationFailure(
      record?.message ? String(record.message) : String(error),
      record?.constructor?.name ?? record?.name,
      false,
    );
    setStack(failure, record?.stack ? String(record.stack) : "");
    if (isA(error, Error)) recordOriginal(failure, error);
    return failure;
  } catch {
    // A proxy or getter that throws.
    return new ApplicationFailure(messageOf(error), nameOf(error), false);
  }
}

/** Returns a TemporalFailure unchanged; converts other errors to an ApplicationFailure. */
export function ensureTemporalFailure(error: unknown): TemporalFailure {
  return error instanceof TemporalFailure ? error : ensureApplicationFailure(error);
}

/** Returns the message of the innermost cause. */
export function rootCause(error: unknown): string | undefined {
  let root = error;
  findCause(error, (part) => {
    root = part;
    return !(part instanceof TemporalFailure && part.cause !== undefined);
  });
  if (typeof root === "string") return root;
  return isA(root, Error) ? messageOf(root) : undefined;
}

/**
 * Returns whether an error is a cancellation, or an activity or child workflow failure directly
 * caused by one.
 */
export function isCancellation(error: unknown): boolean {
  if (error instanceof CancelledFailure) return true;
  const wraps = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ||
    error instanceof NexusOperationFailure;
  return wraps && error.cause instanceof CancelledFailure;
}
