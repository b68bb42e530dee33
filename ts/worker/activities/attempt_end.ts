// The result of an attempt that threw: canceled on request, or failed.
import type { CancelReason } from "../../activity/context.ts";
import { ApplicationFailure, CancelledFailure } from "../../converter/failures.ts";
import { isA, messageOf, nameOf, read } from "../../converter/thrown.ts";
import { CANCEL_MESSAGES } from "./attempt_context.ts";

/** The cancellation of an attempt. */
export interface Told {
  /** Reason of the cancellation; undefined if it was not requested. */
  readonly cancelReason: CancelReason | undefined;
  /** The signal of the native context. */
  readonly cancelled: AbortSignal;
}

/** The workflow requested cancellation, and the activity stopped. */
export const STOPPED = Symbol("the activity stopped on request of its workflow");

/** Returns the error of a failed attempt, or STOPPED. */
export function attemptEnd(error: unknown, told: Told): unknown {
  const reason = told.cancelReason;
  if (reason !== undefined && isCancellation(error, told)) {
    return reason === "CANCELLED"
      ? STOPPED
      : new ApplicationFailure(CANCEL_MESSAGES[reason], { type: reason, cause: error });
  }
  if (!isA(error, CancelledFailure)) return error;
  // Not requested: the service would reject a cancellation.
  const details = read(error, "details") as unknown[];
  return new ApplicationFailure(messageOf(error), { type: nameOf(error), details, cause: error });
}

/** Whether the error is the requested cancellation, possibly wrapped by the activity. */
function isCancellation(error: unknown, { cancelled }: Told): boolean {
  return error === cancelled.reason || isA(error, CancelledFailure) ||
    read(error, "name") === "AbortError";
}
