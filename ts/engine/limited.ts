// The deadline and the signal of a call whose work cannot be stopped.
import { realTimers } from "../base/timers.ts";
import type { CallOptions, ServiceError } from "../service/raw.ts";
import { callCanceled } from "./refusals.ts";

/**
 * Stops waiting when the signal is aborted, and with the error of `late` when the time is over; the
 * work continues.
 */
export function limited<T>(
  work: Promise<T>,
  { signal, timeoutMs = Infinity }: Pick<CallOptions, "signal" | "timeoutMs">,
  late: () => ServiceError,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const canceled = () => end(() => reject(callCanceled()));
    const stop = timeoutMs < Infinity
      ? realTimers.after(timeoutMs, () => end(() => reject(late())))
      : () => {};
    const end = (settle: () => void) => {
      stop();
      signal?.removeEventListener("abort", canceled);
      settle();
    };
    signal?.addEventListener("abort", canceled);
    work.then((value) => end(() => resolve(value)), (error) => end(() => reject(error)));
  });
}
