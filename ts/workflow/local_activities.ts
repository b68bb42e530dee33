// localActivities<T>(options): a typed proxy like activities(), for activities that the workflow's
// worker runs within the workflow task. The type name is the property key with an optional prefix.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import type { Duration } from "../converter/duration.ts";
import { CANCELLATION } from "../executor/primitives/activities.ts";
import {
  LocalActivityAwaiter,
  type LocalActivityOptionsShape,
  prepareLocalActivity,
} from "../executor/primitives/local_activities.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import {
  activityProxy,
  type AnyFunction,
  cancellationOf,
  DEFAULT_START_TO_CLOSE_MS,
} from "./activities.ts";
import { ms, readRetryPolicy, type RetryOptions } from "./retry.ts";

/** Timeouts and retries of a local activity. Durations: milliseconds or text such as "10s". */
export interface LocalActivityOptions {
  /** Longest time of one attempt. Default: 30 s if scheduleToClose is not set either. */
  readonly startToClose?: Duration;
  /** Longest time from the first call to the end, including retries. Default: no limit. */
  readonly scheduleToClose?: Duration;
  /** Longest wait for a slot in the worker. Default: no limit. */
  readonly scheduleToStart?: Duration;
  /** Retry policy. Default: 1 s, doubled each time up to 100 s, without limit of attempts. */
  readonly retry?: RetryOptions;
  /**
   * A later retry waits in a durable timer of the workflow; an earlier one in the worker, which
   * keeps the workflow task open. Default: 60 s.
   */
  readonly localRetryThreshold?: Duration;
  /**
   * On cancellation: "tryCancel" (default) requests it and rejects at once;
   * "waitCancellationCompleted" waits for the end of the activity; "abandon" rejects at once and
   * lets it run.
   */
  readonly cancellationType?: "tryCancel" | "waitCancellationCompleted" | "abandon";
  /** One line for display in the history. */
  readonly summary?: string;
}

/** Options of {@link localActivities}. */
export interface LocalActivitiesOptions extends LocalActivityOptions {
  /** Prefix of every property key in the type name, for example "payment.". */
  readonly prefix?: string;
}

/** A local activity as a function of workflow code. */
export interface LocalActivityCall<A extends unknown[], R> {
  /** Runs the activity and waits for it. Rejects with an ActivityFailure that has the cause. */
  (...args: A): Promise<R>;
  /** Returns the same activity with options that override those of the proxy. */
  with(options: LocalActivityOptions): LocalActivityCall<A, R>;
}

/** The activities among a module's exports, as local ones. */
export type LocalActivities<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends AnyFunction
    ? LocalActivityCall<Parameters<T[K]>, Awaited<ReturnType<T[K]>>>
    : never;
};

/**
 * Returns activities of type `T` that the workflow's worker runs within the workflow task: for
 * short calls that would wait longer in a task queue. They are the functions registered under
 * `activities`.
 *
 * @example
 * const lookups = localActivities<typeof import("./lookups.ts")>({ startToClose: "2s" });
 * const rate = await lookups.exchangeRate("EUR");
 */
export function localActivities<T>(options: LocalActivitiesOptions = {}): LocalActivities<T> {
  rejectUnknownOptions("localActivities", options, LOCAL_ACTIVITIES_OPTIONS);
  const { prefix = "", ...common } = options;
  const base = checked(common);
  return activityProxy((key) =>
    makeCall({ ...base, activityType: prefix + key })
  ) as LocalActivities<T>;
}

const LOCAL_ACTIVITY_OPTIONS: OptionNames<LocalActivityOptions> = {
  ...{
    startToClose: 1,
    scheduleToClose: 1,
    scheduleToStart: 1,
    retry: 1,
    localRetryThreshold: 1,
    cancellationType: 1,
  },
  summary: 1,
};
const LOCAL_ACTIVITIES_OPTIONS: OptionNames<LocalActivitiesOptions> = {
  ...LOCAL_ACTIVITY_OPTIONS,
  prefix: 1,
};

function makeCall(options: LocalActivityOptionsShape): LocalActivityCall<unknown[], unknown> {
  const spec = prepareLocalActivity(options);
  const api = `local activity "${options.activityType}"`;
  const call = (...args: unknown[]): Promise<unknown> => {
    const fiber = waitingFiber(api);
    if (fiber instanceof Error) return rejected(fiber);
    return new LocalActivityAwaiter(fiber, spec, args).promise;
  };
  return Object.assign(call, {
    with(over: LocalActivityOptions) {
      rejectUnknownOptions(api, over, LOCAL_ACTIVITY_OPTIONS);
      return makeCall({ ...options, ...checked(over ?? {}, options) });
    },
  });
}

type Common = Omit<LocalActivityOptionsShape, "activityType">;

const NOTHING: Common = {
  scheduleToCloseTimeoutMs: 0,
  scheduleToStartTimeoutMs: 0,
  startToCloseTimeoutMs: 0,
  localRetryThresholdMs: 0,
  retryPolicy: undefined,
  cancellationType: CANCELLATION.tryCancel,
  summary: undefined,
};

/** Converts the options for the core, over `before`. */
function checked(options: LocalActivityOptions, before: Common = NOTHING): Common {
  const spec = {
    scheduleToCloseTimeoutMs: ms(
      "scheduleToClose",
      options.scheduleToClose,
      before.scheduleToCloseTimeoutMs,
    ),
    scheduleToStartTimeoutMs: ms(
      "scheduleToStart",
      options.scheduleToStart,
      before.scheduleToStartTimeoutMs,
    ),
    startToCloseTimeoutMs: ms("startToClose", options.startToClose, before.startToCloseTimeoutMs),
    localRetryThresholdMs: ms(
      "localRetryThreshold",
      options.localRetryThreshold,
      before.localRetryThresholdMs,
    ),
    retryPolicy: options.retry === undefined ? before.retryPolicy : readRetryPolicy(options.retry),
    cancellationType: cancellationOf(options.cancellationType, before.cancellationType),
    summary: options.summary ?? before.summary,
  };
  if (spec.startToCloseTimeoutMs === 0 && spec.scheduleToCloseTimeoutMs === 0) {
    spec.startToCloseTimeoutMs = DEFAULT_START_TO_CLOSE_MS;
  }
  return spec;
}
