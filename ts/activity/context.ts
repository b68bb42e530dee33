// What an activity can know and do while it runs. In Node and Deno the free functions find the context of the attempt that calls them; in
// browsers, and wherever one likes it better, an activity made with `withContext` is given it as its first argument.
import type { Duration } from "../converter/duration.ts";
import type { Payload } from "../converter/payload.ts";
import { read } from "../converter/thrown.ts";
import { asyncContext } from "../platform/async_context.ts";
import type { Logger } from "../base/logger.ts";

/** Facts about the attempt that runs. They come from the service with the task. */
export interface ActivityInfo {
  /** Names the activity to `client.completeActivity`. Changes with every attempt. */
  readonly taskToken: Uint8Array;
  /** The activity's id within its run: a number, unless the workflow chose one. */
  readonly activityId: string;
  /** Its name on the wire. */
  readonly activityType: string;
  /** The queue that the task came from. */
  readonly taskQueue: string;
  /** Namespace of the workflow. */
  readonly namespace: string;
  /** Id of the workflow that called it. */
  readonly workflowId: string;
  /** Run of the workflow that called it. */
  readonly runId: string;
  /** Type of the workflow that called it. */
  readonly workflowType: string;
  /** From 1. */
  readonly attempt: number;
  /** It is a local activity: it runs within the workflow task, its heartbeats go nowhere, and it cannot be completed from outside. */
  readonly isLocal: boolean;
  /**
   * The same for every attempt of this activity and for no other one: pass it to services that know idempotency keys. An activity runs at
   * least once, so an attempt whose result was lost (crash, timeout) is followed by another.
   */
  readonly idempotencyKey: string;
  /** What the previous attempt reported last; undefined when it reported nothing. */
  readonly heartbeatDetails: unknown;
  /** When the workflow's command was recorded: the same for all attempts. */
  readonly scheduledTime: Date | undefined;
  /** When this attempt became due. */
  readonly currentAttemptScheduledTime: Date | undefined;
  /** When this attempt was handed to the worker. */
  readonly startedTime: Date | undefined;
  /** Limits in milliseconds; undefined: none. */
  readonly heartbeatTimeoutMs: number | undefined;
  /** Longest time of this attempt. */
  readonly startToCloseTimeoutMs: number | undefined;
  /** Longest time of all attempts together, waiting included. */
  readonly scheduleToCloseTimeoutMs: number | undefined;
}

/** Why an activity is asked to stop. */
export type CancelReason =
  /** Its workflow wants that. */
  | "CANCELLED"
  /** It was reset: the attempts start again. */
  | "RESET"
  /** It was paused: it runs again later. */
  | "PAUSED"
  /** It is not known any more: timed out, or its workflow has ended. Its result is not awaited. */
  | "NOT_FOUND"
  /** Its time is over: the service has given it up or is about to. */
  | "TIMED_OUT"
  /** The worker stops. The attempt counts as failed, and another worker takes the next one. */
  | "WORKER_SHUTDOWN";

/** What a running activity can know and do. Found by `activityContext()`, or handed over by `withContext`. */
export interface ActivityContext {
  /** Facts about this attempt. */
  readonly info: ActivityInfo;
  /** Aborted when the activity is to stop; its reason is a CancelledFailure. Hand it to `fetch` and the like. */
  readonly cancelled: AbortSignal;
  /** Why, once `cancelled` is aborted. */
  readonly cancelReason: CancelReason | undefined;
  /**
   * What came with the call beside its arguments: the headers of the workflow's start, or what interceptors made of them. Decode one with
   * `defaultPayloadConverter.fromPayload`, or with the converter that its sender used.
   */
  readonly headers: { readonly [name: string]: Payload };
  /** Adds the activity's ids to each record. */
  readonly logger: Logger;
  /**
   * Says that the activity is alive and how far it is. Cheap: the service hears of it at most once per interval. Only activities that
   * heartbeat learn of a cancellation. Throws when `details` cannot be encoded.
   */
  heartbeat(details?: unknown): void;
  /** Waits. Rejects with a CancelledFailure as soon as the activity is to stop. */
  sleep(duration: Duration): Promise<void>;
  /** Throws a CancelledFailure when the activity is to stop. */
  throwIfCancelled(): void;
}

/** Thrown by `completeAsync`: the attempt ends without a result, which comes from elsewhere. */
export class CompleteAsyncError extends Error {
  override name = "CompleteAsyncError";
}

/** @internal Whether that is what an activity threw, in whichever copy of the package. */
export function completesAsync(thrown: unknown): boolean {
  return read(thrown, "name") === "CompleteAsyncError";
}

const current = asyncContext<ActivityContext>("activity-context");

/** @internal Runs an activity function with its context. */
export function runInContext<R>(context: ActivityContext, call: () => R): R {
  return current === undefined ? call() : current.run(context, call);
}

/** @internal The activity whose code set off what is happening, if one did. It may have ended since. */
export function activityBehind(): ActivityContext | undefined {
  return current?.get();
}

/** The context of the running activity. Throws outside of one. */
export function activityContext(): ActivityContext {
  const context = current?.get();
  if (context !== undefined) return context;
  throw new Error(
    current === undefined
      ? "this runtime cannot determine the calling activity: define the activity with withContext((context, ...args) => ...)"
      : "no activity is running: call this from an activity that a worker runs, or from a test through runActivity",
  );
}

/** Ids, attempt and limits of the running activity. */
export function activityInfo(): ActivityInfo {
  return activityContext().info;
}

/** `activityContext().heartbeat(details)` */
export function heartbeat(details?: unknown): void {
  activityContext().heartbeat(details);
}

/** `activityContext().sleep(duration)` */
export function sleep(duration: Duration): Promise<void> {
  return activityContext().sleep(duration);
}

/**
 * Ends the attempt without a result: `completeAsync()` as the last thing an activity does (or `return completeAsync()`). The result is
 * delivered with `client.completeActivity(taskToken, result)`, from wherever, before the activity times out. Always throws.
 */
export function completeAsync(): never {
  throw new CompleteAsyncError("this activity is completed from outside");
}

const WITH_CONTEXT = Symbol.for("temporalex.activity-with-context.1");

interface WithContext {
  [WITH_CONTEXT]?: (context: ActivityContext, ...args: unknown[]) => unknown;
}

/**
 * An activity that is given its context as the first argument. For workflows its arguments are the others:
 * `export const charge = withContext((context, items: Item[]) => ...)` is called as `charge(items)`.
 */
export function withContext<A extends unknown[], R>(run: (context: ActivityContext, ...args: A) => R): (...args: A) => R {
  const activity = (...args: A): R => run(activityContext(), ...args);
  Object.defineProperty(activity, WITH_CONTEXT, { value: run });
  return activity;
}

/** @internal Calls an activity function the way it was made, as a method of `self`. */
// deno-lint-ignore ban-types
export function callActivity(activity: Function, self: unknown, context: ActivityContext, args: readonly unknown[]): unknown {
  const explicit = (activity as WithContext)[WITH_CONTEXT];
  return runInContext(
    context,
    () => (explicit === undefined ? activity.apply(self, args) : explicit.call(self, context, ...args)),
  );
}
