// What an attempt that threw has come to: it was told to stop and did, or it failed.
import type { CancelReason } from "../activity/context.ts";
import { ApplicationFailure, CancelledFailure } from "../converter/failures.ts";
import { isA, messageOf, nameOf, read } from "../converter/thrown.ts";
import { CANCEL_MESSAGES } from "./attempt_context.ts";

/** What an attempt was told, and with what. */
export interface Told {
  /** Why it is to stop; undefined: it is not. */
  readonly cancelReason: CancelReason | undefined;
  /** The signal that its native context has. */
  readonly cancelled: AbortSignal;
}

/** The workflow wanted it to stop, and it did. */
export const STOPPED = Symbol("the activity stopped on request of its workflow");

/** The error that an attempt failed with, or STOPPED. */
export function attemptEnd(error: unknown, told: Told): unknown {
  const reason = told.cancelReason;
  if (reason !== undefined && isCancellation(error, told)) {
    return reason === "CANCELLED" ? STOPPED : new ApplicationFailure(CANCEL_MESSAGES[reason], { type: reason, cause: error });
  }
  if (!isA(error, CancelledFailure)) return error;
  // Nobody asked for it: the service would refuse a cancellation.
  const details = read(error, "details") as unknown[];
  return new ApplicationFailure(messageOf(error), { type: nameOf(error), details, cause: error });
}

/** The cancellation that was delivered, in whatever shape the activity passed it on. */
function isCancellation(error: unknown, { cancelled }: Told): boolean {
  return error === cancelled.reason || isA(error, CancelledFailure) || read(error, "name") === "AbortError";
}
