// Temporal's failures as error classes, with Temporal's names and fields. Each keeps the Failure
// message it was decoded from, so that a failure passed on loses nothing that another SDK added.

import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { brand } from "./brand.ts";
import { findCause, isA, read } from "./thrown.ts";

/** Reasons why a retry policy ended, temporal.api.enums.v1.RetryState. */
export type RetryState =
  | "IN_PROGRESS"
  | "NON_RETRYABLE_FAILURE"
  | "TIMEOUT"
  | "MAXIMUM_ATTEMPTS_REACHED"
  | "RETRY_POLICY_NOT_SET"
  | "INTERNAL_SERVER_ERROR"
  | "CANCEL_REQUESTED";

/** temporal.api.enums.v1.TimeoutType */
export type TimeoutType =
  | "START_TO_CLOSE"
  | "SCHEDULE_TO_START"
  | "SCHEDULE_TO_CLOSE"
  | "HEARTBEAT";

/** Base class of errors that cross between workflows, activities and clients as a Failure. */
export class TemporalFailure extends Error {
  override name = "TemporalFailure";
  /** SDK that created it ("GoSDK", "TypeScriptSDK", ...); empty for this package. */
  source?: string;
  /** The encoded Failure that it was decoded from. */
  failure?: Uint8Array;

  constructor(message?: string, options?: ErrorOptions) {
    super(message ?? "", options);
  }
}

/** Options of an {@link ApplicationFailure}. */
export interface ApplicationFailureOptions {
  /** Name for retry policies and callers. */
  type?: string;
  /** Disables retries. Default: false. */
  nonRetryable?: boolean;
  /** Data for the code that catches the failure. */
  details?: unknown[];
  /** Delay before the next attempt in milliseconds; overrides the retry policy once. */
  nextRetryDelayMs?: number;
  /** Cause; encoded with the failure. */
  cause?: unknown;
}

const APPLICATION_FAILURE_OPTIONS: OptionNames<ApplicationFailureOptions> = {
  ...{ type: 1, nonRetryable: 1, details: 1, nextRetryDelayMs: 1, cause: 1 },
};

/**
 * Failure of a workflow or activity with a type and details. Thrown by a workflow, it fails the
 * workflow, not its task.
 */
export class ApplicationFailure extends TemporalFailure {
  override name = "ApplicationFailure";
  /** Name for retry policies and callers. */
  readonly type: string | undefined;
  /** True if retries are disabled. */
  readonly nonRetryable: boolean;
  /** Data for the code that catches the failure. */
  readonly details: unknown[];
  /** Delay before the next attempt in milliseconds; undefined: the delay of the retry policy. */
  readonly nextRetryDelayMs: number | undefined;

  constructor(message?: string, options: ApplicationFailureOptions = {}) {
    super(message, { cause: options.cause });
    rejectUnknownOptions("ApplicationFailure", options, APPLICATION_FAILURE_OPTIONS);
    this.type = options.type;
    this.nonRetryable = options.nonRetryable ?? false;
    this.details = options.details ?? [];
    this.nextRetryDelayMs = options.nextRetryDelayMs;
  }

  /** Returns a failure that the retry policy may retry. */
  static retryable(
    message?: string,
    options?: Omit<ApplicationFailureOptions, "nonRetryable">,
  ): ApplicationFailure {
    return new ApplicationFailure(message, { ...options, nonRetryable: false });
  }

  /** Returns a failure that is not retried. */
  static nonRetryable(
    message?: string,
    options?: Omit<ApplicationFailureOptions, "nonRetryable">,
  ): ApplicationFailure {
    return new ApplicationFailure(message, { ...options, nonRetryable: true });
  }
}

/** The workflow, scope or activity was canceled. */
export class CancelledFailure extends TemporalFailure {
  override name = "CancelledFailure";
  /** Details given with the cancellation, or by the canceled activity. */
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
  /** The exceeded timeout; undefined if the service does not report it. */
  readonly timeoutType: TimeoutType | undefined;
  /** Details of the activity's last heartbeat, decoded; undefined without a heartbeat. */
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

/** A failure of the server. */
export class ServerFailure extends TemporalFailure {
  override name = "ServerFailure";
  /** True if a retry cannot succeed. */
  readonly nonRetryable: boolean;

  constructor(message: string | undefined, nonRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.nonRetryable = nonRetryable;
  }
}

/** An activity failed, timed out or was canceled; `cause` has the reason. */
export class ActivityFailure extends TemporalFailure {
  override name = "ActivityFailure";
  readonly activityType: string;
  /** Id within the run. */
  readonly activityId: string;
  /** Reason why no further attempt follows. */
  readonly retryState: RetryState | undefined;
  /** Identity of the worker of the last attempt. */
  readonly identity: string;

  constructor(
    message: string | undefined,
    fields: {
      activityType: string;
      activityId: string;
      retryState?: RetryState;
      identity?: string;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.activityType = fields.activityType;
    this.activityId = fields.activityId;
    this.retryState = fields.retryState;
    this.identity = fields.identity ?? "";
  }
}

/** A child workflow failed, timed out, was canceled or terminated; `cause` has the reason. */
export class ChildWorkflowFailure extends TemporalFailure {
  override name = "ChildWorkflowFailure";
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Reason why the child is not retried. */
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

/** A Nexus operation failed, timed out or was canceled; `cause` has the reason. */
export class NexusOperationFailure extends TemporalFailure {
  override name = "NexusOperationFailure";
  readonly endpoint: string;
  readonly service: string;
  readonly operation: string;
  /** Token from its handler; "" if the operation never started or was synchronous. */
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

/** The handler of a Nexus operation rejected the request or could not be reached. */
export class NexusHandlerFailure extends TemporalFailure {
  override name = "NexusHandlerFailure";
  /** Type of the error: "NOT_FOUND", "BAD_REQUEST", "INTERNAL", ... */
  readonly type: string;
  /** Whether the server may retry, if the handler specified it; undefined: the type decides. */
  readonly retryable: boolean | undefined;

  constructor(
    message: string | undefined,
    fields: { type: string; retryable?: boolean | undefined },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.type = fields.type;
    this.retryable = fields.retryable;
  }
}

/**
 * The id of a child workflow is in use: by an open run, or by a closed one that the reuse policy
 * protects.
 */
export class WorkflowExecutionAlreadyStartedError extends TemporalFailure {
  override name = "WorkflowExecutionAlreadyStartedError";
  /** The id in use. */
  readonly workflowId: string;
  /** The type of the rejected start. */
  readonly workflowType: string;

  constructor(workflowId: string, workflowType: string) {
    super(
      `child workflow ${workflowId} (${workflowType}) was not started: a workflow with this id exists already`,
    );
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

/**
 * Returns whether an error is a cancellation, or the failure of an activity, child or Nexus
 * operation caused by one.
 */
export function isCancellation(error: unknown): boolean {
  let wraps = true;
  const found = findCause(error, (part) => {
    if (isA(part, CancelledFailure)) return true;
    // Only these pass a cancellation on. As a cause of any other error it does not count.
    wraps &&= isA(part, ActivityFailure) || isA(part, ChildWorkflowFailure) ||
      isA(part, NexusOperationFailure);
    return !wraps;
  });
  return wraps && found !== undefined;
}

/** A class of errors, or the type of an {@link ApplicationFailure}. */
// deno-lint-ignore no-explicit-any
export type FailureType<E extends Error = Error> = string | (abstract new (...args: any[]) => E);

/**
 * Returns whether an error or one of its causes, at any depth, is a failure of this class, or an
 * ApplicationFailure of this type.
 *
 * @example
 * if (isFailure(error, "OutOfStock") || isFailure(error, TimeoutFailure)) await reorder();
 */
export function isFailure(error: unknown, type: FailureType): error is Error {
  return findFailure(error, type) !== undefined;
}

/**
 * Returns the first failure of this class, or ApplicationFailure of this type, among an error and
 * its causes; undefined without a match.
 *
 * @example
 * const { details = [] } = findFailure(error, "OutOfStock") ?? {};
 */
export function findFailure(error: unknown, type: string): ApplicationFailure | undefined;
export function findFailure<E extends Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any
  type: abstract new (...args: any[]) => E,
): E | undefined;
export function findFailure(error: unknown, type: FailureType): Error | undefined;
export function findFailure(error: unknown, type: FailureType): Error | undefined {
  if (typeof type !== "string" && typeof type !== "function") {
    throw new TypeError(
      `the type of a failure must be a class of errors or the type of an ApplicationFailure, not ${
        type === null ? "null" : typeof type
      }`,
    );
  }
  return findCause(
    error,
    (part) =>
      typeof type === "string"
        ? isA(part, ApplicationFailure) && read(part, "type") === type
        : isA(part, type),
  ) as Error | undefined;
}
