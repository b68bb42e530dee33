// Errors for the caller of a Nexus operation, by type, as in the official worker.
import {
  ActivityExecutionAlreadyStartedError,
  isGrpcServiceError,
  ServiceError,
} from "../client/errors.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../common/mod.ts";
import { isHandlerError, type NexusHandlerError } from "../common/handler_error.ts";
import { handlerError, type OperationError } from "../nexus/errors.ts";
import { Code } from "../../service/raw.ts";

/** An invalid payload: an error of the input, not of the handler. */
const INVALID_PAYLOAD = "PayloadValidationError";

/**
 * Returns the error for an input that cannot be decoded or converted: `otherwise`, unless the error
 * has a more specific type.
 */
export function inputError(error: unknown, otherwise: () => NexusHandlerError): unknown {
  if (
    error instanceof ApplicationFailure && error.nonRetryable === true &&
    error.type === INVALID_PAYLOAD
  ) {
    return handlerError("BAD_REQUEST", "Invalid operation input", { cause: error });
  }
  return error instanceof ApplicationFailure || isHandlerError(error) ? error : otherwise();
}

/** Returns the failure of an operation that ended without a result. */
export function operationFailure(error: OperationError): ApplicationFailure | CancelledFailure {
  const { message, state, stack } = error;
  const cause = error.cause as Error | undefined;
  const failure = state === "canceled"
    ? new CancelledFailure(message, undefined, cause)
    : ApplicationFailure.create({
      message,
      type: "OperationError",
      nonRetryable: true,
      ...(cause !== undefined && { cause }),
    });
  return Object.assign(failure, stack !== undefined && { stack });
}

/**
 * By status code of the handler's failed call. Authentication errors are the worker's, not the
 * caller's.
 */
const BY_CODE: { readonly [code: number]: (cause: unknown) => NexusHandlerError } = {
  [Code.INVALID_ARGUMENT]: (cause) => handlerError("BAD_REQUEST", undefined, { cause }),
  [Code.ALREADY_EXISTS]: final,
  [Code.FAILED_PRECONDITION]: final,
  [Code.OUT_OF_RANGE]: final,
  [Code.ABORTED]: (cause) => handlerError("UNAVAILABLE", undefined, { cause }),
  [Code.UNAVAILABLE]: (cause) => handlerError("UNAVAILABLE", undefined, { cause }),
  [Code.NOT_FOUND]: (cause) => handlerError("NOT_FOUND", undefined, { cause }),
  [Code.RESOURCE_EXHAUSTED]: (cause) => handlerError("RESOURCE_EXHAUSTED", undefined, { cause }),
  [Code.UNIMPLEMENTED]: (cause) => handlerError("NOT_IMPLEMENTED", undefined, { cause }),
  [Code.DEADLINE_EXCEEDED]: (cause) => handlerError("UPSTREAM_TIMEOUT", undefined, { cause }),
};

function final(cause: unknown): NexusHandlerError {
  return handlerError("INTERNAL", undefined, { cause, retryableOverride: false });
}

/** Converts an error to a handler error. */
export function asHandlerError(error: unknown): NexusHandlerError {
  if (isHandlerError(error)) return error;
  if (
    error instanceof WorkflowExecutionAlreadyStartedError ||
    error instanceof ActivityExecutionAlreadyStartedError
  ) {
    return final(error);
  }
  if (error instanceof ApplicationFailure && error.nonRetryable) {
    const message = "Handler failed with non-retryable application error";
    return handlerError("INTERNAL", message, { cause: error, retryableOverride: false });
  }
  if (error instanceof ServiceError && isGrpcServiceError(error.cause)) {
    const known = BY_CODE[error.cause.code];
    if (known !== undefined) return known(error);
  }
  return handlerError("INTERNAL", undefined, { cause: error });
}
