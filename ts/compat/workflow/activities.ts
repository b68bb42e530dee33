// proxyActivities and proxyLocalActivities: functions that schedule activities. Both kinds share
// one counter, here and not in the core: an activity in a canceled scope is never sent, but uses a
// number. Ids are these numbers.
import {
  ActivityCancellationType as CancellationTypeNumber,
  CommandKind,
  type RetryPolicy as RetryPolicyMessage,
  ScheduleActivity,
  ScheduleLocalActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { ValueError } from "../common/errors.ts";
import {
  checkActivityOptions,
  checkLocalActivityOptions,
  checkRetryPolicy,
} from "../common/option_names.ts";
import type { RetryPolicy } from "../common/options.ts";
import { msOptionalToNumber, msToNumber, timeoutMs } from "../common/time.ts";
import type { ActivityTypeInfoMap, PayloadTypeInfo } from "../common/type_info.ts";
import { currentCompatRun } from "../current.ts";
import { encodeCall, fingerprintCall } from "../../executor/program/local_calls.ts";
import type { CompatRun } from "../run.ts";
import { encodeArguments } from "../typed_values.ts";
import { callThrough } from "../interception.ts";
import type { ActivityInput, Headers, LocalActivityInput } from "./interceptors.ts";
import { encodeGroups } from "./event_groups.ts";
import type { ActivityOptions, EventGroupMarker, LocalActivityOptions } from "./options.ts";
import { joinScope } from "./scope.ts";
import { priorityBytes, versioningIntent } from "./encoded_options.ts";
import { sleep } from "./timers.ts";
import { encodeWith } from "../../executor/program/encode.ts";

// deno-lint-ignore no-explicit-any
type ActivityFunction = (...args: any[]) => Promise<any>;
/** Activities of unknown types. */
export interface UntypedActivities {
  /** An activity, by its name. */
  [name: string]: ActivityFunction;
}
type WithOptions<F extends ActivityFunction, O> = F & {
  /** Calls the activity with changed options. */
  executeWithOptions(options: O, args: Parameters<F>): Promise<Awaited<ReturnType<F>>>;
};
/** Functions with which a workflow calls activities. */
export type ActivityInterfaceFor<T> = {
  [K in keyof T]: T[K] extends ActivityFunction ? WithOptions<T[K], ActivityOptions> : never;
};
/** Functions with which a workflow calls local activities. */
export type LocalActivityInterfaceFor<T> = {
  [K in keyof T]: T[K] extends ActivityFunction ? WithOptions<T[K], LocalActivityOptions> : never;
};

/** Options of proxyActivities. */
export interface ActivityProxyOptions<A = UntypedActivities> extends ActivityOptions {
  /** Type hints of arguments and results, by activity name. */
  activityTypeInfo?: ActivityTypeInfoMap<A>;
}
/** Options of proxyLocalActivities. */
export interface LocalActivityProxyOptions<A = UntypedActivities> extends LocalActivityOptions {
  /** Type hints of arguments and results, by activity name. */
  activityTypeInfo?: ActivityTypeInfoMap<A>;
}
/** A local activity that can be called with changed options. */
export type LocalActivityFunctionWithOptions<F extends ActivityFunction> = WithOptions<
  F,
  LocalActivityOptions
>;

/** Returns an object with a function for every name; a call schedules the activity of that name. */
export function proxyActivities<A = UntypedActivities>(
  options: ActivityProxyOptions<A>,
): ActivityInterfaceFor<A> {
  return proxy(options, scheduleActivity, checkActivityOptions) as ActivityInterfaceFor<A>;
}

/** Same as `proxyActivities` for activities that run in the worker, within the workflow task. */
export function proxyLocalActivities<A = UntypedActivities>(
  options: LocalActivityProxyOptions<A>,
): LocalActivityInterfaceFor<A> {
  return proxy(
    options,
    scheduleLocalActivity,
    checkLocalActivityOptions,
  ) as LocalActivityInterfaceFor<A>;
}

type TypesByName = { readonly [name: string]: PayloadTypeInfo | undefined };

function proxy<O extends Timeouts>(
  options: O & { activityTypeInfo?: TypesByName },
  schedule: (
    type: string,
    args: readonly unknown[],
    options: O,
    types?: PayloadTypeInfo,
  ) => Promise<unknown>,
  check: (options: unknown) => void,
): object {
  if (options === undefined) throw new TypeError("options must be defined");
  check(options);
  requireTimeout(options);
  return new Proxy({}, {
    get(_, name) {
      if (typeof name !== "string") {
        throw new TypeError(`Only strings are supported for Activity types, got: ${String(name)}`);
      }
      const own = (): O => {
        if (options.activityTypeInfo === undefined) return options;
        const { activityTypeInfo: _, ...rest } = options;
        return rest as unknown as O;
      };
      const types = () => options.activityTypeInfo?.[name];
      const call = (...args: unknown[]) => schedule(name, args, own(), types());
      return Object.assign(call, {
        executeWithOptions(changed: O, args: unknown[]) {
          check(changed);
          return schedule(name, args, merged(own(), changed), types());
        },
      });
    },
  });
}

/** Schedules an activity by name. */
export function scheduleActivity<R>(
  activityType: string,
  args: readonly unknown[],
  options: ActivityOptions,
  typeInfo?: PayloadTypeInfo,
): Promise<R> {
  const run = currentCompatRun(
    "Workflow.scheduleActivity(...) may only be used from a Workflow Execution",
  );
  if (options === undefined) throw new TypeError("Got empty activity options");
  const seq = run.nextActivitySeq++;
  const schedule = callThrough(
    run,
    "outbound",
    "scheduleActivity",
    (input: ActivityInput) => scheduleRemotely<R>(run, input),
  );
  return schedule({ activityType, headers: {}, options, args: args as unknown[], seq, typeInfo });
}

function scheduleRemotely<R>(
  run: CompatRun,
  { activityType, args, options, headers, seq, typeInfo }: ActivityInput,
): Promise<R> {
  requireTimeout(options);
  const activityId = options.activityId ?? String(seq);
  if (options.allowEagerDispatch === false) run.notEager.add(activityId);
  const converter = run.converterForActivity(activityId, false);
  return pending<R>(
    run,
    CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY,
    seq,
    activityType,
    () => {
      const message = ScheduleActivity.fromPartial(
        common(converter, seq, activityType, args, options, headers, typeInfo),
      );
      message.activityId = activityId;
      message.taskQueue = options.taskQueue ?? "";
      if (options.priority) message.priority = priorityBytes(options.priority);
      message.versioningIntent = versioningIntent(options.versioningIntent);
      message.heartbeatTimeoutMs = timeoutMs(options.heartbeatTimeout);
      return encodeWith(ScheduleActivity, message);
    },
    converter,
    typeInfo,
    options.eventGroups,
  );
}

/** Runs a local activity by name. Long retry delays are workflow timers between attempts. */
// Nested async functions, and the form of `attempted`, keep the number of ticks of the official
// SDK.
export async function scheduleLocalActivity<R>(
  activityType: string,
  args: readonly unknown[],
  options: LocalActivityOptions,
  typeInfo?: PayloadTypeInfo,
): Promise<R> {
  const run = currentCompatRun(
    "Workflow.scheduleLocalActivity(...) may only be used from a Workflow Execution",
  );
  if (options === undefined) throw new TypeError("Got empty activity options");
  // Continuations of this function have no restored frame; only those of program code do.
  const frame = run.context.current();
  const site = run.calledAt(scheduleLocalActivity);
  const named: NamedCall = {};
  let attempt = 1, originalScheduleTime: number | undefined;
  for (;;) {
    const seq = run.nextActivitySeq++;
    try {
      return await run.context.run(frame, () => {
        const last = (input: LocalActivityInput) => attemptLocally<R>(run, input, named, site);
        const schedule = callThrough(run, "outbound", "scheduleLocalActivity", last);
        const given = {
          activityType,
          headers: {},
          options,
          args: args as unknown[],
          seq,
          attempt,
          originalScheduleTime,
        };
        return schedule({ ...given, typeInfo });
      });
    } catch (error) {
      if (!(error instanceof LocalActivityDoBackoff)) throw error;
      await run.context.run(
        frame,
        () => sleep(error.backoffMs, { eventGroups: options.eventGroups }),
      );
      ({ attempt, originalScheduleTimeMs: originalScheduleTime } = error);
    }
  }
}

// deno-lint-ignore require-await
async function attemptLocally<R>(
  run: CompatRun,
  input: LocalActivityInput,
  named: NamedCall,
  site: string,
): Promise<R> {
  const { seq, activityType, args, options, headers, attempt, originalScheduleTime, typeInfo } =
    input;
  requireTimeout(options);
  const converter = run.converterForActivity(String(seq), true);
  return pending<R>(
    run,
    CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY,
    seq,
    activityType,
    () => {
      const message = ScheduleLocalActivity.fromPartial(
        common(converter, seq, activityType, args, options, headers, typeInfo),
      );
      message.attempt = attempt;
      message.originalScheduleTimeMs = originalScheduleTime ?? 0;
      message.activityId = String(seq);
      message.localRetryThresholdMs = threshold(options.localRetryThreshold);
      nameCall(run, message, named);
      return encodeWith(ScheduleLocalActivity, message);
    },
    converter,
    typeInfo,
    options.eventGroups,
    site,
  );
}

/** Names of a call in all of its attempts. */
interface NamedCall {
  fingerprint?: string;
  caller?: string;
  equalCalls?: number;
}

/** An interceptor can change the arguments of a later attempt, which is then a different call. */
function nameCall(run: CompatRun, message: ScheduleLocalActivity, named: NamedCall): void {
  const fingerprint = fingerprintCall(encodeCall(message.activityType, message.arguments));
  if (named.fingerprint !== fingerprint) {
    const caller = run.caller();
    named.fingerprint = fingerprint;
    named.caller = caller.id;
    named.equalCalls = caller.count(fingerprint);
  }
  message.caller = named.caller!;
  message.equalCalls = named.equalCalls!;
}

/** Rejection of a local activity whose next attempt is far in the future. */
export class LocalActivityDoBackoff extends Error {
  override name = "LocalActivityDoBackoff";
  /** Number of the next attempt. */
  readonly attempt: number;
  /** Delay until the next attempt, in milliseconds. */
  readonly backoffMs: number;
  /** Time of the first scheduling, in milliseconds since the epoch. */
  readonly originalScheduleTimeMs: number;

  constructor(backoff: { attempt: number; backoffMs: number; originalScheduleTimeMs: number }) {
    super();
    this.attempt = backoff.attempt;
    this.backoffMs = backoff.backoffMs;
    this.originalScheduleTimeMs = backoff.originalScheduleTimeMs;
  }
}

/**
 * Returns the promise of an activity: scheduled unless the scope is canceled, and canceled with it.
 */
function pending<R>(
  run: CompatRun,
  kind: CommandKind,
  seq: number,
  activityType: string,
  encode: () => Uint8Array,
  converter: PayloadConverter,
  typeInfo: PayloadTypeInfo | undefined,
  eventGroups: EventGroupMarker[] | undefined,
  site = "",
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    let groups: Uint8Array | undefined;
    const alive = joinScope(reject, () => {
      if (run.activities.has(seq)) run.cancelCommand(kind, seq, groups);
    });
    if (!alive) return;
    const completion = {
      resolve: resolve as (value: unknown) => void,
      ...{ reject, converter, outputType: typeInfo?.outputType, activityType },
    };
    run.site = site;
    try {
      const attributes = encode();
      groups = encodeGroups(run, eventGroups);
      run.command(kind, attributes, groups);
      run.activities.set(seq, run.waitsAt(`activity "${activityType}"`, completion));
    } finally {
      run.site = "";
    }
  });
}

type Timeouts = Pick<ActivityOptions, "scheduleToCloseTimeout" | "startToCloseTimeout">;

function requireTimeout(options: Timeouts): void {
  if (options.scheduleToCloseTimeout === undefined && options.startToCloseTimeout === undefined) {
    throw new TypeError("Required either scheduleToCloseTimeout or startToCloseTimeout");
  }
}

/** Common fields of both commands, always in the same form, which engines handle fastest. */
function common(
  converter: PayloadConverter,
  seq: number,
  activityType: string,
  args: readonly unknown[],
  options: ActivityOptions | LocalActivityOptions,
  headers: Headers,
  typeInfo: PayloadTypeInfo | undefined,
) {
  return {
    seq,
    headers,
    activityType,
    arguments: encodeArguments(converter, args, typeInfo),
    scheduleToCloseTimeoutMs: timeoutMs(options.scheduleToCloseTimeout),
    scheduleToStartTimeoutMs: timeoutMs(options.scheduleToStartTimeout),
    startToCloseTimeoutMs: timeoutMs(options.startToCloseTimeout),
    cancellationType: cancellationType(options.cancellationType),
    retryPolicy: options.retry && retryPolicy(options.retry),
    summary: options.summary === undefined ? undefined : converter.toPayload(options.summary),
  };
}

/** 0 means no threshold in the message, so a given 0 becomes the smallest threshold. */
function threshold(given: LocalActivityOptions["localRetryThreshold"]): number {
  return given === undefined ? 0 : timeoutMs(given) || 0.001;
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

/** Converts a retry policy, with the checks of the official packages. */
export function retryPolicy(policy: RetryPolicy): RetryPolicyMessage {
  checkRetryPolicy(policy);
  const { backoffCoefficient, maximumAttempts, nonRetryableErrorTypes = [] } = policy;
  const initialIntervalMs = msToNumber(policy.initialInterval ?? 1000);
  const maximumIntervalMs = msOptionalToNumber(policy.maximumInterval);
  const unlimited = maximumAttempts === Number.POSITIVE_INFINITY;
  const refuse = (field: string, why: string): never => {
    throw new ValueError(`RetryPolicy.${field} ${why}`);
  };
  if (backoffCoefficient !== undefined && backoffCoefficient <= 0) {
    refuse("backoffCoefficient", "must be greater than 0");
  }
  if (!Number.isFinite(backoffCoefficient ?? 2)) {
    refuse("backoffCoefficient", `must be a finite number, not ${backoffCoefficient}`);
  }
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

/** Merges changed options; nested plain objects (the retry policy) are merged as well. */
function merged<O extends object>(options: O, changed: O): O {
  const result = { ...options } as { [name: string]: unknown };
  for (const [name, value] of Object.entries(changed)) {
    const before = result[name];
    result[name] = isPlain(before) && isPlain(value) ? { ...before, ...value } : value;
  }
  return result as O;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
