// workflow(...): a definition is a name, a run function and the queries it answers. Its type carries arguments and result to clients.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import {
  type DefinitionShape,
  type HandlerErrors,
  makeDefinition,
  type VersioningBehavior,
} from "../executor/program/definition.ts";
import { isReserved, RESERVED_NAMES } from "../executor/program/built_in_queries.ts";
import type { Carry } from "./carry.ts";
import type { ContinueAsNew } from "./continue_as_new.ts";
import type { Query, Signal, Update } from "./messages.ts";

/** A workflow definition: `A` are the arguments of its run function, `R` is what it completes with. */
export interface WorkflowDefinition<A extends unknown[] = unknown[], R = unknown> extends DefinitionShape {
  readonly kind: "workflow";
  /** Name of the workflow type. */
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
}

// deno-lint-ignore no-explicit-any
type AnyRun = (...args: any[]) => Promise<unknown>;
// deno-lint-ignore no-explicit-any
type AnyFirst = (...args: any[]) => unknown;
// deno-lint-ignore no-explicit-any
type AnyMessage = Signal<any> | Update<any, any> | Query<any, any>;

/** What the run function completes with: its result, without continue-as-new. */
// deno-lint-ignore no-explicit-any
export type ResultOf<F extends AnyRun> = Exclude<Awaited<ReturnType<F>>, ContinueAsNew<any>>;

/** A continue-as-new must give the arguments that run takes. */
type CheckedRun<F extends AnyRun> = Extract<Awaited<ReturnType<F>>, ContinueAsNew<unknown[]>> extends ContinueAsNew<Parameters<F>>
  ? unknown
  : { readonly "continueAsNew needs the arguments of run": Parameters<F> };

/** The properties that hold queries. */
type QueryKeys<M> = { [K in keyof M]: M[K] extends { readonly kind: "query" } ? K : never }[keyof M];

/** Handlers for every query among the messages, by property; their first argument is the last published state. */
type QueryHandlers<M> = { readonly [K in QueryKeys<M>]: M[K] extends Query<infer R, infer A> ? Answer<R, A> : never };
// deno-lint-ignore no-explicit-any
type Answer<R, A extends unknown[]> = (published: any, ...args: A) => R;

/** With queries among the messages their handlers are required; otherwise handlers go by wire name. */
type QueriesFor<M> = [QueryKeys<M>] extends [never] ? { readonly queries?: FreeQueries }
  : { readonly queries: QueryHandlers<M> };

/** Query handlers by wire name, for definitions that list no messages. */
// deno-lint-ignore no-explicit-any
type FreeQueries = { readonly [name: string]: (published: any, ...args: any[]) => unknown };

interface CommonOptions {
  /**
   * What happens when a message handler throws something that is not a Temporal failure. "report" (default): an update fails, a signal is
   * logged, the workflow goes on. "failTask": it is taken for a bug; the task fails and is tried again, so that a deployment can fix it.
   */
  readonly handlerErrors?: HandlerErrors;
  /**
   * With worker versioning (`workerDeploymentOptions` of the worker): "PINNED" runs stay with the version that they began on,
   * "AUTO_UPGRADE" runs go on with the current one. Default: the worker's `defaultVersioningBehavior`.
   */
  readonly versioningBehavior?: VersioningBehavior;
  /**
   * How many answered updates are known to the run that continues this one as new: an update that comes again with the id of one of them
   * gets the answer that it had, and no handler runs. From 0 to 1,000, in 256 KiB of ids and answers; beyond that the oldest are
   * forgotten. They are written into the history twice per continue-as-new. Default: 32, in 32 KiB.
   */
  readonly rememberUpdates?: number;
}

/** What defines a workflow, beside its messages and queries. */
export interface WorkflowOptions<F extends AnyRun> extends CommonOptions {
  /**
   * The workflow: sequential code that calls activities, sleeps, receives messages and returns its result. Return `continueAsNew(...)` to
   * start over with a fresh history; throw an ApplicationFailure to fail.
   */
  readonly run: F;
}

/** What a round completes the workflow with: what it returns, but for {@link carry} and continue-as-new. */
// deno-lint-ignore no-explicit-any
export type RoundResult<T> = Exclude<T, Carry<any> | ContinueAsNew<any>>;

/** A round goes on with the state that `carry` makes. */
type CheckedRound<S, T> = Extract<T, Carry<unknown>> extends Carry<S> ? unknown
  : { readonly "carry needs the state that the workflow declares": S };

/** What defines a workflow of rounds: a loop of any length, whose state goes from round to round. `F` makes the first state. */
export interface RoundOptions<F extends AnyFirst, T> extends CommonOptions {
  /** The state that the first round begins with, of the workflow's arguments. It must survive the payload converter. */
  readonly carry: F;
  /**
   * One round: sequential code as `run` is, called again each time that it returns `carry(next)`. What it returns otherwise is the
   * workflow's result. Nothing else goes from one round to the next, and what a round leaves open is cancelled at its end.
   */
  readonly round: (state: ReturnType<F>, ...args: Parameters<F>) => Promise<T>;
}

/** The most that `rememberUpdates` may be. */
const MOST_REMEMBERED = 1000;

/**
 * Defines a workflow.
 *
 * With `messages`, every query among them must have a handler under the same property, of matching types. Without, `queries` maps wire
 * names to handlers. A handler gets the last published state (undefined before the first publishState) and the arguments of the query;
 * it answers at once and changes nothing.
 *
 * @example
 * export const counter = workflow("Counter", {
 *   queries: { value: (published: number) => published },
 *   async run(start: number) { ... },
 * });
 */
export function workflow<F extends AnyRun>(name: string, run: F & CheckedRun<F>): WorkflowDefinition<Parameters<F>, ResultOf<F>>;
export function workflow<F extends AnyRun, M extends { readonly [key: string]: AnyMessage } = Record<never, never>>(
  name: string,
  definition: WorkflowOptions<F & CheckedRun<F>> & { readonly messages?: M } & QueriesFor<NoInfer<M>>,
): WorkflowDefinition<Parameters<F>, ResultOf<F>>;
export function workflow<F extends AnyFirst, T, M extends { readonly [key: string]: AnyMessage } = Record<never, never>>(
  name: string,
  definition: RoundOptions<F, T> & CheckedRound<ReturnType<F>, T> & { readonly messages?: M } & QueriesFor<NoInfer<M>>,
): WorkflowDefinition<Parameters<F>, RoundResult<T>>;
export function workflow(
  name: string,
  definition:
    | AnyRun
    | ((WorkflowOptions<AnyRun> | RoundOptions<AnyFirst, unknown>) & {
      messages?: { [key: string]: AnyMessage };
      queries?: FreeQueries;
    }),
): WorkflowDefinition {
  if (typeof name !== "string" || name === "") throw new TypeError("the name of a workflow must be a non-empty string");
  const parts = typeof definition === "function" ? { run: definition } : definition;
  rejectUnknownOptions(`workflow "${name}"`, parts, WORKFLOW_OPTIONS);
  const { run, carry } = runOf(name, parts);
  const versioning = "versioningBehavior" in parts ? parts.versioningBehavior : undefined;
  if (versioning !== undefined && versioning !== "PINNED" && versioning !== "AUTO_UPGRADE") {
    throw new TypeError(
      `workflow "${name}" has the versioning behavior ${JSON.stringify(versioning)}; valid values: "PINNED" and "AUTO_UPGRADE"`,
    );
  }
  const remembered = "rememberUpdates" in parts ? parts.rememberUpdates : undefined;
  if (remembered !== undefined && !(Number.isInteger(remembered) && remembered >= 0 && remembered <= MOST_REMEMBERED)) {
    throw new RangeError(
      `workflow "${name}" remembers ${remembered} updates; the number must be an integer from 0 to ${MOST_REMEMBERED}`,
    );
  }
  return makeDefinition({
    kind: "workflow" as const,
    name,
    run,
    ...(carry !== undefined && { carry }),
    queries: queryTable(name, "messages" in parts ? parts.messages : undefined, "queries" in parts ? parts.queries : undefined),
    ...("messages" in parts && parts.messages !== undefined && { messages: Object.freeze(Object.values(parts.messages)) }),
    handlerErrors: ("handlerErrors" in parts ? parts.handlerErrors : undefined) ?? "report",
    ...(versioning !== undefined && { versioningBehavior: versioning }),
    ...(remembered !== undefined && { rememberUpdates: remembered }),
  });
}

const WORKFLOW_OPTIONS: OptionNames<WorkflowOptions<AnyRun> & RoundOptions<AnyFirst, unknown>> & OptionNames<MessageParts> = {
  ...{ run: 1, carry: 1, round: 1, messages: 1, queries: 1, handlerErrors: 1, versioningBehavior: 1, rememberUpdates: 1 },
};
interface MessageParts {
  messages: unknown;
  queries: unknown;
}

/** What drives the workflow: a run function, or rounds. */
function runOf(name: string, parts: object): { readonly run: AnyRun; readonly carry?: (...args: unknown[]) => unknown } {
  const { run, carry, round } = (parts ?? {}) as { readonly [key in "run" | "carry" | "round"]?: AnyRun };
  if (carry === undefined && round === undefined) {
    if (typeof run !== "function") throw new TypeError(`workflow "${name}" needs a run function`);
    return { run };
  }
  if (typeof carry !== "function" || typeof round !== "function") {
    throw new TypeError(`workflow "${name}" needs two functions: carry, which returns the first state, and round`);
  }
  if (run !== undefined) throw new TypeError(`workflow "${name}" has both run and round; with carry, use round instead of run`);
  return { run: round, carry };
}

/** Handlers by wire name. */
function queryTable(
  workflow: string,
  messages: { [key: string]: AnyMessage } | undefined,
  queries: FreeQueries = {},
): FreeQueries {
  const table: { [name: string]: FreeQueries[string] } = {};
  for (const [key, handler] of Object.entries(queries)) {
    const message = messages?.[key];
    if (typeof handler !== "function") throw new TypeError(`query "${key}" of workflow "${workflow}" needs a handler function`);
    if (isReserved(key)) {
      throw new TypeError(
        `workflow "${workflow}" has a handler for the query "${key}": Temporal reserves ${RESERVED_NAMES}`,
      );
    }
    table[message?.kind === "query" ? message.name : key] = handler;
  }
  for (const [key, message] of Object.entries(messages ?? {})) {
    if (message.kind === "query" && table[message.name] === undefined) {
      throw new TypeError(`workflow "${workflow}" declares the query "${key}" but has no handler for it`);
    }
  }
  return Object.freeze(table);
}
