// Code around the activities of a worker: tracing, authorization, a tenant from a header, arguments changed or checked.
import type { ActivityContext } from "../activity/context.ts";
import type { HidesText } from "../codec/loggable.ts";
import type { Payload } from "../converter/payload.ts";
import type { RunActivity } from "./activity_dialect.ts";

/** An attempt of an activity that is about to run. */
export interface ActivityCall {
  /** Ids, limits, cancellation and headers of the attempt, as the activity sees them. */
  readonly context: ActivityContext;
  /** What the workflow called the activity with. */
  readonly args: readonly unknown[];
  /** Headers of the workflow's start, or what the caller's interceptors made of them. */
  readonly headers: { readonly [name: string]: Payload };
  /** The worker has `encodeCommonAttributes`: an interceptor must not log or trace messages and stacks of errors. */
  readonly hidesText: boolean;
}

/**
 * Code around the attempts of activities (`WorkerOptions.activityInterceptors`): it is given the call and `next`, which goes on, and answers
 * the activity's result. It may pass other arguments, replace the result, throw (the attempt fails with that), or not go on at all. The first
 * interceptor of the list is the outermost one. It runs where the worker runs, also for activities in threads.
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
export type ActivityInterceptor = (call: ActivityCall, next: (call: ActivityCall) => Promise<unknown>) => Promise<unknown>;

/** The activity with the interceptors around it; without any it is the activity itself. */
export function intercepted(
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
