// transact(reducer, ...args): a change of the application's tables that commits with the workflow
// task. Workflow code has only the types of reducers: their code is registered with the engine and
// runs there, never on replay.
import { LazyAwait } from "../executor/program/lazy_await.ts";
import { TransactAwaiter } from "../executor/primitives/transact.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { activityProxy, type AnyFunction } from "./activities.ts";

/** A reducer in workflow code. Made by {@link reducers}. */
export interface Reducer<A extends unknown[] = unknown[], R = unknown> {
  /** Name of the reducer: the property under which it is registered. */
  readonly name: string;
  /** @internal Only for types. */
  readonly types?: { readonly args: A; readonly result: R };
}

/**
 * The reducers among a module's exports: functions of a database and the arguments of {@link
 * transact}.
 */
export type Reducers<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends
    (database: never, ...args: infer A) => infer R ? Reducer<A, R>
    : never;
};

/**
 * Returns the reducers of a module for {@link transact}. The module is not loaded here but by the
 * engine (`open({ reducers })`).
 *
 * @example
 * const { applyDamage } = reducers<typeof import("./reducers.ts")>();
 */
export function reducers<T>(): Reducers<T> {
  return activityProxy((name) => Object.freeze({ name })) as unknown as Reducers<T>;
}

interface TransactCall {
  /**
   * Runs a reducer once in the transaction that commits this workflow task, in the order of its
   * commands. Await it for its result (with the next task) or error (an ApplicationFailure; its
   * writes are rolled back, the task continues). Without await, an error fails the workflow task,
   * which is retried later. A call cannot be withdrawn: in an arm of select that loses, or in a
   * scope that ends, only the wait for the result ends.
   */
  <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>): PromiseLike<R>;
  /**
   * Like `transact`, for a reducer that the run cannot do without: its error ends the run, which
   * fails with it, awaited or not. No `catch` or `finally` of workflow code runs.
   */
  required<A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>): PromiseLike<R>;
}

/** Untyped code may pass any value. */
const nameOf = (reducer: { readonly name: string } | undefined): unknown => reducer?.name;

function start(name: unknown, args: readonly unknown[], required: boolean): PromiseLike<unknown> {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      'transact needs a reducer: const { addGold } = reducers<typeof import("./reducers.ts")>()',
    );
  }
  const fiber = waitingFiber(`transact "${name}"`);
  if (fiber instanceof Error) return rejected(fiber);
  const awaiter = new TransactAwaiter(fiber, name, args, required);
  return new LazyAwait(awaiter.promise, () => awaiter.awaited());
}

/**
 * Runs a reducer in the transaction that commits this workflow task. Only with the embedded engine.
 *
 * @example
 * transact(logEvent, target, "hit");
 * const left = await transact(applyDamage, target, 50);
 */
export const transact: TransactCall = Object.assign(
  <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>) =>
    start(nameOf(reducer), args, false) as PromiseLike<R>,
  {
    required: <A extends unknown[], R>(reducer: Reducer<A, R>, ...args: NoInfer<A>) =>
      start(nameOf(reducer), args, true) as PromiseLike<R>,
  },
);
