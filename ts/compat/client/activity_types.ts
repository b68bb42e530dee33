// Types of `ActivityClient`: options, handles, descriptions, interceptors.
import type { Priority, RetryPolicy } from "../common/mod.ts";
import type { WorkerDeploymentVersion } from "../common/deployments.ts";
import type { Headers } from "../common/interceptors.ts";
import type { Next } from "../common/interceptors.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import type { SearchAttributePair, TypedSearchAttributes } from "../common/search_attributes.ts";
import type { Duration } from "../common/time.ts";
import type { PayloadTypeInfo, TypeInfo } from "../common/type_info.ts";
import type {
  ActivityExecutionStatus,
  ActivityIdConflictPolicy,
  ActivityIdReusePolicy,
  PendingActivityState,
} from "./enums.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Options of a standalone activity. One of startToCloseTimeout and scheduleToCloseTimeout is required. */
export interface ActivityOptions {
  id: string;
  taskQueue: string;
  /** Arguments of the activity. */
  args?: Any[] | Readonly<Any[]>;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
  /** Limit between two heartbeats. */
  heartbeatTimeout?: Duration;
  /** Default: the server's policy. */
  retry?: RetryPolicy;
  /** Limit of one attempt. */
  startToCloseTimeout?: Duration;
  /** Limit of the time until a worker takes an attempt. */
  scheduleToStartTimeout?: Duration;
  /** Limit of all attempts together. */
  scheduleToCloseTimeout?: Duration;
  /** One line for user interfaces. */
  summary?: string;
  /** Priority of its tasks. */
  priority?: Priority;
  /** Delay of the first attempt. */
  startDelay?: Duration;
  /** Whether the id of a closed activity can be reused. */
  idReusePolicy?: ActivityIdReusePolicy;
  /** What the start does if the id is in use. */
  idConflictPolicy?: ActivityIdConflictPolicy;
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
}

/** Options of `getHandleWithOptions`. */
export interface GetActivityHandleOptions {
  /** Default: the latest run. */
  runId?: string;
  /** Type hint of the result. */
  typeInfo?: Pick<PayloadTypeInfo, "outputType">;
}

/** What a description includes. */
export interface ActivityDescribeOptions {
  /** Arguments of the activity. */
  includeInput?: boolean;
  /** Result or failure of a closed activity. */
  includeOutcome?: boolean;
  /** Details of the last heartbeat. */
  includeHeartbeatDetails?: boolean;
  /** Failure of the last attempt. */
  includeLastFailure?: boolean;
}

/** Options of `pause`. */
export interface ActivityPauseOptions {
  /** Reason, for user interfaces. */
  reason?: string;
}

/** Options of `unpause`. */
export interface ActivityUnpauseOptions {
  /** Reason, for user interfaces. */
  reason?: string;
  /** The attempt starts after a random delay of at most this length. */
  jitter?: Duration;
}

/** Changed options: null clears an option, undefined leaves it unchanged. */
export interface ActivityOptionsUpdate {
  taskQueue?: string;
  /** Limit of all attempts together. */
  scheduleToCloseTimeout?: Duration | null;
  /** Limit of the wait for a worker. */
  scheduleToStartTimeout?: Duration | null;
  /** Limit of one attempt. */
  startToCloseTimeout?: Duration | null;
  /** Limit between two heartbeats. */
  heartbeatTimeout?: Duration | null;
  /** When another attempt follows a failed one. */
  retry?: RetryPolicy | null;
  /** Place in the task queue. */
  priority?: Priority | null;
  /** Wait before the first attempt. */
  startDelay?: Duration | null;
}

/** The options after an update. */
export type ActivityOptionsUpdateResult = {
  [K in keyof ActivityOptionsUpdate]: Exclude<ActivityOptionsUpdate[K], null>;
};

/** The message of a description. */
export type RawActivityExecutionInfo = PlainMessage;
/** The message of an entry of a list. */
export type RawActivityExecutionListInfo = PlainMessage;
/** The messages of callbacks. */
export type RawActivityExecutionCallbacks = PlainMessage[];

/** A standalone activity in a list. */
export interface ActivityExecutionInfo {
  /** The message of the service. */
  rawListInfo?: RawActivityExecutionListInfo;
  activityId: string;
  activityRunId: string;
  activityType: string;
  /** Time of the start. */
  scheduleTime?: Date;
  /** Time of the end. */
  closeTime?: Date;
  /** Running, paused, or how it has ended. */
  status: ActivityExecutionStatus;
  /** Search attributes of the start. */
  typedSearchAttributes: TypedSearchAttributes;
  taskQueue: string;
  /** Time between start and close, in milliseconds. */
  executionDurationMs?: number;
  /** Time of the first attempt. */
  executionTime?: Date;
}

/** A standalone activity in detail. */
export interface ActivityExecutionDescription extends ActivityExecutionInfo {
  /** The messages of its callbacks. */
  rawCallbacks: RawActivityExecutionCallbacks;
  /** The message of the service. */
  rawInfo: RawActivityExecutionInfo;
  /** State of an open activity. */
  runState?: PendingActivityState;
  /** Limit of all attempts together, in milliseconds. */
  scheduleToCloseTimeoutMs?: number;
  /** Limit of the wait for a worker, in milliseconds. */
  scheduleToStartTimeoutMs?: number;
  /** Limit of one attempt, in milliseconds. */
  startToCloseTimeoutMs?: number;
  /** Limit between two heartbeats, in milliseconds. */
  heartbeatTimeoutMs?: number;
  /** With the defaults of the service. */
  retryPolicy: RetryPolicy;
  /** Undefined before the first heartbeat. */
  lastHeartbeatTime?: Date;
  /** Start of the last attempt. */
  lastStartedTime?: Date;
  /** From 1. */
  attempt: number;
  /** Time at which the schedule-to-close timeout ends. */
  expirationTime?: Date;
  /** The worker of the last attempt. */
  lastWorkerIdentity?: string;
  /** Wait before the next attempt, in milliseconds. */
  currentRetryIntervalMs?: number;
  /** End of the last attempt. */
  lastAttemptCompleteTime?: Date;
  /** Undefined while an attempt runs or waits for a worker. */
  nextAttemptScheduleTime?: Date;
  /** Version of the worker of the last attempt. */
  lastDeploymentVersion?: WorkerDeploymentVersion;
  /** Place in the task queue. */
  priority: Priority;
  /** Reason of the request to cancel. */
  canceledReason?: string;
  /** Wait before the first attempt, in milliseconds. */
  startDelayMs?: number;
  /** Heartbeats of all attempts. */
  totalHeartbeatCount?: number;
  /** Whether `getHeartbeatDetails` has details. */
  hasHeartbeatDetails: boolean;
  /** Whether `getLastFailure` has a failure. */
  hasLastFailure: boolean;
  /** Whether `getInput` has arguments. */
  hasInput: boolean;
  /** Whether `getResult` has a result. */
  hasResult: boolean;
  /** Whether `getOutcomeFailure` has a failure. */
  hasOutcomeFailure: boolean;
  /** Details of the last heartbeat, if they were included. */
  getHeartbeatDetails<T = Any>(): Promise<T | undefined>;
  /** Failure of the last attempt, if it was included. */
  getLastFailure(): Promise<Error | undefined>;
  /** Arguments, if they were included. */
  getInput<T extends Any[] = Any[]>(): Promise<T | undefined>;
  /** Result, if the outcome was included. */
  getResult<T = Any>(): Promise<T | undefined>;
  /** Failure, if the outcome was included. */
  getOutcomeFailure(): Promise<Error | undefined>;
}

/** A count of standalone activities. */
export interface CountActivityExecutions {
  /** All that match the query. */
  readonly count: number;
  readonly groups?: { readonly count: number; readonly groupValues?: Any[] }[];
}

/** Handle of a standalone activity. */
export interface ActivityHandle<R = Any> {
  readonly activityId: string;
  /** Undefined for the latest run. */
  readonly runId?: string;
  /** Waits for the result. Throws an ActivityExecutionFailedError without one. */
  result(): Promise<R>;
  /** Returns state and options. */
  describe(options?: ActivityDescribeOptions): Promise<ActivityExecutionDescription>;
  /** Requests cancellation. */
  cancel(reason: string): Promise<void>;
  /** Ends the activity; its worker is not notified. */
  terminate(reason: string): Promise<void>;
  /** Pauses the activity: no attempt starts. */
  pause(options?: ActivityPauseOptions): Promise<void>;
  /** Resumes a paused activity. */
  unpause(options?: ActivityUnpauseOptions): Promise<void>;
  /** Changes options of an open activity and returns all. */
  updateOptions(options: ActivityOptionsUpdate): Promise<ActivityOptionsUpdateResult>;
  /** Restores the options of the start and returns them. */
  restoreOriginalOptions(): Promise<ActivityOptionsUpdate>;
}

/** Input of `start`. */
export interface ActivityStartInput {
  readonly activityType: string;
  readonly options: ActivityOptions;
  /** Headers that are sent with the call. */
  readonly headers: Headers;
}

/** The activity of an intercepted operation; an empty run id is the latest run. */
interface ActivityInput {
  readonly activityId: string;
  readonly activityRunId: string;
  /** Headers that are sent with the call. */
  readonly headers: Headers;
}

/** Input of `getResult`. */
export interface ActivityGetResultInput extends ActivityInput {
  /** Type hint of the result. */
  readonly outputType?: TypeInfo;
}
/** Input of `describe`. */
export interface ActivityDescribeInput extends ActivityInput {
  /** What is included. */
  readonly options: Required<ActivityDescribeOptions>;
}
/** Input of `cancel`. */
export interface ActivityCancelInput extends ActivityInput {
  /** Reason, for user interfaces. */
  readonly reason: string;
}
/** Input of `terminate`. */
export interface ActivityTerminateInput extends ActivityInput {
  /** Reason, for user interfaces. */
  readonly reason: string;
}
/** Input of `list`. */
export interface ActivityListInput {
  /** A list filter; "" selects all. */
  readonly query: string;
  /** Headers that are sent with the call. */
  readonly headers: Headers;
}
/** Input of `count`. */
export interface ActivityCountInput {
  /** A list filter; "" selects all. */
  readonly query: string;
  /** Headers that are sent with the call. */
  readonly headers: Headers;
}
/** Input of `pause`. */
export interface ActivityPauseInput extends ActivityInput {
  readonly options: ActivityPauseOptions;
}
/** Input of `unpause`. */
export interface ActivityUnpauseInput extends ActivityInput {
  /** Options of the resumption. */
  readonly options: ActivityUnpauseOptions;
}
/** Input of `updateOptions`. */
export interface ActivityUpdateOptionsInput extends ActivityInput {
  /** What changes. */
  readonly options: ActivityOptionsUpdate;
}
/** Input of `restoreOriginalOptions`. */
export type ActivityRestoreOriginalOptionsInput = ActivityInput;

/** Interceptor of an activity client's operations. */
export interface ActivityClientInterceptor {
  /** Intercepts starts. */
  start?: (input: ActivityStartInput, next: Next<this, "start">) => Promise<ActivityHandle>;
  /** Intercepts waits for a result. */
  getResult?: (input: ActivityGetResultInput, next: Next<this, "getResult">) => Promise<Any>;
  /** Intercepts descriptions. */
  describe?: (
    input: ActivityDescribeInput,
    next: Next<this, "describe">,
  ) => Promise<ActivityExecutionDescription>;
  /** Intercepts cancellations. */
  cancel?: (input: ActivityCancelInput, next: Next<this, "cancel">) => Promise<void>;
  /** Intercepts terminations. */
  terminate?: (input: ActivityTerminateInput, next: Next<this, "terminate">) => Promise<void>;
  /** Intercepts lists. */
  list?: (
    input: ActivityListInput,
    next: Next<this, "list">,
  ) => AsyncIterable<ActivityExecutionInfo>;
  /** Intercepts counts. */
  count?: (
    input: ActivityCountInput,
    next: Next<this, "count">,
  ) => Promise<CountActivityExecutions>;
  /** Intercepts pauses. */
  pause?: (input: ActivityPauseInput, next: Next<this, "pause">) => Promise<void>;
  /** Intercepts the end of pauses. */
  unpause?: (input: ActivityUnpauseInput, next: Next<this, "unpause">) => Promise<void>;
  /** Intercepts changes of options. */
  updateOptions?: (
    input: ActivityUpdateOptionsInput,
    next: Next<this, "updateOptions">,
  ) => Promise<ActivityOptionsUpdateResult>;
  /** Intercepts the restoration of options. */
  restoreOriginalOptions?: (
    input: ActivityRestoreOriginalOptionsInput,
    next: Next<this, "restoreOriginalOptions">,
  ) => Promise<ActivityOptionsUpdate>;
}

type AnyFunction = (...args: Any[]) => Promise<Any>;

/** Names of the activities of `T`. */
export type ActivityName<T> = {
  [N in keyof T & string]: T[N] extends AnyFunction ? N : never;
}[keyof T & string];
/** Arguments of an activity of `T`. */
export type ActivityArgs<T, N extends ActivityName<T>> = T[N] extends
  (...args: infer A) => Promise<Any> ? A : never;
/** Result of an activity of `T`. */
export type ActivityResult<T, N extends ActivityName<T>> = T[N] extends
  (...args: Any[]) => Promise<infer R> ? R : never;
/** Options with typed arguments, which are required if the activity has some. */
export type ActivityOptionsWithArgs<Args extends Any[]> =
  & Omit<ActivityOptions, "args">
  & (Args extends [Any, ...Any] ? { args: Args | Readonly<Args> }
    : { args?: Args | Readonly<Args> });
/** Options of an activity of `T`. */
export type ActivityOptionsFor<T, N extends ActivityName<T>> = ActivityOptionsWithArgs<
  ActivityArgs<T, N>
>;

/** Starts activities of `T` with typed arguments and results. */
export interface TypedActivityClient<T> {
  /** Starts an activity. */
  start<N extends ActivityName<T>>(
    activity: N,
    options: ActivityOptionsFor<T, N>,
  ): Promise<ActivityHandle<ActivityResult<T, N>>>;
  /** Starts an activity and waits for its result. */
  execute<N extends ActivityName<T>>(
    activity: N,
    options: ActivityOptionsFor<T, N>,
  ): Promise<ActivityResult<T, N>>;
}
