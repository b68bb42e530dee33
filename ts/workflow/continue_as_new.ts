// continueAsNew: what run returns to start over, under the same workflow id, with a fresh history.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { type ContinueAsNewShape, makeContinueAsNew } from "../executor/program/definition.ts";
import { toMs } from "../converter/duration.ts";
import type { Duration } from "../converter/duration.ts";
import type { SearchAttributes } from "../converter/search_attributes.ts";
import { callSite } from "../executor/program/call_site.ts";
import { requireRole } from "../executor/scheduler/api_guard.ts";
import type { HandlerResult } from "./receive.ts";
import { currentFiber } from "../executor/scheduler/fiber.ts";

declare const continues: unique symbol;

/** Returned by run to continue as new with arguments `A`. Made by {@link continueAsNew}. */
export interface ContinueAsNew<A extends unknown[]> extends ContinueAsNewShape {
  /** The arguments of the next run, for the type checker. */
  readonly [continues]: A;
}

/**
 * `T` is the type that its place expects, so that run may declare the type of its result: `async (n: number): Promise<Order>`. A handler of a
 * receive expects a handler result, and gets none.
 */
type InRun<T> = T extends HandlerResult ? unknown : T;

/** Options of the next run. */
export interface ContinueAsNewOptions {
  /** Another workflow type; then the arguments are that type's. */
  readonly workflowType?: string;
  /** Default: the queue of this run. */
  readonly taskQueue?: string;
  /** Timeout of the new run; default: as before. */
  readonly runTimeout?: Duration;
  /** Timeout of one workflow task; default: as before. */
  readonly taskTimeout?: Duration;
  /** Default: the memo of this run, as upserts left it. An empty one is none given; `upsertMemo` removes keys. */
  readonly memo?: { readonly [key: string]: unknown };
  /** Default: the search attributes of this run, as upserts left them. Empty ones are none given. */
  readonly searchAttributes?: SearchAttributes;
}

const CONTINUE_OPTIONS: OptionNames<ContinueAsNewOptions> = {
  ...{ workflowType: 1, taskQueue: 1, runTimeout: 1, taskTimeout: 1, memo: 1, searchAttributes: 1 },
};

function checkRole(): void {
  const fiber = currentFiber();
  if (fiber !== undefined) {
    requireRole(fiber, "continueAsNew", ["run"], "End the handler or branch, and return continueAsNew from run.");
    fiber.run.continuedAt = callSite(2);
  }
}

/**
 * Continues as new: `return continueAsNew(args)` from run ends this run and starts the next one with these arguments. Only run may return
 * it: anywhere else it is a compile error, and a NestingError that fails the task, as is a run that makes it and returns something else.
 * Signals that nothing has received yet are delivered
 * first in the new run. If run declares the type of its result (`async (n: number): Promise<Order>`), the compiler does not check these
 * arguments; without a declared type it does.
 */
export function continueAsNew<A extends unknown[], T = unknown>(...args: A): ContinueAsNew<A> & InRun<T> {
  checkRole();
  return makeContinueAsNew({ args, options: {} }) as ContinueAsNew<A> & InRun<T>;
}

/** As {@link continueAsNew}, with options for the new run. Arguments for another workflow type cannot be checked here. */
export function continueAsNewWith<T = unknown>(
  options: ContinueAsNewOptions & { readonly workflowType: string },
  ...args: unknown[]
  // deno-lint-ignore no-explicit-any
): ContinueAsNew<any> & InRun<T>;
export function continueAsNewWith<A extends unknown[], T = unknown>(
  options: ContinueAsNewOptions,
  ...args: A
): ContinueAsNew<A> & InRun<T>;
export function continueAsNewWith(options: ContinueAsNewOptions, ...args: unknown[]): ContinueAsNew<unknown[]> {
  rejectUnknownOptions("continueAsNewWith", options, CONTINUE_OPTIONS);
  checkRole();
  const { runTimeout, taskTimeout, ...rest } = options;
  return makeContinueAsNew({
    args,
    options: {
      ...rest,
      ...(runTimeout === undefined ? {} : { runTimeoutMs: toMs(runTimeout) }),
      ...(taskTimeout === undefined ? {} : { taskTimeoutMs: toMs(taskTimeout) }),
    },
  }) as ContinueAsNew<unknown[]>;
}
