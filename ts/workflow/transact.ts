// transact(reducer, ...args): a change of the application's own tables that commits with the workflow task, or not at all. Reducers are
// named here by their types alone: their code is registered with the engine and runs there, never in workflow code and never on replay.
import { LazyAwait } from "../executor/program/lazy_await.ts";
import { TransactAwaiter } from "../executor/primitives/transact.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { activityProxy, type AnyFunction } from "./activities.ts";

/** A reducer as workflow code names it. Made by {@link reducers}. */
export interface Reducer<A extends unknown[] = unknown[], R = unknown> {
  /** Its name: the property under which it is registered. */
  readonly name: string;
  /** @internal For types alone. */
  readonly types?: { readonly args: A; readonly result: R };
}

/** The reducers among a module's exports: functions of a database and the arguments of {@link transact}. */
export type Reducers<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends (database: never, ...args: infer A) => infer R
    ? Reducer<A, R>
    : never;
};

/**
 * Names the reducers of a module for {@link transact}. The module itself is not loaded: it is given to the engine
 * (`open({ reducers })`).
 *
 * @example
 * const { applyDamage } = reducers<typeof import("./reducers.ts")>();
 */
export function reducers<T>(): Reducers<T> {
  return activityProxy((name) => Object.freeze({ name })) as unknown as Reducers<T>;
}

interface TransactCall {
  /**
   * Runs a reducer in the very transaction that commits this workflow task, in the order of its commands, once. Await it for what the
   * reducer returns (it comes with the next task) or throws (an ApplicationFailure; what it wrote is taken back, the task goes on).
   * Without an await it is done and forgotten; then what it throws fails the workflow task, which is tried again later.
   */
  <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>): PromiseLike<R>;
  /** As `transact`; what the reducer throws fails the workflow task even where it is awaited. */
  required<A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>): PromiseLike<R>;
}

/** Code without types may give anything. */
const nameOf = (reducer: { readonly name: string } | undefined): unknown => reducer?.name;

function start(name: unknown, args: readonly unknown[], required: boolean): PromiseLike<unknown> {
  if (typeof name !== "string" || name === "") {
    throw new TypeError('transact needs a reducer: const { addGold } = reducers<typeof import("./reducers.ts")>()');
  }
  const fiber = waitingFiber(`transact "${name}"`);
  if (fiber instanceof Error) return rejected(fiber);
  const awaiter = new TransactAwaiter(fiber, name, args, required);
  return new LazyAwait(awaiter.promise, () => awaiter.awaited());
}

/**
 * Runs a reducer in the transaction that commits this workflow task. On the embedded engine.
 *
 * @example
 * transact(logEvent, target, "hit");
 * const left = await transact(applyDamage, target, 50);
 */
export const transact: TransactCall = Object.assign(
  <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>) => start(nameOf(reducer), args, false) as PromiseLike<R>,
  {
    required: <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>) =>
      start(nameOf(reducer), args, true) as PromiseLike<R>,
  },
);
