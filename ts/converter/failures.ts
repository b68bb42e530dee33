// The failures of Temporal as error classes. Names and fields are Temporal's; each knows the Failure message it came from, so that a
// failure that passes through keeps everything another SDK put in.

import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { brand } from "./brand.ts";
import { findCause, isA } from "./thrown.ts";

/** The stages at which a retry policy stops, temporal.api.enums.v1.RetryState. */
export type RetryState =
  | "IN_PROGRESS"
  | "NON_RETRYABLE_FAILURE"
  | "TIMEOUT"
  | "MAXIMUM_ATTEMPTS_REACHED"
  | "RETRY_POLICY_NOT_SET"
  | "INTERNAL_SERVER_ERROR"
  | "CANCEL_REQUESTED";

/** temporal.api.enums.v1.TimeoutType */
export type TimeoutType = "START_TO_CLOSE" | "SCHEDULE_TO_START" | "SCHEDULE_TO_CLOSE" | "HEARTBEAT";

/** Base of everything that crosses between workflows, activities and clients as a Failure. */
export class TemporalFailure extends Error {
  override name = "TemporalFailure";
  /** Who made it ("GoSDK", "TypeScriptSDK", ...); empty for our own. */
  source?: string;
  /** The encoded Failure it was read from. */
  failure?: Uint8Array;

  constructor(message?: string, options?: ErrorOptions) {
    super(message ?? "", options);
  }
}

/** Options of an {@link ApplicationFailure}. */
export interface ApplicationFailureOptions {
  /** Name that retry policies and callers match on. */
  type?: string;
  /** Retrying cannot help. */
  nonRetryable?: boolean;
  /** Plain data for the code that catches it. */
  details?: unknown[];
  /** Delay before the next attempt in milliseconds; overrides the retry policy once. */
  nextRetryDelayMs?: number;
  /** What led to it; travels with it. */
  cause?: unknown;
}

const APPLICATION_FAILURE_OPTIONS: OptionNames<ApplicationFailureOptions> = {
  ...{ type: 1, nonRetryable: 1, details: 1, nextRetryDelayMs: 1, cause: 1 },
};

/** What workflow and activity code throws to fail with a meaning. Thrown by a workflow it fails the workflow, not its task. */
export class ApplicationFailure extends TemporalFailure {
  override name = "ApplicationFailure";
  /** Name that retry policies and callers match on. */
  readonly type: string | undefined;
  /** Retrying cannot help. */
  readonly nonRetryable: boolean;
  /** Plain data for the code that catches it. */
  readonly details: unknown[];
  /** Delay before the next attempt in milliseconds, instead of the retry policy's; undefined: the policy's. */
  readonly nextRetryDelayMs: number | undefined;

  constructor(message?: string, options: ApplicationFailureOptions = {}) {
    super(message, { cause: options.cause });
    rejectUnknownOptions("ApplicationFailure", options, APPLICATION_FAILURE_OPTIONS);
    this.type = options.type;
    this.nonRetryable = options.nonRetryable ?? false;
    this.details = options.details ?? [];
    this.nextRetryDelayMs = options.nextRetryDelayMs;
  }

  /** One that may be tried again, as far as the retry policy allows. */
  static retryable(message?: string, options?: Omit<ApplicationFailureOptions, "nonRetryable">): ApplicationFailure {
    return new ApplicationFailure(message, { ...options, nonRetryable: false });
  }

  /** One that is not tried again. */
  static nonRetryable(message?: string, options?: Omit<ApplicationFailureOptions, "nonRetryable">): ApplicationFailure {
    return new ApplicationFailure(message, { ...options, nonRetryable: true });
  }
}

/** The workflow, scope or activity was cancelled. */
export class CancelledFailure extends TemporalFailure {
  override name = "CancelledFailure";
  /** What the canceller or the cancelled activity gave with it. */
  readonly details: unknown[];

  constructor(message = "Cancelled", details: unknown[] = [], options?: ErrorOptions) {
    super(message, options);
    this.details = details;
  }
}

/** The workflow was terminated. */
export class TerminatedFailure extends TemporalFailure {
  override name = "TerminatedFailure";
}

/** A timeout of an activity or a run. */
export class TimeoutFailure extends TemporalFailure {
  override name = "TimeoutFailure";
  /** Which limit passed; undefined when the service does not say. */
  readonly timeoutType: TimeoutType | undefined;
  /** What the activity reported last, decoded; undefined when it reported nothing. */
  readonly lastHeartbeatDetails: unknown;

  constructor(
    message: string | undefined,
    timeoutType: TimeoutType | undefined,
    lastHeartbeatDetails?: unknown,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.timeoutType = timeoutType;
    this.lastHeartbeatDetails = lastHeartbeatDetails;
  }
}

/** The server says that it failed. */
export class ServerFailure extends TemporalFailure {
  override name = "ServerFailure";
  /** Asking again cannot help. */
  readonly nonRetryable: boolean;

  constructor(message: string | undefined, nonRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.nonRetryable = nonRetryable;
  }
}

/** An activity failed, timed out or was cancelled; `cause` says how. */
export class ActivityFailure extends TemporalFailure {
  override name = "ActivityFailure";
  /** Name of the activity. */
  readonly activityType: string;
  /** Its id within the run. */
  readonly activityId: string;
  /** Why there is no further attempt. */
  readonly retryState: RetryState | undefined;
  /** Who had the last attempt. */
  readonly identity: string;

  constructor(
    message: string | undefined,
    fields: { activityType: string; activityId: string; retryState?: RetryState; identity?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.activityType = fields.activityType;
    this.activityId = fields.activityId;
    this.retryState = fields.retryState;
    this.identity = fields.identity ?? "";
  }
}

/** A child workflow failed, timed out, was cancelled or terminated; `cause` says how. */
export class ChildWorkflowFailure extends TemporalFailure {
  override name = "ChildWorkflowFailure";
  /** Type of the child. */
  readonly workflowType: string;
  /** Id of the child. */
  readonly workflowId: string;
  /** Run of the child. */
  readonly runId: string;
  /** Why it is not run again. */
  readonly retryState: RetryState | undefined;

  constructor(
    message: string | undefined,
    fields: { workflowType: string; workflowId: string; runId: string; retryState?: RetryState },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.workflowType = fields.workflowType;
    this.workflowId = fields.workflowId;
    this.runId = fields.runId;
    this.retryState = fields.retryState;
  }
}

/** A Nexus operation failed, timed out or was cancelled; `cause` says how. */
export class NexusOperationFailure extends TemporalFailure {
  override name = "NexusOperationFailure";
  /** Name of the endpoint. */
  readonly endpoint: string;
  /** Name of the service. */
  readonly service: string;
  /** Name of the operation. */
  readonly operation: string;
  /** What its handler called it; "" where it never started, or had its result at once. */
  readonly operationToken: string;

  constructor(
    message: string | undefined,
    fields: { endpoint: string; service: string; operation: string; operationToken?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.endpoint = fields.endpoint;
    this.service = fields.service;
    this.operation = fields.operation;
    this.operationToken = fields.operationToken ?? "";
  }
}

/** The handler of a Nexus operation refused the request, or could not be reached. */
export class NexusHandlerFailure extends TemporalFailure {
  override name = "NexusHandlerFailure";
  /** What kind of refusal: "NOT_FOUND", "BAD_REQUEST", "INTERNAL", ... */
  readonly type: string;
  /** Whether the server may try again, where the handler said so; undefined: its type decides. */
  readonly retryable: boolean | undefined;

  constructor(message: string | undefined, fields: { type: string; retryable?: boolean | undefined }, options?: ErrorOptions) {
    super(message, options);
    this.type = fields.type;
    this.retryable = fields.retryable;
  }
}

/** The id of a child workflow is taken: by one that is open, or by a closed one that the reuse policy keeps. */
export class WorkflowExecutionAlreadyStartedError extends TemporalFailure {
  override name = "WorkflowExecutionAlreadyStartedError";
  /** The id that is taken. */
  readonly workflowId: string;
  /** The type that was to be started. */
  readonly workflowType: string;

  constructor(workflowId: string, workflowType: string) {
    super(`child workflow ${workflowId} (${workflowType}) was not started: a workflow with this id exists already`);
    this.workflowId = workflowId;
    this.workflowType = workflowType;
  }
}

brand("TemporalFailure", TemporalFailure);
brand("ApplicationFailure", ApplicationFailure);
brand("CancelledFailure", CancelledFailure);
brand("TerminatedFailure", TerminatedFailure);
brand("TimeoutFailure", TimeoutFailure);
brand("ServerFailure", ServerFailure);
brand("ActivityFailure", ActivityFailure);
brand("ChildWorkflowFailure", ChildWorkflowFailure);
brand("NexusOperationFailure", NexusOperationFailure);
brand("NexusHandlerFailure", NexusHandlerFailure);
brand("WorkflowExecutionAlreadyStartedError", WorkflowExecutionAlreadyStartedError);

/** True for a cancellation itself and for the failure of an activity, child or Nexus operation that was caused by one. */
export function isCancellation(error: unknown): boolean {
  let wraps = true;
  const found = findCause(error, (part) => {
    if (isA(part, CancelledFailure)) return true;
    // Only these hand a cancellation on; behind anything else it is an error like others.
    wraps &&= isA(part, ActivityFailure) || isA(part, ChildWorkflowFailure) || isA(part, NexusOperationFailure);
    return !wraps;
  });
  return wraps && found !== undefined;
}
