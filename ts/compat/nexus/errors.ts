// Errors of nexus-rpc, created and recognized by its markers, so that they work with every copy of
// that package.
import { NexusHandlerError } from "../common/handler_error.ts";

/** Types of handler errors that are created here. */
export type HandlerErrorType =
  | "BAD_REQUEST"
  | "NOT_FOUND"
  | "RESOURCE_EXHAUSTED"
  | "INTERNAL"
  | "NOT_IMPLEMENTED"
  | "UNAVAILABLE"
  | "UPSTREAM_TIMEOUT";

/** Returns a handler error. The type decides on retries, unless `retryableOverride` is set. */
export function handlerError(
  type: HandlerErrorType,
  message = `Handler error: ${type}`,
  { cause, retryableOverride }: { cause?: unknown; retryableOverride?: boolean } = {},
): NexusHandlerError {
  return new NexusHandlerError(message, {
    rawErrorType: type,
    retryableOverride,
    cause: cause as Error | undefined,
  });
}

const OPERATION_ERROR = Symbol.for("__nexus_isOperationError");

/** An operation that failed or was canceled. */
export interface OperationError extends Error {
  /** The result of the operation. */
  readonly state: "failed" | "canceled";
}

/** Returns whether an error is one of any copy of nexus-rpc. */
export function isOperationError(error: unknown): error is OperationError {
  return typeof error === "object" && error !== null &&
    (error as { [OPERATION_ERROR]?: unknown })[OPERATION_ERROR] === true;
}

class FailedOperation extends Error {
  readonly state = "failed";
}
Object.defineProperty(FailedOperation.prototype, "name", {
  value: "OperationError",
  enumerable: true,
});
Object.defineProperty(FailedOperation.prototype, OPERATION_ERROR, { value: true });

/** Returns the error of a failed operation. */
export function operationFailed(message: string, cause: unknown): OperationError {
  return new FailedOperation(message, { cause });
}
