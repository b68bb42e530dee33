// Converts errors of the native client to the official ones: classes, fields and messages.
import * as native from "../../client/errors.ts";
import { CancelledFailure as NativeCancelled } from "../../converter/failures.ts";
import {
  TerminatedFailure as NativeTerminated,
  TimeoutFailure as NativeTimeout,
} from "../../converter/failures.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { Code, ServiceError as RawServiceError } from "../../service/raw.ts";
import { NamespaceNotFoundError, ValueError, WorkflowNotFoundError } from "../common/errors.ts";
import {
  CancelledFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../common/failures.ts";
import { CALL_CONTEXTS, type HasCallContexts } from "./call_context.ts";
import {
  ActivityCancelledError,
  ActivityCompletionError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  isGrpcServiceError,
  QueryNotRegisteredError,
  QueryRejectedError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ServiceError,
  WorkflowContinuedAsNewError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "./errors.ts";
import { grpcError, refusalIn } from "./grpc_errors.ts";

/** Subject of an operation. */
export interface Concern {
  /** Message of the official client for other errors. */
  readonly fallback: string;
  readonly workflowId?: string;
  readonly runId?: string | undefined;
  /** Type of a started workflow. */
  readonly workflowType?: string;
  readonly scheduleId?: string;
  /** True if the abort signal of the call's context is aborted. */
  readonly aborted?: boolean;
}

/** Returns the service error of a thrown error, also if the caller canceled the call. */
function findServiceError(
  thrown: unknown,
  { aborted }: Pick<Concern, "aborted">,
): RawServiceError | undefined {
  const found = refusalIn(thrown);
  if (found !== undefined || !aborted) return found;
  return new RawServiceError(Code.CANCELLED, "Call cancelled", "", {}, { cause: thrown });
}

/** Returns the error in gRPC's form; undefined without a service error. */
export function grpcErrorIn(thrown: unknown, concern: Concern): Error | undefined {
  const refusal = findServiceError(thrown, concern);
  return refusal === undefined ? undefined : grpcError(refusal);
}

/** Returns the official error of a rejected operation; other errors are returned unchanged. */
export function officialError(thrown: unknown, concern: Concern): unknown {
  const { workflowId = "", runId, scheduleId } = concern;
  if (thrown instanceof native.NamespaceNotFoundError) {
    return new NamespaceNotFoundError(thrown.namespace);
  }
  if (thrown instanceof native.QueryRejectedError) {
    const status = WorkflowExecutionStatus[thrown.status as keyof typeof WorkflowExecutionStatus];
    return new QueryRejectedError(status ?? WorkflowExecutionStatus.UNSPECIFIED);
  }
  const refusal = findServiceError(thrown, concern);
  if (refusal === undefined) {
    return isGrpcServiceError(thrown)
      ? new ServiceError(concern.fallback, { cause: thrown })
      : thrown;
  }
  const { code, message } = refusal;
  if (refusal.reason.startsWith("NamespaceNotFound")) {
    return new NamespaceNotFoundError(refusal.metadata["namespace"] ?? "");
  }
  if (thrown instanceof native.QueryFailedError) return new QueryNotRegisteredError(message, code);
  if (code === Code.ALREADY_EXISTS && concern.workflowType !== undefined) {
    return new WorkflowExecutionAlreadyStartedError(
      "Workflow execution already started",
      workflowId,
      concern.workflowType,
    );
  }
  if (code === Code.ALREADY_EXISTS && scheduleId !== undefined) {
    return new ScheduleAlreadyRunning("Schedule already exists and is running", scheduleId);
  }
  if (code === Code.NOT_FOUND && scheduleId !== undefined) {
    return new ScheduleNotFoundError(message || "Schedule not found", scheduleId);
  }
  if (code === Code.NOT_FOUND && concern.workflowId !== undefined) {
    return new WorkflowNotFoundError(message || "Workflow not found", workflowId, runId);
  }
  return new ServiceError(concern.fallback, { cause: grpcError(refusal) });
}

/** Same for updates. */
export function officialUpdateError(thrown: unknown, concern: Concern): unknown {
  if (thrown instanceof native.WorkflowUpdateFailedError) {
    return new WorkflowUpdateFailedError("Workflow Update failed", thrown.cause);
  }
  const refusal = findServiceError(thrown, concern);
  if (refusal?.code === Code.DEADLINE_EXCEEDED || refusal?.code === Code.CANCELLED) {
    const message = refusal.message || "Workflow update call timeout or cancelled";
    return new WorkflowUpdateRPCTimeoutOrCancelledError(message, { cause: grpcError(refusal) });
  }
  return officialError(thrown, concern);
}

const bare = <E extends Error>(error: E): E => Object.assign(error, { stack: "" });

/** Returns the error of a workflow that did not return a result. */
export function officialOutcome(thrown: unknown, concern: Concern): unknown {
  if (thrown instanceof native.WorkflowContinuedAsNewError) {
    return new WorkflowContinuedAsNewError(
      "Workflow execution continued as new",
      thrown.newExecutionRunId,
    );
  }
  if (!(thrown instanceof native.WorkflowFailedError)) return officialError(thrown, concern);
  const cause: Error = thrown.cause;
  if (!(cause instanceof TemporalFailure)) {
    // Created by the native client for the closing event.
    if (cause instanceof NativeCancelled) {
      const failure = bare(new CancelledFailure("Workflow canceled", cause.details));
      return new WorkflowFailedError(
        "Workflow execution cancelled",
        failure,
        "NON_RETRYABLE_FAILURE",
      );
    }
    if (cause instanceof NativeTerminated) {
      return new WorkflowFailedError(
        cause.message,
        bare(new TerminatedFailure(cause.message)),
        "NON_RETRYABLE_FAILURE",
      );
    }
    if (cause instanceof NativeTimeout) {
      const failure = bare(
        new TimeoutFailure("Workflow execution timed out", undefined, "START_TO_CLOSE"),
      );
      return new WorkflowFailedError("Workflow execution timed out", failure, thrown.retryState);
    }
  }
  return new WorkflowFailedError("Workflow execution failed", cause, thrown.retryState);
}

/** Returns the error of a report on an activity. */
export function officialActivityError(thrown: unknown, concern: Concern): unknown {
  if (thrown instanceof native.NamespaceNotFoundError) {
    return new NamespaceNotFoundError(thrown.namespace);
  }
  if (thrown instanceof native.ActivityCancelledError) {
    if (thrown.reason === "PAUSED") return new ActivityPausedError("paused");
    return thrown.reason === "RESET"
      ? new ActivityResetError("reset")
      : new ActivityCancelledError("cancelled");
  }
  // The converter's error for a value that cannot be encoded.
  if (thrown instanceof ValueError) return thrown;
  const refusal = findServiceError(thrown, concern);
  if (refusal === undefined) return new ActivityCompletionError("Unexpected failure");
  return refusal.code === Code.NOT_FOUND
    ? new ActivityNotFoundError("Not found")
    : new ActivityCompletionError(refusal.message);
}

/** Calls `fn` and converts its errors to those of the official client. */
export async function refusing<R>(
  client: { readonly connection: HasCallContexts },
  fn: () => Promise<R>,
  concern: Concern,
  as: (thrown: unknown, concern: Concern) => unknown = officialError,
): Promise<R> {
  try {
    return await fn();
  } catch (error) {
    const { abortSignal } = client.connection[CALL_CONTEXTS]?.current() ?? {};
    throw as(error, { ...concern, aborted: abortSignal?.aborted ?? false });
  }
}
