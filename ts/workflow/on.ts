// on: binds code to an event. The same function makes handlers of a receive and arms of a select,
// because both can take a signal; the type of the result decides where it may be used.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { current } from "../executor/program/current.ts";
import type { HandlerShape } from "../executor/program/definition.ts";
import type { Signal, Update } from "./messages.ts";
import type { Async, HasControl, Noreply, NotFromHere, Reply, Stop, StopReply } from "./receive.ts";

type MaybePromise<T> = T | Promise<T>;
/** Like `unknown`, but keeps the types of literals. */
// deno-lint-ignore ban-types
type Value = string | {} | null | undefined | void;

/**
 * An arm of {@link select}: what decides it, and a body that returns an `R`. Made by {@link on} and
 * {@link timer}.
 */
export interface Arm<R> {
  /** What it waits for. */
  readonly source: "signal" | "timer" | "promise" | "call";
  readonly _r?: () => R;
}

/**
 * Code bound to a signal. Its result `R` decides where it may be used: in a receive over a state
 * `S` it is a handler result, in a select any value. Made by {@link on}.
 */
export interface SignalHandler<S, R> extends HandlerShape, Arm<R> {
  /** What it waits for. */
  readonly source: "signal";
  readonly _s?: (state: S) => void;
}

/** The handler of an update, over a reducer state `S`. Made by {@link on}. */
export interface UpdateHandler<S> extends HandlerShape {
  /** What it waits for. */
  readonly source: "update";
  readonly _s?: (state: S) => S;
}

/** A handler for one message of a receive, over a reducer state `S`. Made by {@link on}. */
export type Handler<S> =
  | SignalHandler<S, MaybePromise<Noreply<S> | Stop<S> | Async<unknown, S>>>
  | UpdateHandler<S>;

/** Options of an update handler. */
export interface UpdateHandlerOptions<A extends unknown[], S> {
  /**
   * Throws to reject the update, before anything is written to history; the caller gets the
   * failure. Synchronous, with a read-only view of the state and without API calls. Not run on
   * replay.
   */
  readonly validate?: (args: A, state: Readonly<S>) => void;
}

const UPDATE_HANDLER_OPTIONS: OptionNames<UpdateHandlerOptions<[], unknown>> = { validate: 1 };
const NO_OPTIONS = {};

/**
 * Binds code to a signal: a handler of a receive, or an arm of a select. It gets the arguments as
 * an array, and may block (call activities, sleep, ...). In a receive it also gets the state, and
 * returns the new one wrapped in `noreply`, `stop` or `spawnAsync`. In a select its result is the
 * value of the select.
 */
export function on<S, A extends unknown[], R extends Value>(
  signal: Signal<A>,
  handler: (args: A, state: S) => R,
): SignalHandler<S, R>;
/**
 * An arm of a select. A function is called by the select: if another arm wins, its activities,
 * timers and children are canceled. A promise was started elsewhere and continues: it can be an arm
 * of the next select. A failure of either is thrown by the select.
 */
export function on<T, R extends Value>(
  source:
    | PromiseLike<T>
    | (() => HasControl<Awaited<T>> extends true ? NotFromHere<"an arm of select"> : T),
  body: (value: Awaited<T>) => R,
): Arm<R>;
/**
 * Binds a handler to an update of a receive. It gets the arguments as an array and the state, may
 * block, and returns response and new state wrapped in `reply`, `stop` or `spawnAsync`.
 */
export function on<S, A extends unknown[], R>(
  update: Update<A, R>,
  handler: (args: A, state: S) => MaybePromise<Reply<R, S> | StopReply<R, S> | Async<R, S>>,
  options?: UpdateHandlerOptions<A, S>,
): UpdateHandler<S>;
export function on(
  // deno-lint-ignore no-explicit-any
  source: Signal<any> | Update<any, any> | PromiseLike<unknown> | (() => unknown),
  // deno-lint-ignore no-explicit-any
  code: (value: any, state: any) => unknown,
  // deno-lint-ignore no-explicit-any
  options: UpdateHandlerOptions<any, any> = {},
  ...surplus: unknown[]
): unknown {
  if (typeof code !== "function") {
    throw new TypeError("on needs a source to wait for and a function to call");
  }
  const { kind, name } = (source ?? {}) as { kind?: unknown; name?: unknown };
  const isMessage = typeof kind === "string" && typeof name === "string";
  rejectUnknownOptions(
    isMessage ? `on of ${kind} "${name}"` : "on",
    options,
    kind === "update" ? UPDATE_HANDLER_OPTIONS : NO_OPTIONS,
  );
  rejectSurplusArguments(
    "on",
    surplus,
    "on accepts a source, a function and, for an update, { validate }",
  );
  if (typeof source === "function") return { source: "call", call: source, body: code };
  if (typeof (source as Partial<PromiseLike<unknown>> | undefined)?.then === "function") {
    return { source: "promise", promise: source, body: code };
  }
  if (!isMessage) {
    throw new TypeError(
      "the first argument of on must be a signal, an update, a function or a promise",
    );
  }
  current.run?.noteHandler?.(kind as "signal" | "update", name);
  return { source: kind, message: source, handle: code, validate: options.validate };
}
