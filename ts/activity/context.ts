// The context of a running activity. In Node and Deno the free functions find the context of the
// attempt that calls them. Browsers have no such lookup: there an activity made with `withContext`
// gets its context as the first argument, which works everywhere.
import type { Duration } from "../converter/duration.ts";
import type { Payload } from "../converter/payload.ts";
import { read } from "../converter/thrown.ts";
import { asyncContext } from "../platform/async_context.ts";
import type { Logger } from "../base/logger.ts";

/** Facts about the running attempt. The service sends them with the task. */
export interface ActivityInfo {
  /** Identifies the attempt for `client.completeActivity`. Changes with every attempt. */
  readonly taskToken: Uint8Array;
  /** Activity id within its run: a number, unless the workflow chose one. */
  readonly activityId: string;
  /** Type name of the activity as registered. */
  readonly activityType: string;
  /** Task queue that the task came from. */
  readonly taskQueue: string;
  readonly namespace: string;
  /** Id of the workflow that called it; "" for a standalone activity. */
  readonly workflowId: string;
  /** Run of the workflow that called it; "" for a standalone activity. */
  readonly runId: string;
  /** Type of the workflow that called it; "" for a standalone activity. */
  readonly workflowType: string;
  /** Run of a standalone activity; absent if a workflow called it. */
  readonly activityRunId?: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * True for a local activity: it runs within the workflow task, its heartbeats are not sent, and
   * it cannot be completed from outside.
   */
  readonly isLocal: boolean;
  /**
   * The same for all attempts of this activity and for no other activity. Pass it to services that
   * support idempotency keys: an activity runs at least once, so an attempt whose result was lost
   * (crash, timeout) is followed by another.
   */
  readonly idempotencyKey: string;
  /** Details of the last heartbeat of the previous attempt; undefined without one. */
  readonly heartbeatDetails: unknown;
  /** When the workflow's command was recorded; the same for all attempts. */
  readonly scheduledTime: Date | undefined;
  /** When this attempt became due. */
  readonly currentAttemptScheduledTime: Date | undefined;
  /** When this attempt was sent to the worker. */
  readonly startedTime: Date | undefined;
  /** In milliseconds, as the two below; undefined without a limit. */
  readonly heartbeatTimeoutMs: number | undefined;
  /** Limit of one attempt. */
  readonly startToCloseTimeoutMs: number | undefined;
  /** Limit of all attempts together, including the time between them. */
  readonly scheduleToCloseTimeoutMs: number | undefined;
}

/** Why an activity is asked to stop. */
export type CancelReason =
  /** The workflow requested it. */
  | "CANCELLED"
  /** The activity was reset: attempts start again from 1. */
  | "RESET"
  /** The activity was paused: it runs again later. */
  | "PAUSED"
  /**
   * The service no longer knows the activity: it timed out, or its workflow is closed. Its result
   * is discarded.
   */
  | "NOT_FOUND"
  /** The attempt timed out, or is about to. */
  | "TIMED_OUT"
  /** The worker shuts down. The attempt fails, and another worker runs the next one. */
  | "WORKER_SHUTDOWN";

/**
 * The context of a running activity. Returned by `activityContext()` or passed by `withContext`.
 */
export interface ActivityContext {
  /** Facts about this attempt. */
  readonly info: ActivityInfo;
  /**
   * Aborted when the activity must stop; the reason is a CancelledFailure. Pass it to `fetch` and
   * similar APIs.
   */
  readonly cancelled: AbortSignal;
  /** Why the activity must stop; undefined until `cancelled` is aborted. */
  readonly cancelReason: CancelReason | undefined;
  /**
   * Headers of the call: those of the workflow's start, or as changed by interceptors. Decode one
   * with `defaultPayloadConverter.fromPayload`, or with the converter of its sender.
   */
  readonly headers: { readonly [name: string]: Payload };
  /** A logger that adds the activity's ids to each record. */
  readonly logger: Logger;
  /**
   * Reports that the activity is alive, with its progress. Cheap: the service receives at most one
   * heartbeat per interval. Only activities that heartbeat learn of a cancellation. Throws when
   * `details` cannot be encoded.
   */
  heartbeat(details?: unknown): void;
  /** Waits. Rejects with a CancelledFailure as soon as the activity must stop. */
  sleep(duration: Duration): Promise<void>;
  /** Throws a CancelledFailure when the activity must stop. */
  throwIfCancelled(): void;
}

/** Thrown by `completeAsync`: the attempt ends without a result, which another process delivers. */
export class CompleteAsyncError extends Error {
  override name = "CompleteAsyncError";
}

/** @internal Whether an activity threw a CompleteAsyncError, from any copy of the package. */
export function completesAsync(thrown: unknown): boolean {
  return read(thrown, "name") === "CompleteAsyncError";
}

const current = asyncContext<ActivityContext>("activity-context");

/** @internal Runs an activity function with its context. */
export function runInContext<R>(context: ActivityContext, call: () => R): R {
  return current === undefined ? call() : current.run(context, call);
}

/**
 * @internal Returns the activity whose code caused the current call, or undefined. The activity may
 * have ended since.
 */
export function activityBehind(): ActivityContext | undefined {
  return current?.get();
}

/** Returns the context of the running activity. Throws outside of an activity. */
export function activityContext(): ActivityContext {
  const context = current?.get();
  if (context !== undefined) return context;
  throw new Error(
    current === undefined
      ? "this runtime cannot determine the calling activity: define the activity with withContext((context, ...args) => ...)"
      : "no activity is running: call this from an activity that a worker runs, or from a test through runActivity",
  );
}

/** Returns the ids, attempt and limits of the running activity. */
export function activityInfo(): ActivityInfo {
  return activityContext().info;
}

/** Calls `activityContext().heartbeat(details)`. */
export function heartbeat(details?: unknown): void {
  activityContext().heartbeat(details);
}

/** Calls `activityContext().sleep(duration)`. */
export function sleep(duration: Duration): Promise<void> {
  return activityContext().sleep(duration);
}

/**
 * Ends the attempt without a result. Always throws: call it last, as in `return completeAsync()`.
 * Any process can then deliver the result with `client.completeActivity(taskToken, result)`, before
 * the activity times out.
 */
export function completeAsync(): never {
  throw new CompleteAsyncError("this activity is completed from outside");
}

const WITH_CONTEXT = Symbol.for("temporalex.activity-with-context.1");

interface WithContext {
  [WITH_CONTEXT]?: (context: ActivityContext, ...args: unknown[]) => unknown;
}

/**
 * Returns an activity that gets its context as the first argument. Workflows pass only the other
 * arguments: `export const charge = withContext((context, items: Item[]) => ...)` is called as
 * `charge(items)`.
 */
export function withContext<A extends unknown[], R>(
  run: (context: ActivityContext, ...args: A) => R,
): (...args: A) => R {
  const activity = (...args: A): R => run(activityContext(), ...args);
  Object.defineProperty(activity, WITH_CONTEXT, { value: run });
  return activity;
}

/**
 * @internal Calls an activity function as a method of `self`, with its context if it was made by
 * `withContext`.
 */
export function callActivity(
  // deno-lint-ignore ban-types
  activity: Function,
  self: unknown,
  context: ActivityContext,
  args: readonly unknown[],
): unknown {
  const explicit = (activity as WithContext)[WITH_CONTEXT];
  return runInContext(
    context,
    () => (explicit === undefined
      ? activity.apply(self, args)
      : explicit.call(self, context, ...args)),
  );
}
