// receive, and what its handlers return, which says how the loop goes on. Types make a signal handler that replies, or an update handler
// that does not, a compile error.
import { type OptionNames, rejectSurplusArguments, rejectUnknownOptions } from "../base/option_names.ts";
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
import type { ContinueAsNew } from "./continue_as_new.ts";
import type { Handler } from "./on.ts";

/** A signal handler is done: the new state, and the loop goes on. */
export interface Noreply<S> {
  readonly kind: "noreply";
  /** The state that the next message finds. */
  readonly state: S;
}
/** An update handler is done: the response, the new state, and the loop goes on. */
export interface Reply<R, S> {
  readonly kind: "reply";
  /** What the caller gets. */
  readonly response: R;
  /** The state that the next message finds. */
  readonly state: S;
}
/** A signal handler ends the receive. */
export interface Stop<S> {
  readonly kind: "stop";
  /** The state that receive returns. */
  readonly state: S;
}
/** An update handler replies and ends the receive. */
export interface StopReply<R, S> {
  readonly kind: "stopReply";
  /** What the caller gets. */
  readonly response: R;
  /** The state that receive returns. */
  readonly state: S;
}
/** A handler goes on in the background while the loop takes further messages. */
export interface Async<R, S> {
  readonly kind: "async";
  /** The state that the next message finds. */
  readonly state: S;
  /** What goes on in the background. Its state is that of the receive, which the type of a literal does not have to be. */
  // deno-lint-ignore no-explicit-any
  fn(updateState: UpdateState<any>): R | Promise<R>;
}

// deno-lint-ignore no-explicit-any
type Any = any;
type IsUnion<T, U = T> = T extends unknown ? [U] extends [T] ? false : true : never;
/** The type of a single literal is widened; undefined and null could be anything. A union, such as boolean, was declared and is kept. */
type WidenedProperty<T> = [T] extends [never] ? T
  : true extends IsUnion<T> ? T
  : [T] extends [null | undefined] ? Any
  : T extends string ? string
  : T extends number ? number
  : T extends boolean ? boolean
  : T extends bigint ? bigint
  : T extends readonly (infer E)[] ? [E] extends [never] ? Any[] : T
  : T;
/** The state of a receive, as far as an object literal shows it: `{ done: true }` is a `{ done: boolean }`. */
type WidenedState<S> = S extends readonly unknown[] | ((...args: Any) => unknown) ? S
  : S extends object ? { [K in keyof S]: WidenedProperty<S[K]> }
  : WidenedProperty<S>;

/** Changes the state of the enclosing receive: from the state to `[result, newState]`, at once. */
export type UpdateState<S> = <T>(change: (state: S) => readonly [T, S]) => Promise<T>;

/** Values that only run or a handler may return. */
// deno-lint-ignore no-explicit-any
type Control = ContinueAsNew<any> | HandlerResult;
/** What handlers of a receive return. */
// deno-lint-ignore no-explicit-any
export type HandlerResult = Noreply<any> | Reply<any, any> | Stop<any> | StopReply<any, any> | Async<any, any>;
/** What stands where a control value (continueAsNew, a handler result) was returned by something that may not return it. */
export interface NotFromHere<Where extends string> {
  readonly "continueAsNew and handler results cannot be returned from": Where;
}
/** `true` when `R` can be a control value. */
export type HasControl<R> = [Extract<R, Control>] extends [never] ? false : true;

/** As `unknown`, but a response that is a literal keeps its type. */
// deno-lint-ignore ban-types
type Value = string | {} | null | undefined | void;

/** A condition of the parameter, so that the handler's place decides the types of response and state. */
type CheckedAsync<R> = HasControl<R> extends false ? unknown : NotFromHere<"an async handler">;

/** From a signal handler: the new state. */
export function noreply<S>(state: S): Noreply<S> {
  return makeResult({ kind: "noreply", state }) as Noreply<S>;
}

/** From an update handler: the response to the caller, and the new state. */
export function reply<R extends Value, S>(response: R, state: S): Reply<R, S> {
  return makeResult({ kind: "reply", response, state }) as Reply<R, S>;
}

/** Ends the receive: with the final state, and from an update handler with the response as well. */
export function stop<S>(state: S): Stop<S>;
export function stop<S, R extends Value>(state: S, response: R): StopReply<R, S>;
export function stop(state: unknown, ...response: unknown[]): unknown {
  if (response.length === 0) return makeResult({ kind: "stop", state });
  return makeResult({ kind: "stopReply", state, response: response[0] });
}

/**
 * From a handler: goes on in the background. The state is stored first; then `fn` runs up to its first block; then the loop takes the next
 * message. What `fn` returns answers an update and is ignored for a signal. It changes the state with `updateState`, which it also gets
 * as an argument, typed. It may not spawn again nor receive.
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
  /** What handlers' errors do here; default: as the workflow's definition says. */
  readonly handlerErrors?: HandlerErrors;
}

/** Options of a {@link receive} that may end by time. */
export interface TimedReceiveOptions extends ReceiveOptions {
  /** Time after which receive ends by itself. 0: handle what has arrived already, then end. */
  readonly timeout: Duration;
}

/** How a receive with a timeout ended. */
export interface ReceiveResult<S> {
  /** True when no handler stopped it in time. */
  readonly timedOut: boolean;
  /** The final state. */
  readonly state: S;
}

/** Options of a {@link receive} that ends by itself. */
export interface ReceiveUntilOptions<S> extends ReceiveOptions {
  /**
   * Ends the receive as soon as it is true and nothing of the receive is in flight: no handler runs, no accepted update waits, no message
   * is there to take. Messages are taken until then; if handlers overlap without end, at most 100 of them, after which updates are
   * rejected as "ReceiveEnding" (a client of this package sends them again) and signals wait. It looks at the state, and at
   * `workflowInfo()`; it is asked whenever a message has been handled.
   *
   * @example
   * const { state } = await receive(start, handlers, { until: () => workflowInfo().continueAsNewSuggested });
   * return continueAsNew(state);
   */
  readonly until: (state: S) => boolean;
  /** As in {@link TimedReceiveOptions}. */
  readonly timeout?: Duration;
}

const RECEIVE_OPTIONS: OptionNames<ReceiveUntilOptions<unknown>> = { handlerErrors: 1, until: 1, timeout: 1 };

/** How a receive with `until` ended: by a stop, by time, or else by itself. */
export interface ReceiveUntilResult<S> extends ReceiveResult<S> {
  /** True when a handler stopped it. */
  readonly stopped: boolean;
}

/**
 * Processes messages until a handler stops it, or `until` holds: one at a time, in order of arrival, starting with what is buffered.
 * Updates are accepted only while a receive handles them. Returns the final state after every handler in flight, async ones and accepted
 * updates included, has finished. With `timeout` or `until` the result also says what ended it. Only in run, one at a time.
 */
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options?: ReceiveOptions & { timeout?: undefined; until?: undefined },
): Promise<S>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: TimedReceiveOptions & { until?: undefined },
): Promise<ReceiveResult<S>>;
export function receive<S>(
  state: S,
  handlers: NoInfer<Handler<S>>[],
  options: ReceiveUntilOptions<NoInfer<S>>,
): Promise<ReceiveUntilResult<S>>;
export function receive(
  state: unknown,
  // deno-lint-ignore no-explicit-any
  handlers: Handler<any>[],
  options: Partial<ReceiveUntilOptions<unknown>> = {},
  ...surplus: unknown[]
): Promise<unknown> {
  rejectUnknownOptions("receive", options, RECEIVE_OPTIONS);
  rejectSurplusArguments("receive", surplus, "receive needs a state, an array of handlers, and options");
  const fiber = callingFiber("receive");
  requireRole(fiber, "receive", ["run"], "Wait for a single signal with waitForSignal, or receive in run before or after this.");
  const { run } = fiber;
  if (run.receive !== undefined) {
    run.misuse(new NestingError("receive was called while another receive of the run is active; await that one first"));
  }
  if (!Array.isArray(handlers)) run.misuse(new MisuseError("receive needs an array of on(...) handlers"));
  if (options.until !== undefined && typeof options.until !== "function") {
    run.misuse(new MisuseError("until of receive must be a function that takes the state and returns true or false"));
  }
  const timeoutMs = options.timeout === undefined ? undefined : toMs(options.timeout);
  const open = waitingFiber("receive");
  if (open instanceof Error) return rejected(open);
  const handlerErrors = options.handlerErrors ?? run.definition.handlerErrors;
  const until = options.until === undefined ? undefined : new Until(fiber, options.until);
  return new ReceiveScope(fiber, state, handlers, { timeoutMs, handlerErrors, until }).awaiter.promise;
}

/**
 * In an async handler (and branches of parallel in it): atomically changes the state of the enclosing receive. `change` gets the current
 * state and returns `[result, newState]`; it runs at once, or when the sync handler that runs now has returned. Resolves to the result.
 */
export function updateState<S, T>(change: (state: S) => readonly [T, S]): Promise<T> {
  return updateReducer(change as StateChange<T>);
}
