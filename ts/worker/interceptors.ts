// Interceptors of activities: tracing, authorization, a tenant from a header, checks of arguments.
import type { ActivityContext } from "../activity/context.ts";
import type { HidesText } from "../codec/loggable.ts";
import type { Payload } from "../converter/payload.ts";
import type { RunActivity } from "./activities/activity_dialect.ts";

/** An attempt of an activity that is about to run. */
export interface ActivityCall {
  /** Ids, limits, cancellation and headers of the attempt, as in the activity. */
  readonly context: ActivityContext;
  /** The arguments from the workflow. */
  readonly args: readonly unknown[];
  /** Headers of the workflow's start, as changed by the caller's interceptors. */
  readonly headers: { readonly [name: string]: Payload };
  /** The worker has `encodeCommonAttributes`: do not log or trace messages and stacks of errors. */
  readonly hidesText: boolean;
}

/**
 * Wraps the attempts of activities (`WorkerOptions.activityInterceptors`). Gets the call and
 * `next`, which continues, and resolves to the activity's result. An interceptor may change
 * arguments or the result, throw (which fails the attempt), or skip `next`. The first interceptor
 * is the outermost. Interceptors run in the worker's thread, also for activities in threads.
 *
 * @example
 * const timed: ActivityInterceptor = async (call, next) => {
 *   const began = performance.now();
 *   try {
 *     return await next(call);
 *   } finally {
 *     call.context.logger.info("an activity ran", { ms: performance.now() - began });
 *   }
 * };
 */
export type ActivityInterceptor = (
  call: ActivityCall,
  next: (call: ActivityCall) => Promise<unknown>,
) => Promise<unknown>;

/** Returns the activity with its interceptors; the activity itself without interceptors. */
export function interceptActivity(
  activity: RunActivity,
  interceptors: readonly ActivityInterceptor[],
  codec: HidesText | undefined,
): RunActivity {
  if (interceptors.length === 0) return activity;
  const hidesText = codec?.hidesText === true;
  return async (context, args) => {
    const last = async (call: ActivityCall) => await activity(call.context, [...call.args]);
    const chain = interceptors.reduceRight<(call: ActivityCall) => Promise<unknown>>(
      (next, interceptor) => async (call) => await interceptor({ ...call, hidesText }, next),
      last,
    );
    return await chain({ context, args, headers: context.headers, hidesText });
  };
}
