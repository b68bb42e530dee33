// Errors of the host. The state machine's own errors come from the core.
import { Code, ServiceError } from "../service/raw.ts";
import { notOffered } from "./not_offered.ts";
import { StoreFullError } from "./store_errors.ts";

function unavailable(message: string, reason: string, cause: Error, metadata = {}): ServiceError {
  return new ServiceError(Code.UNAVAILABLE, message, reason, metadata, { cause });
}

export const closed = () =>
  new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed");
/** The store cannot recover; `reason` is the name of its error. */
export const stopped = (cause: Error) =>
  unavailable(`the engine has stopped: ${cause.message}`, cause.name, cause, { engine: "stopped" });
/**
 * UNAVAILABLE, so callers retry: space may be freed meanwhile. The reason "StoreFull" lets callers
 * fail at once instead.
 */
export const notRecorded = (cause: Error) =>
  unavailable(`the change was not recorded (${cause.message}); retry`, reasonOf(cause), cause);
const reasonOf = (cause: Error): string =>
  cause instanceof StoreFullError ? "StoreFull" : "NotRecorded";
/** The caller's deadline has passed; `trouble` is why the last commit failed, if it did. */
export const tooLate = (message: string, trouble: Error | undefined, metadata = {}) =>
  trouble === undefined
    ? new ServiceError(Code.DEADLINE_EXCEEDED, message, "", metadata)
    : new ServiceError(
      Code.DEADLINE_EXCEEDED,
      `${message}: the store could not record the last change (${trouble.message})`,
      reasonOf(trouble),
      metadata,
      { cause: trouble },
    );
export const storeFailed = (cause: Error) =>
  unavailable(`the store failed: ${cause.message}`, "StoreFailed", cause);
export const coreReplaced = (cause: Error) =>
  unavailable("internal error in the engine core, which was restarted; retry", "CoreFailed", cause);
export const callCanceled = () =>
  new ServiceError(Code.CANCELLED, "the call was canceled by the caller");
export const notFound = (workflowId: string) =>
  new ServiceError(
    Code.NOT_FOUND,
    `workflow ${workflowId} not found: its run was purged`,
    "NotFound",
  );
export const unimplemented = (method: string) =>
  new ServiceError(Code.UNIMPLEMENTED, notOffered(method), "Unimplemented", { method });
