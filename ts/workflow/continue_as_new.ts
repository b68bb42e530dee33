// continueAsNew: returned by run to start over under the same workflow id with a new history.
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
  /** Arguments of the next run, for the type checker. */
  readonly [continues]: A;
}

/**
 * `T` is the expected type, so that run may declare its result type: `async (n: number):
 * Promise<Order>`. A handler of a receive expects a handler result, which this excludes.
 */
type InRun<T> = T extends HandlerResult ? unknown : T;

/** Options of the next run. */
export interface ContinueAsNewOptions {
  /** Another workflow type, whose arguments are required then. */
  readonly workflowType?: string;
  /** Default: the queue of this run. */
  readonly taskQueue?: string;
  /** Timeout of the next run. Default: unchanged. */
  readonly runTimeout?: Duration;
  /** Timeout of one workflow task. Default: unchanged. */
  readonly taskTimeout?: Duration;
  /**
   * Default: the current memo of this run. An empty one counts as not set; `upsertMemo` removes
   * keys.
   */
  readonly memo?: { readonly [key: string]: unknown };
  /** Default: the current search attributes of this run. Empty ones count as not set. */
  readonly searchAttributes?: SearchAttributes;
}

const CONTINUE_OPTIONS: OptionNames<ContinueAsNewOptions> = {
  ...{ workflowType: 1, taskQueue: 1, runTimeout: 1, taskTimeout: 1, memo: 1, searchAttributes: 1 },
};

function checkRole(): void {
  const fiber = currentFiber();
  if (fiber !== undefined) {
    requireRole(
      fiber,
      "continueAsNew",
      ["run"],
      "End the handler or branch, and return continueAsNew from run.",
    );
    fiber.run.continuedAt = callSite(2);
  }
}

/**
 * Continues as new: `return continueAsNew(args)` from run ends this run and starts the next one
 * with these arguments. Only run may return it; anything else is a compile error, or a NestingError
 * that fails the task. Buffered signals are delivered first in the next run. With a declared result
 * type of run (`async (n: number): Promise<Order>`) the compiler does not check the arguments.
 */
export function continueAsNew<A extends unknown[], T = unknown>(
  ...args: A
): ContinueAsNew<A> & InRun<T> {
  checkRole();
  return makeContinueAsNew({ args, options: {} }) as ContinueAsNew<A> & InRun<T>;
}

/** Like {@link continueAsNew}, with options. Arguments of another workflow type are not checked. */
export function continueAsNewWith<T = unknown>(
  options: ContinueAsNewOptions & { readonly workflowType: string },
  ...args: unknown[]
  // deno-lint-ignore no-explicit-any
): ContinueAsNew<any> & InRun<T>;
export function continueAsNewWith<A extends unknown[], T = unknown>(
  options: ContinueAsNewOptions,
  ...args: A
): ContinueAsNew<A> & InRun<T>;
export function continueAsNewWith(
  options: ContinueAsNewOptions,
  ...args: unknown[]
): ContinueAsNew<unknown[]> {
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
