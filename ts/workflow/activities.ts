// activities<T>(options): a typed proxy over the activities of a module. The type name is the
// property key with an optional prefix, never function.name, which minifiers and re-exports change.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import type { TaskPriority } from "../base/priority.ts";
import type { Duration } from "../converter/duration.ts";
import {
  ActivityAwaiter,
  type ActivityOptionsShape,
  CANCELLATION,
  prepareActivity,
} from "../executor/primitives/activities.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { NO_PRIORITY, readPriority } from "./priority.ts";
import { ms, readRetryPolicy, type RetryOptions } from "./retry.ts";

/** Timeouts and retries of an activity. Durations: milliseconds or text such as "10s". */
export interface ActivityOptions {
  /** Longest time of one attempt. Default: 30 s if scheduleToClose is not set either. */
  readonly startToClose?: Duration;
  /** Longest time from scheduling to the end, including retries. Default: no limit. */
  readonly scheduleToClose?: Duration;
  /** Longest wait for a worker. Default: no limit. */
  readonly scheduleToStart?: Duration;
  /** An attempt without a heartbeat for this long has failed. Default: no heartbeats required. */
  readonly heartbeat?: Duration;
  /** Retry policy. Default: 1 s, doubled each time up to 100 s, without limit of attempts. */
  readonly retry?: RetryOptions;
  /**
   * On cancellation: "tryCancel" (default) requests it and rejects at once;
   * "waitCancellationCompleted" waits for the end of the activity; "abandon" rejects at once and
   * lets it run.
   */
  readonly cancellationType?: "tryCancel" | "waitCancellationCompleted" | "abandon";
  /** Default: the workflow's task queue. */
  readonly taskQueue?: string;
  /** One line for display in the history. */
  readonly summary?: string;
  /** Id, unique among the open activities of the run. Default: a number. */
  readonly activityId?: string;
  /** Order of its tasks in the queue. Default: the workflow's. */
  readonly priority?: TaskPriority;
}

/** Options of {@link activities}. */
export interface ActivitiesOptions extends ActivityOptions {
  /** Prefix of every property key in the type name, for example "payment.". */
  readonly prefix?: string;
}

// deno-lint-ignore no-explicit-any
export type AnyFunction = (...args: any[]) => any;

/** An activity as a function of workflow code. */
export interface ActivityCall<A extends unknown[], R> {
  /** Runs the activity and waits for it. Rejects with an ActivityFailure that has the cause. */
  (...args: A): Promise<R>;
  /** Returns the same activity with options that override those of the proxy. */
  with(options: ActivityOptions): ActivityCall<A, R>;
}

/** The activities among a module's exports. */
export type Activities<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends AnyFunction
    ? ActivityCall<Parameters<T[K]>, Awaited<ReturnType<T[K]>>>
    : never;
};

/**
 * Returns activities of type `T` (usually `typeof import("./activities.ts")`), with shared options.
 *
 * @example
 * const pay = activities<typeof import("./payment.ts")>({ startToClose: "1m", retry: { maximumAttempts: 5 } });
 * const receipt = await pay.charge(order);
 * await pay.refund.with({ summary: "customer left" })(order);
 */
export function activities<T>(options: ActivitiesOptions = {}): Activities<T> {
  rejectUnknownOptions("activities", options, ACTIVITIES_OPTIONS);
  const { prefix = "", ...common } = options;
  const base = checked(common);
  return activityProxy((key) => makeCall({ ...base, activityType: prefix + key })) as Activities<T>;
}

/**
 * Returns an object with a function for every name, created on first access. `what`: for messages.
 */
export function activityProxy(make: (key: string) => unknown, what = "activities"): object {
  const calls = new Map<string, unknown>();
  return new Proxy({}, {
    get(_target, key) {
      // The language and printers read symbols; every await of the proxy reads `then`.
      if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
      let call = calls.get(key);
      if (call === undefined) calls.set(key, call = make(key));
      return call;
    },
    set() {
      throw new TypeError(`${what} cannot be assigned to the proxy; register them with the worker`);
    },
  });
}

const ACTIVITY_OPTIONS: OptionNames<ActivityOptions> = {
  ...{
    startToClose: 1,
    scheduleToClose: 1,
    scheduleToStart: 1,
    heartbeat: 1,
    retry: 1,
    cancellationType: 1,
  },
  ...{ taskQueue: 1, summary: 1, activityId: 1, priority: 1 },
};
const ACTIVITIES_OPTIONS: OptionNames<ActivitiesOptions> = { ...ACTIVITY_OPTIONS, prefix: 1 };

function makeCall(options: ActivityOptionsShape): ActivityCall<unknown[], unknown> {
  const spec = prepareActivity(options);
  const api = `activity "${options.activityType}"`;
  const call = (...args: unknown[]): Promise<unknown> => {
    const fiber = waitingFiber(api);
    if (fiber instanceof Error) return rejected(fiber);
    return new ActivityAwaiter(fiber, spec, args).promise;
  };
  return Object.assign(call, {
    with(over: ActivityOptions) {
      rejectUnknownOptions(api, over, ACTIVITY_OPTIONS);
      return makeCall({ ...options, ...checked(over ?? {}, options) });
    },
  });
}

export const DEFAULT_START_TO_CLOSE_MS = 30_000;

type Common = Omit<ActivityOptionsShape, "activityType">;

const NOTHING: Common = {
  activityId: "",
  taskQueue: "",
  scheduleToCloseTimeoutMs: 0,
  scheduleToStartTimeoutMs: 0,
  startToCloseTimeoutMs: 0,
  heartbeatTimeoutMs: 0,
  retryPolicy: undefined,
  cancellationType: CANCELLATION.tryCancel,
  summary: undefined,
  priority: NO_PRIORITY,
  versioningIntent: 0,
};

/** Converts the type for the core; `before` if undefined. Throws for an unknown type. */
export function cancellationOf(
  type: keyof typeof CANCELLATION | undefined,
  before: Common["cancellationType"],
): Common["cancellationType"] {
  if (type === undefined) return before;
  if (CANCELLATION[type] !== undefined) return CANCELLATION[type];
  throw new TypeError(
    `cancellationType must be one of ${Object.keys(CANCELLATION).join(", ")}, not "${type}"`,
  );
}

/** Converts the options for the core, over `before`. Throws for invalid values. */
function checked(
  options: ActivityOptions,
  before: Common = NOTHING,
): Common {
  const spec = {
    activityId: options.activityId ?? before.activityId,
    taskQueue: options.taskQueue ?? before.taskQueue,
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
    heartbeatTimeoutMs: ms("heartbeat", options.heartbeat, before.heartbeatTimeoutMs),
    retryPolicy: options.retry === undefined ? before.retryPolicy : readRetryPolicy(options.retry),
    cancellationType: cancellationOf(options.cancellationType, before.cancellationType),
    summary: options.summary ?? before.summary,
    priority: readPriority(options.priority, before.priority),
    versioningIntent: before.versioningIntent,
  };
  if (spec.startToCloseTimeoutMs === 0 && spec.scheduleToCloseTimeoutMs === 0) {
    spec.startToCloseTimeoutMs = DEFAULT_START_TO_CLOSE_MS;
  }
  return spec;
}
