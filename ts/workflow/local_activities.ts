// localActivities<T>(options): a typed proxy as activities() makes one, for activities that the workflow's own worker runs within the
// workflow task. The name on the wire is the property key, with an optional prefix.
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
import { activityProxy, type AnyFunction, cancellationOf, DEFAULT_START_TO_CLOSE_MS } from "./activities.ts";
import { ms, readRetryPolicy, type RetryOptions } from "./retry.ts";

/** Limits and retries of a local activity. Durations: milliseconds or text such as "10s". */
export interface LocalActivityOptions {
  /** Longest time of one attempt. Default: 30 s, when neither this nor scheduleToClose is given. */
  readonly startToClose?: Duration;
  /** Longest time from the first call to the end, retries included. Default: no limit. */
  readonly scheduleToClose?: Duration;
  /** Longest wait for a free place in the worker. Default: no limit. */
  readonly scheduleToStart?: Duration;
  /** How failed attempts are tried again. Default: 1 s, doubled each time up to 100 s, without end. */
  readonly retry?: RetryOptions;
  /**
   * A retry that is due later than this waits in a durable timer of the workflow; a nearer one waits in the worker, and keeps the workflow
   * task open. Default: 60 s.
   */
  readonly localRetryThreshold?: Duration;
  /**
   * On cancellation: "tryCancel" (default) tells the activity and rejects at once; "waitCancellationCompleted" waits for its answer;
   * "abandon" rejects at once and lets it run.
   */
  readonly cancellationType?: "tryCancel" | "waitCancellationCompleted" | "abandon";
  /** A line for people who look at the history. */
  readonly summary?: string;
}

/** Options of {@link localActivities}. */
export interface LocalActivitiesOptions extends LocalActivityOptions {
  /** Put before every property key to make the name on the wire, e.g. "payment.". */
  readonly prefix?: string;
}

/** A local activity as workflow code calls it. */
export interface LocalActivityCall<A extends unknown[], R> {
  /** Runs the activity and waits for it. Rejects with an ActivityFailure whose cause says what happened. */
  (...args: A): Promise<R>;
  /** The same activity with other options, over those of the proxy. */
  with(options: LocalActivityOptions): LocalActivityCall<A, R>;
}

/** The activities among a module's exports, as local ones. */
export type LocalActivities<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends AnyFunction
    ? LocalActivityCall<Parameters<T[K]>, Awaited<ReturnType<T[K]>>>
    : never;
};

/**
 * Activities of type `T` that the worker which has the workflow runs itself, within the workflow task: for short calls whose way over a
 * task queue would take longer than they do. They are the same functions, registered under `activities`.
 *
 * @example
 * const lookups = localActivities<typeof import("./lookups.ts")>({ startToClose: "2s" });
 * const rate = await lookups.exchangeRate("EUR");
 */
export function localActivities<T>(options: LocalActivitiesOptions = {}): LocalActivities<T> {
  rejectUnknownOptions("localActivities", options, LOCAL_ACTIVITIES_OPTIONS);
  const { prefix = "", ...common } = options;
  const base = checked(common);
  return activityProxy((key) => makeCall({ ...base, activityType: prefix + key })) as LocalActivities<T>;
}

const LOCAL_ACTIVITY_OPTIONS: OptionNames<LocalActivityOptions> = {
  ...{ startToClose: 1, scheduleToClose: 1, scheduleToStart: 1, retry: 1, localRetryThreshold: 1, cancellationType: 1 },
  summary: 1,
};
const LOCAL_ACTIVITIES_OPTIONS: OptionNames<LocalActivitiesOptions> = { ...LOCAL_ACTIVITY_OPTIONS, prefix: 1 };

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

/** The options as the core wants them, over `before`. */
function checked(options: LocalActivityOptions, before: Common = NOTHING): Common {
  const spec = {
    scheduleToCloseTimeoutMs: ms("scheduleToClose", options.scheduleToClose, before.scheduleToCloseTimeoutMs),
    scheduleToStartTimeoutMs: ms("scheduleToStart", options.scheduleToStart, before.scheduleToStartTimeoutMs),
    startToCloseTimeoutMs: ms("startToClose", options.startToClose, before.startToCloseTimeoutMs),
    localRetryThresholdMs: ms("localRetryThreshold", options.localRetryThreshold, before.localRetryThresholdMs),
    retryPolicy: options.retry === undefined ? before.retryPolicy : readRetryPolicy(options.retry),
    cancellationType: cancellationOf(options.cancellationType, before.cancellationType),
    summary: options.summary ?? before.summary,
  };
  if (spec.startToCloseTimeoutMs === 0 && spec.scheduleToCloseTimeoutMs === 0) {
    spec.startToCloseTimeoutMs = DEFAULT_START_TO_CLOSE_MS;
  }
  return spec;
}
