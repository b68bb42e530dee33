// proxyActivities: functions that schedule activities. Ids are the run's own count of activities, made in cancelled scopes too, as in
// recorded histories: the core compares them.
import {
  ActivityCancellationType as CancellationTypeNumber,
  CommandKind,
  type RetryPolicy as RetryPolicyMessage,
  ScheduleActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toPayloads } from "../../converter/payload.ts";
import { ValueError } from "../common/errors.ts";
import type { ActivityOptions, RetryPolicy } from "../common/options.ts";
import { msOptionalToNumber, msToNumber, timeoutMs } from "../common/time.ts";
import { currentRun } from "../current.ts";
import { joinScope } from "./scope.ts";

// deno-lint-ignore no-explicit-any
type ActivityFunction = (...args: any[]) => Promise<any>;
export interface UntypedActivities {
  [name: string]: ActivityFunction;
}
type WithOptions<F extends ActivityFunction> = F & {
  /** Calls it with some options changed. */
  executeWithOptions(options: ActivityOptions, args: Parameters<F>): Promise<Awaited<ReturnType<F>>>;
};
export type ActivityInterfaceFor<T> = { [K in keyof T]: T[K] extends ActivityFunction ? WithOptions<T[K]> : never };

/** An object with a function for every name; each call schedules the activity of that name. */
export function proxyActivities<A = UntypedActivities>(options: ActivityOptions): ActivityInterfaceFor<A> {
  if (options === undefined) throw new TypeError("options must be defined");
  requireTimeout(options);
  return new Proxy({} as ActivityInterfaceFor<A>, {
    get(_, name) {
      if (typeof name !== "string") {
        throw new TypeError(`Only strings are supported for Activity types, got: ${String(name)}`);
      }
      const call = (...args: unknown[]) => scheduleActivity(name, args, options);
      return Object.assign(call, {
        executeWithOptions: (changed: ActivityOptions, args: unknown[]) => scheduleActivity(name, args, merged(options, changed)),
      });
    },
  });
}

/** Schedules one activity by its name. */
export function scheduleActivity<R>(activityType: string, args: readonly unknown[], options: ActivityOptions): Promise<R> {
  const run = currentRun("Workflow.scheduleActivity(...) may only be used from a Workflow Execution");
  if (options === undefined) throw new TypeError("Got empty activity options");
  const id = run.nextActivityId++;
  requireTimeout(options);
  return new Promise<R>((resolve, reject) => {
    let seq = 0;
    const alive = joinScope(reject, () => {
      if (run.activities.has(seq)) run.cancelCommand(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, seq);
    });
    if (!alive) return;
    const command = ScheduleActivity.fromPartial({
      activityId: options.activityId ?? String(id),
      activityType,
      taskQueue: options.taskQueue ?? "",
      arguments: toPayloads(run.converter, args),
      scheduleToCloseTimeoutMs: timeoutMs(options.scheduleToCloseTimeout),
      scheduleToStartTimeoutMs: timeoutMs(options.scheduleToStartTimeout),
      startToCloseTimeoutMs: timeoutMs(options.startToCloseTimeout),
      heartbeatTimeoutMs: timeoutMs(options.heartbeatTimeout),
      ...(options.retry === undefined ? {} : { retryPolicy: retryPolicy(options.retry) }),
      cancellationType: cancellationType(options.cancellationType),
      ...(options.summary === undefined ? {} : { summary: run.converter.toPayload(options.summary) }),
    });
    seq = run.command(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, ScheduleActivity.encode(command).finish());
    run.activities.set(seq, { resolve: resolve as (value: unknown) => void, reject });
  });
}

function requireTimeout(options: ActivityOptions): void {
  if (options.scheduleToCloseTimeout === undefined && options.startToCloseTimeout === undefined) {
    throw new TypeError("Required either scheduleToCloseTimeout or startToCloseTimeout");
  }
}

function cancellationType(type: ActivityOptions["cancellationType"]): CancellationTypeNumber {
  switch (type) {
    case undefined:
    case "TRY_CANCEL":
      return CancellationTypeNumber.ACTIVITY_CANCELLATION_TYPE_TRY_CANCEL;
    case "WAIT_CANCELLATION_COMPLETED":
      return CancellationTypeNumber.ACTIVITY_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED;
    case "ABANDON":
      return CancellationTypeNumber.ACTIVITY_CANCELLATION_TYPE_ABANDON;
    default:
      throw new TypeError(`Invalid activity cancellation type: ${String(type)}`);
  }
}

/** A retry policy as a message; the checks are those of the official packages. */
export function retryPolicy(policy: RetryPolicy): RetryPolicyMessage {
  const { backoffCoefficient, maximumAttempts, nonRetryableErrorTypes = [] } = policy;
  const initialIntervalMs = msToNumber(policy.initialInterval ?? 1000);
  const maximumIntervalMs = msOptionalToNumber(policy.maximumInterval);
  const unlimited = maximumAttempts === Number.POSITIVE_INFINITY;
  const refuse = (field: string, why: string): never => {
    throw new ValueError(`RetryPolicy.${field} ${why}`);
  };
  if (backoffCoefficient !== undefined && backoffCoefficient <= 0) refuse("backoffCoefficient", "must be greater than 0");
  if (maximumAttempts !== undefined && !unlimited) {
    if (maximumAttempts <= 0) refuse("maximumAttempts", "must be a positive integer");
    if (!Number.isInteger(maximumAttempts)) refuse("maximumAttempts", "must be an integer");
  }
  if (maximumIntervalMs === 0) refuse("maximumInterval", "cannot be 0");
  if (initialIntervalMs === 0) refuse("initialInterval", "cannot be 0");
  if (maximumIntervalMs !== undefined && maximumIntervalMs < initialIntervalMs) {
    refuse("maximumInterval", "cannot be less than its initialInterval");
  }
  return {
    initialIntervalMs,
    backoffCoefficient: backoffCoefficient ?? 0,
    maximumIntervalMs: maximumIntervalMs ?? 0,
    maximumAttempts: unlimited ? 0 : maximumAttempts ?? 0,
    nonRetryableErrorTypes: [...nonRetryableErrorTypes],
  };
}

/** Options with some changed; plain objects in them (the retry policy) are merged, not replaced. */
function merged(options: ActivityOptions, changed: ActivityOptions): ActivityOptions {
  const result: { [name: string]: unknown } = { ...options };
  for (const [name, value] of Object.entries(changed)) {
    const before = result[name];
    result[name] = isPlain(before) && isPlain(value) ? { ...before, ...value } : value;
  }
  return result as ActivityOptions;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
