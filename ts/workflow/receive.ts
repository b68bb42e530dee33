// receive, and the results of its handlers, which decide how the loop continues. Types reject a
// signal handler that replies, and an update handler that does not.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import type { Duration } from "../converter/duration.ts";
import { toMs } from "../converter/duration.ts";
import { type HandlerErrors, makeResult } from "../executor/program/definition.ts";
import { callingFiber, requireRole, waitingFiber } from "../executor/scheduler/api_guard.ts";
import { MisuseError, NestingError } from "../executor/program/errors.ts";
import { ReceiveScope } from "../executor/primitives/receive.ts";
import { updateStateInFiber as updateReducer } from "../executor/primitives/update_state.ts";
import { Until } from "../executor/primitives/receive_until.ts";
import type { StateChange } from "../executor/scheduler/job_targets.ts";
import { currentFiber, rejected } from "../executor/scheduler/fiber.ts";
import { addPartial } from "../executor/primitives/partial_results.ts";
import { type OnCancel, returnsOnCancel } from "./cancellations.ts";
import type { ContinueAsNew } from "./continue_as_new.ts";
import type { Handler } from "./on.ts";

/** Result of a signal handler: the new state; the loop continues. */
export interface Noreply<S> {
  readonly kind: "noreply";
  /** The state for the next message. */
  readonly state: S;
}
/** Result of an update handler: the response and the new state; the loop continues. */
export interface Reply<R, S> {
  readonly kind: "reply";
  /** The response to the caller. */
  readonly response: R;
  /** The state for the next message. */
  readonly state: S;
}
/** Result of a signal handler that ends the receive. */
export interface Stop<S> {
  readonly kind: "stop";
  /** The state that receive returns. */
  readonly state: S;
}
/** Result of an update handler that replies and ends the receive. */
export interface StopReply<R, S> {
  readonly kind: "stopReply";
  /** The response to the caller. */
  readonly response: R;
  /** The state that receive returns. */
  readonly state: S;
}
/** A handler continues concurrently while the loop takes more messages. */
export interface Async<R, S> {
  readonly kind: "async";
  /** The state for the next message. */
  readonly state: S;
  /** The concurrent part. Its state type is that of the receive, not of a literal. */
  // deno-lint-ignore no-explicit-any
  fn(updateState: UpdateState<any>): R | Promise<R>;
}

// deno-lint-ignore no-explicit-any
type Any = any;
type IsUnion<T, U = T> = T extends unknown ? [U] extends [T] ? false : true : never;
/** Widens a single literal; undefined and null become any. Declared unions such as boolean stay. */
type WidenedProperty<T> = [T] extends [never] ? T
  : true extends IsUnion<T> ? T
  : [T] extends [null | undefined] ? Any
  : T extends string ? string
  : T extends number ? number
  : T extends boolean ? boolean
  : T extends bigint ? bigint
  : T extends readonly (infer E)[] ? [E] extends [never] ? Any[] : T
  : T;
/**
 * The state type of a receive, widened from an object literal: `{ done: true }` is `{ done: boolean
 * }`.
 */
type WidenedState<S> = S extends readonly unknown[] | ((...args: Any) => unknown) ? S
  : S extends object ? { [K in keyof S]: WidenedProperty<S[K]> }
  : WidenedProperty<S>;

/**
 * Changes the state of the enclosing receive: from the state to `[result, newState]`,
 * synchronously.
 */
export type UpdateState<S> = <T>(change: (state: S) => readonly [T, S]) => Promise<T>;

/** Values that only run or a handler may return. */
// deno-lint-ignore no-explicit-any
type Control = ContinueAsNew<any> | HandlerResult;
/** Results of handlers of a receive. */
export type HandlerResult =
  // deno-lint-ignore no-explicit-any
  | Noreply<any>
  // deno-lint-ignore no-explicit-any
  | Reply<any, any>
  // deno-lint-ignore no-explicit-any
  | Stop<any>
  // deno-lint-ignore no-explicit-any
  | StopReply<any, any>
  // deno-lint-ignore no-explicit-any
  | Async<any, any>;
/**
 * Type error for a control value (continueAsNew, a handler result) returned where it is not
 * allowed.
 */
export interface NotFromHere<Where extends string> {
  readonly "continueAsNew and handler results cannot be returned from": Where;
}
/** `true` if `R` can be a control value. */
export type HasControl<R> = [Extract<R, Control>] extends [never] ? false : true;

/** Like `unknown`, but keeps the type of a literal response. */
// deno-lint-ignore ban-types
type Value = string | {} | null | undefined | void;

/**
 * A condition on the parameter, so that the handler's position decides the types of response and
 * state.
 */
type CheckedAsync<R> = HasControl<R> extends false ? unknown : NotFromHere<"an async handler">;

/** Returned by a signal handler: the new state. */
export function noreply<S>(state: S): Noreply<S> {
  return makeResult({ kind: "noreply", state }) as Noreply<S>;
}

/** Returned by an update handler: the response, and the new state. */
export function reply<R extends Value, S>(response: R, state: S): Reply<R, S> {
  return makeResult({ kind: "reply", response, state }) as Reply<R, S>;
}

/** Ends the receive with the final state, and from an update handler with the response. */
export function stop<S>(state: S): Stop<S>;
export function stop<S, R extends Value>(state: S, response: R): StopReply<R, S>;
export function stop(state: unknown, ...response: unknown[]): unknown {
  if (response.length === 0) return makeResult({ kind: "stop", state });
  return makeResult({ kind: "stopReply", state, response: response[0] });
}

/**
 * Returned by a handler to continue concurrently: the state is stored first, then `fn` runs until
 * it blocks, then the loop takes the next message. The result of `fn` completes an update; a signal
 * ignores it. It changes the state with `updateState`, also passed as a typed argument. It must not
 * spawn again or receive.
 */
export function spawnAsync<R, S>(
  fn: ((updateState: UpdateState<WidenedState<S>>) => R | Promise<R>) & CheckedAsync<R>,
  state: S,
): Async<R, S> {
  const fiber = currentFiber();
  if (fiber !== undefined) {
    const instead = fiber.role === "async"
      ? "Do the work in the async handler, or use parallel."
      : "Use parallel for concurrency here.";
    requireRole(fiber, "spawnAsync", ["handler"], instead);
  }
  return makeResult({ kind: "async", fn: fn as (updateState: unknown) => unknown, state }) as never;
}

/** Options of {@link receive}. */
export interface ReceiveOptions {
  /** How errors of handlers are treated. Default: that of the workflow's definition. */
  readonly handlerErrors?: HandlerErrors;
  /**
   * A cancellation of the workflow is thrown as a {@link ReceiveCancellation}, or returned as a
   * {@link ReceiveOutcome}; both have the state. Default: `"throw"`.
   */
  readonly onCancel?: OnCancel;
}

/**
 * The result of a {@link receive} with `onCancel: "return"`. `state`: after the last processed
 * message; `result`: as without the option.
 */
export type ReceiveOutcome<S, R = S> =
  | { readonly canceled: true; readonly state: S }
  | { readonly canceled: false; readonly result: R };

/** Options of a {@link receive} with a timeout. */
export interface TimedReceiveOptions extends ReceiveOptions {
  /** Time after which receive ends. 0: handles messages that have arrived, then ends. */
  readonly timeout: Duration;
}

/** The result of a receive with a timeout. */
export interface ReceiveResult<S> {
  /** True if no handler stopped it in time. */
  readonly timedOut: boolean;
  /** The final state. */
  readonly state: S;
}

/** Options of a {@link receive} with `until`. */
export interface ReceiveUntilOptions<S> extends ReceiveOptions {
  /**
   * Ends the receive when it is true and nothing is in flight: no handler runs, and no message or
   * accepted update waits. Until then messages are taken; with endlessly overlapping handlers at
   * most 100, after which updates are rejected as "ReceiveEnding" (this package's client retries
   * them) and signals wait. Evaluated after each handled message; it may use the state and
   * `workflowInfo()`.
   *
   * @example
   * const { state } = await receive(start, handlers, { until: () => workflowInfo().continueAsNewSuggested });
   * return continueAsNew(state);
   */
  readonly until: (state: S) => boolean;
  /** As in {@link TimedReceiveOptions}. */
  readonly timeout?: Duration;
}

const RECEIVE_OPTIONS: OptionNames<ReceiveUntilOptions<unknown>> = {
  handlerErrors: 1,
  until: 1,
  timeout: 1,
  onCancel: 1,
};

/** The result of a receive with `until`: it ended by a stop, by time, or by `until`. */
export interface ReceiveUntilResult<S> extends ReceiveResult<S> {
  /** True if a handler stopped it. */
  readonly stopped: boolean;
}

type Returned = { readonly onCancel: "return" };
type Thrown = { readonly onCancel?: "throw" | undefined };

/**
 * Processes messages until a handler stops it, or `until` holds: one at a time, in order of
 * arrival, starting with buffered ones. Updates are accepted only while a receive handles them.
 * Returns the final state after all handlers and accepted updates have finished. With `timeout` or
 * `until` the result includes what ended it. A cancellation of the workflow is thrown with the
 * state ({@link isReceiveCancellation}), or returned (`onCancel`). Only in run, one at a time.
 */
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: ReceiveOptions & Returned & { timeout?: undefined; until?: undefined },
): Promise<ReceiveOutcome<S>>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: TimedReceiveOptions & Returned & { until?: undefined },
): Promise<ReceiveOutcome<S, ReceiveResult<S>>>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: ReceiveUntilOptions<NoInfer<S>> & Returned,
): Promise<ReceiveOutcome<S, ReceiveUntilResult<S>>>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options?: ReceiveOptions & Thrown & { timeout?: undefined; until?: undefined },
): Promise<S>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: TimedReceiveOptions & Thrown & { until?: undefined },
): Promise<ReceiveResult<S>>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: ReceiveUntilOptions<NoInfer<S>> & Thrown,
): Promise<ReceiveUntilResult<S>>;
export function receive(
  state: unknown,
  // deno-lint-ignore no-explicit-any
  handlers: Handler<any>[],
  options: Partial<ReceiveUntilOptions<unknown>> = {},
  ...surplus: unknown[]
): Promise<unknown> {
  rejectUnknownOptions("receive", options, RECEIVE_OPTIONS);
  rejectSurplusArguments(
    "receive",
    surplus,
    "receive needs a state, an array of handlers, and options",
  );
  const fiber = callingFiber("receive");
  requireRole(
    fiber,
    "receive",
    ["run"],
    "Wait for a single signal with waitForSignal, or receive in run before or after this.",
  );
  const { run } = fiber;
  if (run.receive !== undefined) {
    run.misuse(
      new NestingError(
        "receive was called while another receive of the run is active; await that one first",
      ),
    );
  }
  if (!Array.isArray(handlers)) {
    run.misuse(new MisuseError("receive needs an array of on(...) handlers"));
  }
  if (options.until !== undefined && typeof options.until !== "function") {
    run.misuse(
      new MisuseError(
        "until of receive must be a function that takes the state and returns true or false",
      ),
    );
  }
  const timeoutMs = options.timeout === undefined ? undefined : toMs(options.timeout);
  const returns = returnsOnCancel("receive", options.onCancel, run);
  const open = waitingFiber("receive");
  if (open instanceof Error) {
    if (fiber.ended) return rejected(open);
    // Canceled before it took a message.
    return returns
      ? Promise.resolve({ canceled: true, state })
      : rejected(addPartial(open, "state", state));
  }
  const handlerErrors = options.handlerErrors ?? run.definition.handlerErrors;
  const until = options.until === undefined ? undefined : new Until(fiber, options.until);
  return new ReceiveScope(fiber, state, handlers, {
    timeoutMs,
    handlerErrors,
    until,
    returnsOnCancel: returns,
  }).awaiter.promise;
}

/**
 * In an async handler (and its parallel branches): atomically changes the state of the enclosing
 * receive. `change` gets the state and returns `[result, newState]`; it runs at once, or after the
 * running sync handler has returned. Resolves to the result.
 */
export function updateState<S, T>(change: (state: S) => readonly [T, S]): Promise<T> {
  return updateReducer(change as StateChange<T>);
}
