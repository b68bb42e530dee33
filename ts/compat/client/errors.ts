// Errors of `@temporalio/client`, with the official names and fields.
import { defineErrorName } from "../common/error_names.ts";
import { isError, isRecord } from "../common/text.ts";
import type { RetryState } from "../common/failures.ts";
import { Code } from "../../service/raw.ts";

/** An error of the service, in gRPC's form. */
export interface GrpcServiceError extends Error {
  /** The status code. */
  code: number;
  /** Message of the service. */
  details: string;
  /** Further data of the error. */
  metadata: object;
}

/** A call that the service rejected or that did not reach it; `cause` has the error. */
export class ServiceError extends Error {
  override readonly cause?: Error;

  constructor(message: string, options?: { cause: Error }) {
    super(message);
    this.cause = options?.cause as Error;
  }
}

/** The workflow failed, was canceled or terminated, or timed out; `cause` has the reason. */
export class WorkflowFailedError extends Error {
  /** The failure that closed the run. */
  override readonly cause: Error | undefined;
  /** Reason why it is not retried. */
  readonly retryState: RetryState | undefined;

  constructor(message: string, cause: Error | undefined, retryState: RetryState | undefined) {
    super(message);
    this.cause = cause;
    this.retryState = retryState;
  }
}

/** The update failed or was rejected; `cause` has the reason. */
export class WorkflowUpdateFailedError extends Error {
  /** What the workflow threw. */
  override readonly cause: Error | undefined;

  constructor(message: string, cause: Error | undefined) {
    super(message);
    this.cause = cause;
  }
}

/** The call of an update was canceled or timed out. The update may still complete. */
export class WorkflowUpdateRPCTimeoutOrCancelledError extends Error {
  /** Reason of the call's end. */
  override readonly cause?: Error;

  constructor(message: string, options?: { cause: Error }) {
    super(message);
    this.cause = options?.cause as Error;
  }
}

/** The run continued as new, and the caller waits for this run only. */
export class WorkflowContinuedAsNewError extends Error {
  readonly newExecutionRunId: string;

  constructor(message: string, newExecutionRunId: string) {
    super(message);
    this.newExecutionRunId = newExecutionRunId;
  }
}

/** The service does not wait for this activity. */
export class ActivityNotFoundError extends Error {}
/** The service rejected the report on the activity. */
export class ActivityCompletionError extends Error {}
/** The response to a heartbeat cancels the activity. */
export class ActivityCancelledError extends Error {}
/** The response to a heartbeat pauses the activity. */
export class ActivityPausedError extends Error {}
/** The response to a heartbeat resets the activity. */
export class ActivityResetError extends Error {}

/** A standalone activity failed. */
export class ActivityExecutionFailedError extends Error {
  /** Cause of the failure. */
  override readonly cause: Error | undefined;
  readonly activityId: string;
  readonly runId?: string | undefined;

  constructor(message: string, cause: Error | undefined, activityId: string, runId?: string) {
    super(message);
    this.cause = cause;
    this.activityId = activityId;
    this.runId = runId;
  }
}

/** A standalone activity with that id exists already. */
export class ActivityExecutionAlreadyStartedError extends Error {
  readonly activityId: string;
  readonly runId: string;

  constructor(message: string, activityId: string, runId: string) {
    super(message);
    this.activityId = activityId;
    this.runId = runId;
  }
}

/** The workflow's status matches the reject condition of the query. */
export class QueryRejectedError extends Error {
  /** Status of the workflow: temporal.api.enums.v1.WorkflowExecutionStatus. */
  readonly status: number;

  constructor(status: number) {
    super("Query rejected");
    this.status = status;
  }
}

/** The query has no handler, or the handler threw. */
export class QueryNotRegisteredError extends Error {
  /** The gRPC status code. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** A schedule with that id exists already. */
export class ScheduleAlreadyRunning extends Error {
  readonly scheduleId: string;

  constructor(message: string, scheduleId: string) {
    super(message);
    this.scheduleId = scheduleId;
  }
}

/** The schedule does not exist. */
export class ScheduleNotFoundError extends Error {
  readonly scheduleId: string;

  constructor(message: string, scheduleId: string) {
    super(message);
    this.scheduleId = scheduleId;
  }
}

/** The service does not know that build id. */
export class BuildIdNotFoundError extends Error {}

/** A standalone Nexus operation failed. */
export class NexusOperationFailureError extends Error {}
/** A standalone operation with that id exists already. */
export class NexusOperationAlreadyStartedError extends Error {}
/** The standalone operation does not exist. */
export class NexusOperationNotFoundError extends Error {}

defineErrorName(ServiceError, "ServiceError");
defineErrorName(WorkflowFailedError, "WorkflowFailedError");
defineErrorName(WorkflowUpdateFailedError, "WorkflowUpdateFailedError");
defineErrorName(
  WorkflowUpdateRPCTimeoutOrCancelledError,
  "WorkflowUpdateRPCTimeoutOrCancelledError",
);
defineErrorName(WorkflowContinuedAsNewError, "WorkflowExecutionContinuedAsNewError");
defineErrorName(ActivityNotFoundError, "ActivityNotFoundError");
defineErrorName(ActivityCompletionError, "ActivityCompletionError");
defineErrorName(ActivityCancelledError, "ActivityCancelledError");
defineErrorName(ActivityPausedError, "ActivityPausedError");
defineErrorName(ActivityResetError, "ActivityResetError");
defineErrorName(ActivityExecutionFailedError, "ActivityExecutionFailedError");
defineErrorName(ActivityExecutionAlreadyStartedError, "ActivityExecutionAlreadyStartedError");
defineErrorName(QueryRejectedError, "QueryRejectedError");
defineErrorName(QueryNotRegisteredError, "QueryNotRegisteredError");
defineErrorName(ScheduleAlreadyRunning, "ScheduleAlreadyRunning");
defineErrorName(ScheduleNotFoundError, "ScheduleNotFoundError");
defineErrorName(BuildIdNotFoundError, "BuildIdNotFoundError");
defineErrorName(NexusOperationFailureError, "NexusOperationFailureError");
defineErrorName(NexusOperationAlreadyStartedError, "NexusOperationAlreadyStartedError");
defineErrorName(NexusOperationNotFoundError, "NexusOperationNotFoundError");

/** Returns whether an error is an error of the service, in gRPC's form. */
export function isGrpcServiceError(error: unknown): error is GrpcServiceError {
  return isError(error) && typeof (error as Partial<GrpcServiceError>).details === "string" &&
    isRecord((error as Partial<GrpcServiceError>).metadata);
}
/** Alias of {@link isGrpcServiceError}. */
export function isServerErrorResponse(error: unknown): error is GrpcServiceError {
  return isGrpcServiceError(error);
}

function hasCode(error: unknown, code: number): boolean {
  for (let part = error, depth = 0; isError(part) && depth < 100; part = part.cause, depth++) {
    if (isGrpcServiceError(part) && part.code === code) return true;
  }
  return false;
}

/** Returns whether an error or a cause of it is an exceeded deadline. */
export function isGrpcDeadlineError(error: unknown): error is Error {
  return hasCode(error, Code.DEADLINE_EXCEEDED);
}

/** Returns whether an error or a cause of it is a canceled call. */
export function isGrpcCancelledError(error: unknown): error is Error {
  return hasCode(error, Code.CANCELLED);
}
