// Errors of nexus-rpc: made here with its marks, and known by them, so that they are of the same classes for every copy of that package.
import { NexusHandlerError } from "../common/handler_error.ts";

/** Kinds of errors of handlers that are made here. */
export type HandlerErrorType =
  | "BAD_REQUEST"
  | "NOT_FOUND"
  | "RESOURCE_EXHAUSTED"
  | "INTERNAL"
  | "NOT_IMPLEMENTED"
  | "UNAVAILABLE"
  | "UPSTREAM_TIMEOUT";

/** An error of a handler. Whether the call is tried again is the kind's to say, but for `retryableOverride`. */
export function handlerError(
  type: HandlerErrorType,
  message = `Handler error: ${type}`,
  { cause, retryableOverride }: { cause?: unknown; retryableOverride?: boolean } = {},
): NexusHandlerError {
  return new NexusHandlerError(message, { rawErrorType: type, retryableOverride, cause: cause as Error | undefined });
}

const OPERATION_ERROR = Symbol.for("__nexus_isOperationError");

/** An operation that failed, or was cancelled. */
export interface OperationError extends Error {
  /** Which of the two. */
  readonly state: "failed" | "canceled";
}

/** One of any copy of nexus-rpc. */
export function isOperationError(error: unknown): error is OperationError {
  return typeof error === "object" && error !== null && (error as { [OPERATION_ERROR]?: unknown })[OPERATION_ERROR] === true;
}

class FailedOperation extends Error {
  readonly state = "failed";
}
Object.defineProperty(FailedOperation.prototype, "name", { value: "OperationError", enumerable: true });
Object.defineProperty(FailedOperation.prototype, OPERATION_ERROR, { value: true });

/** The operation failed. */
export function operationFailed(message: string, cause: unknown): OperationError {
  return new FailedOperation(message, { cause });
}
