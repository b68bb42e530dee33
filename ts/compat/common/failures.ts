// Failures in the shape of `@temporalio/common`: the same class names, constructors and fields, so that programs written for it work
// and can test with instanceof. All of them are TemporalFailures of ts/converter too. `failure` is the message that one was read from, so
// that a failure that passes through keeps what another SDK put in.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { TemporalFailure as ConverterFailure } from "../../converter/failures.ts";
import { findCause, isA, messageOf, nameOf } from "../../converter/thrown.ts";
import { named } from "./error_names.ts";
import { type InBothSpellings, inBothSpellings } from "./options.ts";
import { madeOf } from "./originals.ts";
import type { Duration } from "./time.ts";

const TIMEOUTS = ["START_TO_CLOSE", "SCHEDULE_TO_START", "SCHEDULE_TO_CLOSE", "HEARTBEAT"] as const;
/** Which time was up. */
export const TimeoutType: InBothSpellings<"TIMEOUT_TYPE_", TimeoutType> = inBothSpellings("TIMEOUT_TYPE_", TIMEOUTS);
/** Which time was up. */
export type TimeoutType = (typeof TIMEOUTS)[number];

const RETRY_STATES = [
  ...["IN_PROGRESS", "NON_RETRYABLE_FAILURE", "TIMEOUT", "MAXIMUM_ATTEMPTS_REACHED", "RETRY_POLICY_NOT_SET"] as const,
  ...["INTERNAL_SERVER_ERROR", "CANCEL_REQUESTED"] as const,
];
/** Why there is no further attempt. */
export const RetryState: InBothSpellings<"RETRY_STATE_", RetryState> = inBothSpellings("RETRY_STATE_", RETRY_STATES);
/** Why there is no further attempt. */
export type RetryState = (typeof RETRY_STATES)[number];

/** How serious an application failure is: "BENIGN" ones are expected. */
export const ApplicationFailureCategory = { BENIGN: "BENIGN" } as const;
/** How serious an application failure is: "BENIGN" ones are expected. */
export type ApplicationFailureCategory = keyof typeof ApplicationFailureCategory;

/** Who made a failure: what this package writes. */
export const FAILURE_SOURCE = "TypeScriptSDK";

/** A run of a workflow. */
export interface WorkflowExecution {
  /** Id of the workflow. */
  workflowId: string;
  /** Id of the run. */
  runId: string;
}

/** Base of all failures. */
export class TemporalFailure extends ConverterFailure {
  /** What led to it. */
  override readonly cause: Error | undefined;

  constructor(message?: string | null, cause?: Error) {
    super(message ?? undefined);
    // Fields of the product's class that the official one does not have.
    delete (this as { name?: string }).name;
    delete this.source;
    // The order that the official fields are printed in.
    delete this.failure;
    this.cause = cause;
    this.failure = undefined;
  }
}

/** Made by the server. */
export class ServerFailure extends TemporalFailure {
  /** Another attempt cannot help. */
  readonly nonRetryable: boolean;

  constructor(message: string | undefined, nonRetryable: boolean, cause?: Error) {
    super(message, cause);
    this.nonRetryable = nonRetryable;
  }
}

/** Fields of an application failure. */
export interface ApplicationFailureOptions {
  /** For people. */
  message?: string;
  /** What retry policies and callers match on. Default: "Error", or the class of what was thrown. */
  type?: string;
  /** Another attempt cannot help. */
  nonRetryable?: boolean;
  /** Values for the code that catches it. */
  details?: unknown[];
  /** Time until the next attempt, in place of the retry policy's. */
  nextRetryDelay?: Duration;
  /** What led to it. */
  cause?: Error;
  /** How serious it is. */
  category?: ApplicationFailureCategory;
}

const APPLICATION_FAILURE: OptionNames<ApplicationFailureOptions> = {
  ...{ message: 1, type: 1, nonRetryable: 1, details: 1, cause: 1, nextRetryDelay: 1, category: 1 },
};

/** What workflows and activities throw to fail with a meaning. */
export class ApplicationFailure extends TemporalFailure {
  /** What retry policies and callers match on. Default: "Error", or the class of what was thrown. */
  readonly type: string | undefined | null;
  /** Another attempt cannot help. */
  readonly nonRetryable: boolean | undefined | null;
  /** Values for the code that catches it. */
  readonly details: unknown[] | undefined | null;
  /** Time until the next attempt, in place of the retry policy's. */
  readonly nextRetryDelay: Duration | undefined | null;
  /** How serious it is. */
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

  /** The same error if it is one already, with the given fields set; otherwise one with its message, class name and stack. */
  static fromError(error: unknown, overrides?: ApplicationFailureOptions): ApplicationFailure {
    return Object.assign(ensureApplicationFailure(error), overrides);
  }

  /** One with these fields. */
  static create(options: ApplicationFailureOptions): ApplicationFailure {
    rejectMisspelledOptions("ApplicationFailure.create", options, APPLICATION_FAILURE);
    const { message, type, nonRetryable, details, cause, nextRetryDelay, category } = options;
    return new this(message, type, nonRetryable ?? false, details, cause, nextRetryDelay, category);
  }

  /** One that may be tried again, as far as the retry policy allows. */
  static retryable(message?: string | null, type?: string | null, ...details: unknown[]): ApplicationFailure {
    return new this(message, type ?? "Error", false, details);
  }

  /** One that is not tried again. */
  static nonRetryable(message?: string | null, type?: string | null, ...details: unknown[]): ApplicationFailure {
    return new this(message, type ?? "Error", true, details);
  }
}

/** The workflow, a scope of it, or an activity was cancelled. */
export class CancelledFailure extends TemporalFailure {
  /** Values for the code that catches it. */
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
  /** What the activity reported last. */
  readonly lastHeartbeatDetails: unknown;
  /** Which time was up. */
  readonly timeoutType: TimeoutType | undefined;

  constructor(message: string | undefined, lastHeartbeatDetails: unknown, timeoutType: TimeoutType | undefined) {
    super(message);
    this.lastHeartbeatDetails = lastHeartbeatDetails;
    this.timeoutType = timeoutType;
  }
}

/** An activity failed, timed out or was cancelled; `cause` says how. */
export class ActivityFailure extends TemporalFailure {
  /** Type of the activity. */
  readonly activityType: string;
  /** Its id. */
  readonly activityId: string | undefined;
  /** Why there is no further attempt. */
  readonly retryState: RetryState | undefined;
  /** The worker that ran it. */
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

/** A child workflow failed, timed out, was cancelled or terminated; `cause` says how. */
export class ChildWorkflowFailure extends TemporalFailure {
  /** Namespace of the child. */
  readonly namespace: string | undefined;
  /** The child's run. */
  readonly execution: WorkflowExecution;
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Why there is no further attempt. */
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

/** A workflow with that id is running already. */
export class WorkflowExecutionAlreadyStartedError extends TemporalFailure {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Type of the workflow. */
  readonly workflowType: string;

  constructor(message: string, workflowId: string, workflowType: string) {
    super(message);
    this.workflowId = workflowId;
    this.workflowType = workflowType;
  }
}

/** An operation of Nexus failed, timed out or was cancelled; `cause` says how. */
export class NexusOperationFailure extends TemporalFailure {
  /** Number of the event that scheduled it. */
  readonly scheduledEventId: number | undefined;
  /** The endpoint. */
  readonly endpoint: string;
  /** The service. */
  readonly service: string;
  /** The operation. */
  readonly operation: string;
  /** What the handler calls the operation. */
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

named(TemporalFailure, "TemporalFailure");
named(ServerFailure, "ServerFailure");
named(ApplicationFailure, "ApplicationFailure");
named(CancelledFailure, "CancelledFailure");
named(TerminatedFailure, "TerminatedFailure");
named(TimeoutFailure, "TimeoutFailure");
named(ActivityFailure, "ActivityFailure");
named(ChildWorkflowFailure, "ChildWorkflowFailure");
named(WorkflowExecutionAlreadyStartedError, "WorkflowExecutionAlreadyStartedError");
named(NexusOperationFailure, "NexusOperationFailure");

/** A failure for a payload that is not what it must be: not tried again. */
export function createPayloadValidationError(details: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    message: "Payload validation failed",
    type: "PayloadValidationError",
    nonRetryable: true,
    details: details === undefined || details === null ? [] : [details],
  });
}

/** An ApplicationFailure as it is; anything else as one of its message and class name, retryable. */
export function ensureApplicationFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const record = typeof error === "object" && error !== null ? error as Partial<Error> : undefined;
  try {
    const failure = new ApplicationFailure(
      record?.message ? String(record.message) : String(error),
      record?.constructor?.name ?? record?.name,
      false,
    );
    failure.stack = record?.stack ? String(record.stack) : "";
    if (isA(error, Error)) madeOf(failure, error);
    return failure;
  } catch {
    // A proxy or getter that throws when it is read.
    return new ApplicationFailure(messageOf(error), nameOf(error), false);
  }
}

/** A TemporalFailure as it is; anything else as an ApplicationFailure. */
export function ensureTemporalFailure(error: unknown): TemporalFailure {
  return error instanceof TemporalFailure ? error : ensureApplicationFailure(error);
}

/** The message of the innermost cause. */
export function rootCause(error: unknown): string | undefined {
  let root = error;
  findCause(error, (part) => {
    root = part;
    return !(part instanceof TemporalFailure && part.cause !== undefined);
  });
  if (typeof root === "string") return root;
  return isA(root, Error) ? messageOf(root) : undefined;
}

/** A cancellation itself, or an activity or child workflow failure whose direct cause is one. */
export function isCancellation(error: unknown): boolean {
  if (error instanceof CancelledFailure) return true;
  const wraps = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ||
    error instanceof NexusOperationFailure;
  return wraps && error.cause instanceof CancelledFailure;
}
