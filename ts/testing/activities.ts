// Activities in tests: mocks that record their calls, and a way to call an activity without a
// worker.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import {
  type ActivityContext,
  type ActivityInfo,
  callActivity,
  type CancelReason,
} from "../activity/context.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { CancelledFailure } from "../converter/failures.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { realTimers, sleepOn } from "../base/timers.ts";

// deno-lint-ignore no-explicit-any
type AnyFunction = (...args: any[]) => any;

/** The activities in a module or object: its functions. */
type FunctionsOf<T> = { [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] };

/** A mock returns what the activity would return, or a promise of it. */
export type ActivityMocks<T> = {
  [K in keyof FunctionsOf<T>]?: FunctionsOf<T>[K] extends (...args: infer A) => infer R
    ? (...args: A) => Awaited<R> | Promise<Awaited<R>>
    : never;
};

/** Mocks with the recorded arguments of each call. */
export type MockedActivities<T> = ActivityMocks<T> & {
  readonly calls: {
    readonly [K in keyof FunctionsOf<T>]: readonly ParametersOf<FunctionsOf<T>[K]>[];
  };
};
type ParametersOf<F> = F extends (...args: infer A) => unknown ? A : never;

/**
 * Creates activities for a worker under test: `mockActivities<typeof import("./payment.ts")>({ charge: async (items)
 * => 3 })`. Names, arguments and results have the types of the real activities. An activity without a mock fails with
 * an error that names it. `mocks.calls.charge` contains the arguments of each call.
 */
export function mockActivities<T>(mocks: ActivityMocks<T>): MockedActivities<T> {
  const calls: { [name: string]: unknown[][] } = {};
  const mocked: { [name: string]: unknown } = {};
  for (const [name, mock] of Object.entries(mocks) as [string, AnyFunction][]) {
    const seen: unknown[][] = calls[name] = [];
    mocked[name] = (...args: unknown[]) => {
      seen.push(args);
      return mock(...args);
    };
  }
  // An activity without a mock has no calls. Not enumerable and not a function, so that a worker
  // does not register `calls` as an activity.
  const value = new Proxy(calls, { get: (all, name) => all[name as string] ?? [] });
  return Object.defineProperty(mocked, "calls", { value }) as unknown as MockedActivities<T>;
}

/** Options of {@link runActivity}. */
export interface RunActivityOptions {
  /** Replaces fields of the info that the activity reads. */
  info?: Partial<ActivityInfo>;
  /** Headers that the activity reads. */
  headers?: ActivityContext["headers"];
  /** Called for each heartbeat. */
  onHeartbeat?: (details: unknown) => void;
  cancel?: AbortSignal;
  /** The reason that the activity gets. Default: CANCELLED. */
  cancelReason?: CancelReason;
  /** Receives the activity's log entries. Default: discarded. */
  logger?: Logger;
}

/**
 * Calls an activity as a worker would: with a context, but without a task queue, retries and
 * timeouts. Rejects with the error of the activity.
 */
export async function runActivity<A extends unknown[], R>(
  activity: (...args: A) => R,
  args: A,
  options: RunActivityOptions = {},
): Promise<Awaited<R>> {
  rejectUnknownOptions("runActivity", options, RUN_OPTIONS);
  rejectUnknownOptions("info of runActivity", options.info, DEFAULT_INFO);
  const abort = new AbortController();
  let reason: CancelReason | undefined;
  const cancel = () => {
    reason = options.cancelReason ?? "CANCELLED";
    abort.abort(new CancelledFailure("the activity was cancelled"));
  };
  if (options.cancel?.aborted) cancel();
  else options.cancel?.addEventListener("abort", cancel, { once: true });
  const context: ActivityContext = {
    info: { ...DEFAULT_INFO, ...options.info },
    headers: options.headers ?? {},
    cancelled: abort.signal,
    get cancelReason() {
      return reason;
    },
    logger: options.logger ?? silentLogger,
    heartbeat: (details) => options.onHeartbeat?.(details),
    sleep: (duration: Duration) => sleepOn(realTimers, toMs(duration), abort.signal),
    throwIfCancelled: () => abort.signal.throwIfAborted(),
  };
  return await callActivity(activity, undefined, context, args) as Awaited<R>;
}

const RUN_OPTIONS: OptionNames<RunActivityOptions> = {
  ...{ info: 1, headers: 1, onHeartbeat: 1, cancel: 1, cancelReason: 1, logger: 1 },
};
const DEFAULT_INFO: ActivityInfo = {
  taskToken: new Uint8Array([1]),
  activityId: "1",
  activityType: "test",
  taskQueue: "test",
  namespace: "default",
  workflowId: "test-workflow",
  runId: "00000000-0000-0000-0000-000000000000",
  workflowType: "Test",
  attempt: 1,
  isLocal: false,
  idempotencyKey: "test-workflow/00000000-0000-0000-0000-000000000000/1",
  heartbeatDetails: undefined,
  scheduledTime: undefined,
  currentAttemptScheduledTime: undefined,
  startedTime: undefined,
  heartbeatTimeoutMs: undefined,
  startToCloseTimeoutMs: undefined,
  scheduleToCloseTimeoutMs: undefined,
};
