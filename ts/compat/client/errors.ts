// Errors of `@temporalio/client`, with the official names and fields.
import { named } from "../common/error_names.ts";
import { isError, isRecord } from "../common/text.ts";
import type { RetryState } from "../common/failures.ts";
import { Code } from "../../service/raw.ts";

/** A refusal of the service, as gRPC has it. */
export interface GrpcServiceError extends Error {
  /** The status code. */
  code: number;
  /** What the service says. */
  details: string;
  /** What it says beside that. */
  metadata: object;
}

/** A call that the service refused, or that did not reach it; `cause` is the refusal. */
export class ServiceError extends Error {
  /** The refusal. */
  override readonly cause?: Error;

  constructor(message: string, options?: { cause: Error }) {
    super(message);
    this.cause = options?.cause as Error;
  }
}

/** The workflow failed, was cancelled or terminated, or timed out; `cause` says which. */
export class WorkflowFailedError extends Error {
  /** How it ended. */
  override readonly cause: Error | undefined;
  /** Why it is not run again. */
  readonly retryState: RetryState | undefined;

  constructor(message: string, cause: Error | undefined, retryState: RetryState | undefined) {
    super(message);
    this.cause = cause;
    this.retryState = retryState;
  }
}

/** The update failed, or was not accepted; `cause` says why. */
export class WorkflowUpdateFailedError extends Error {
  /** What the workflow threw. */
  override readonly cause: Error | undefined;

  constructor(message: string, cause: Error | undefined) {
    super(message);
    this.cause = cause;
  }
}

/** The call of an update was given up, or its deadline passed. The update may still be carried out. */
export class WorkflowUpdateRPCTimeoutOrCancelledError extends Error {
  /** What ended the call. */
  override readonly cause?: Error;

  constructor(message: string, options?: { cause: Error }) {
    super(message);
    this.cause = options?.cause as Error;
  }
}

/** The run continued as new, and the caller asked for this run only. */
export class WorkflowContinuedAsNewError extends Error {
  /** The run that goes on. */
  readonly newExecutionRunId: string;

  constructor(message: string, newExecutionRunId: string) {
    super(message);
    this.newExecutionRunId = newExecutionRunId;
  }
}

/** The service does not wait for this activity. */
export class ActivityNotFoundError extends Error {}
/** The service did not take the report on the activity. */
export class ActivityCompletionError extends Error {}
/** A heartbeat learned that the activity was cancelled. */
export class ActivityCancelledError extends Error {}
/** A heartbeat learned that the activity was paused. */
export class ActivityPausedError extends Error {}
/** A heartbeat learned that the activity was reset. */
export class ActivityResetError extends Error {}

/** A standalone activity failed. */
export class ActivityExecutionFailedError extends Error {
  /** How. */
  override readonly cause: Error | undefined;
  /** Id of the activity. */
  readonly activityId: string;
  /** Its run. */
  readonly runId?: string | undefined;

  constructor(message: string, cause: Error | undefined, activityId: string, runId?: string) {
    super(message);
    this.cause = cause;
    this.activityId = activityId;
    this.runId = runId;
  }
}

/** A standalone activity of that id is there already. */
export class ActivityExecutionAlreadyStartedError extends Error {
  /** Id of the activity. */
  readonly activityId: string;
  /** Its run. */
  readonly runId: string;

  constructor(message: string, activityId: string, runId: string) {
    super(message);
    this.activityId = activityId;
    this.runId = runId;
  }
}

/** The workflow is in a state in which the caller did not want an answer. */
export class QueryRejectedError extends Error {
  /** Its status: temporal.api.enums.v1.WorkflowExecutionStatus. */
  readonly status: number;

  constructor(status: number) {
    super("Query rejected");
    this.status = status;
  }
}

/** The workflow has no handler of that query, or the handler threw. */
export class QueryNotRegisteredError extends Error {
  /** The gRPC status code. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** A schedule of that id is there already. */
export class ScheduleAlreadyRunning extends Error {
  /** Id of the schedule. */
  readonly scheduleId: string;

  constructor(message: string, scheduleId: string) {
    super(message);
    this.scheduleId = scheduleId;
  }
}

/** There is no schedule of that id. */
export class ScheduleNotFoundError extends Error {
  /** Id of the schedule. */
  readonly scheduleId: string;

  constructor(message: string, scheduleId: string) {
    super(message);
    this.scheduleId = scheduleId;
  }
}

/** The service does not know that build. */
export class BuildIdNotFoundError extends Error {}

/** A standalone operation of Nexus failed. */
export class NexusOperationFailureError extends Error {}
/** A standalone operation of that id is there already. */
export class NexusOperationAlreadyStartedError extends Error {}
/** There is no standalone operation of that id. */
export class NexusOperationNotFoundError extends Error {}

named(ServiceError, "ServiceError");
named(WorkflowFailedError, "WorkflowFailedError");
named(WorkflowUpdateFailedError, "WorkflowUpdateFailedError");
named(WorkflowUpdateRPCTimeoutOrCancelledError, "WorkflowUpdateRPCTimeoutOrCancelledError");
named(WorkflowContinuedAsNewError, "WorkflowExecutionContinuedAsNewError");
named(ActivityNotFoundError, "ActivityNotFoundError");
named(ActivityCompletionError, "ActivityCompletionError");
named(ActivityCancelledError, "ActivityCancelledError");
named(ActivityPausedError, "ActivityPausedError");
named(ActivityResetError, "ActivityResetError");
named(ActivityExecutionFailedError, "ActivityExecutionFailedError");
named(ActivityExecutionAlreadyStartedError, "ActivityExecutionAlreadyStartedError");
named(QueryRejectedError, "QueryRejectedError");
named(QueryNotRegisteredError, "QueryNotRegisteredError");
named(ScheduleAlreadyRunning, "ScheduleAlreadyRunning");
named(ScheduleNotFoundError, "ScheduleNotFoundError");
named(BuildIdNotFoundError, "BuildIdNotFoundError");
named(NexusOperationFailureError, "NexusOperationFailureError");
named(NexusOperationAlreadyStartedError, "NexusOperationAlreadyStartedError");
named(NexusOperationNotFoundError, "NexusOperationNotFoundError");

/** A refusal of the service, as gRPC has it? */
export function isGrpcServiceError(error: unknown): error is GrpcServiceError {
  return isError(error) && typeof (error as Partial<GrpcServiceError>).details === "string" &&
    isRecord((error as Partial<GrpcServiceError>).metadata);
}
/** The older name of {@link isGrpcServiceError}. */
export function isServerErrorResponse(error: unknown): error is GrpcServiceError {
  return isGrpcServiceError(error);
}

function hasCode(error: unknown, code: number): boolean {
  for (let part = error, depth = 0; isError(part) && depth < 100; part = part.cause, depth++) {
    if (isGrpcServiceError(part) && part.code === code) return true;
  }
  return false;
}

/** Did a deadline pass, here or in a cause? */
export function isGrpcDeadlineError(error: unknown): error is Error {
  return hasCode(error, Code.DEADLINE_EXCEEDED);
}

/** Was a call given up, here or in a cause? */
export function isGrpcCancelledError(error: unknown): error is Error {
  return hasCode(error, Code.CANCELLED);
}
