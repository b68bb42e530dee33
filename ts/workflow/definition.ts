// workflow(...): a definition has a name, a run function and query handlers. Its type has arguments
// and result.
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

/** A workflow definition: `A` are the arguments of its run function, `R` is its result. */
export interface WorkflowDefinition<A extends unknown[] = unknown[], R = unknown>
  extends DefinitionShape {
  readonly kind: "workflow";
  /** Name of the workflow type. */
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
  /** Throws a TypeError. The compiler shows the type of `this` for a direct call. */
  (this: StartedNotCalled, ...args: never[]): never;
}

/** A definition that derives the workflow id from the arguments: starts need no id. */
export interface DerivedId {
  /** Returns the workflow id of a start with these arguments. Must be deterministic. */
  // deno-lint-ignore no-explicit-any
  readonly id: (...args: any[]) => string;
}

/** The option `id` of a definition. */
interface IdOption<A extends unknown[]> {
  /**
   * Derives the workflow id from the arguments of `run`, for starts and children without an `id`. A
   * duplicate `client.start` or `execute` returns the open run; a child with the id of an open run
   * is rejected. An `id` in the call takes precedence, with its usual `idConflictPolicy`. It is
   * called in the client and in workflow code and must return the same id for the same arguments.
   *
   * @example
   * workflow("Order", { id: (order: Order) => `order-${order.number}`, run: async (order: Order) => ... });
   */
  readonly id: (...args: A) => string;
}

type StartedNotCalled =
  "A workflow is started, not called. In an application: client.start(workflow, { id, args }). In a workflow: spawn(workflow, ...args).";

// deno-lint-ignore no-explicit-any
type AnyRun = (...args: any[]) => Promise<unknown>;
// deno-lint-ignore no-explicit-any
type AnyFirst = (...args: any[]) => unknown;
// deno-lint-ignore no-explicit-any
type AnyMessage = Signal<any> | Update<any, any> | Query<any, any>;

/** The result of the run function, without continue-as-new. */
// deno-lint-ignore no-explicit-any
export type ResultOf<F extends AnyRun> = Exclude<Awaited<ReturnType<F>>, ContinueAsNew<any>>;

/** A continue-as-new must have the arguments of run. */
type CheckedRun<F extends AnyRun> =
  Extract<Awaited<ReturnType<F>>, ContinueAsNew<unknown[]>> extends ContinueAsNew<Parameters<F>>
    ? unknown
    : { readonly "continueAsNew needs the arguments of run": Parameters<F> };

/** Keys of queries. */
type QueryKeys<M> = {
  [K in keyof M]: M[K] extends { readonly kind: "query" } ? K : never;
}[keyof M];

/** A handler for every query of the messages, by key; the first argument is the published state. */
type QueryHandlers<M> = {
  readonly [K in QueryKeys<M>]: M[K] extends Query<infer R, infer A> ? Answer<R, A>
    : never;
};
// deno-lint-ignore no-explicit-any
type Answer<R, A extends unknown[]> = (published: any, ...args: A) => R;

/**
 * With queries among the messages their handlers are required; otherwise handlers are keyed by
 * name.
 */
type QueriesFor<M> = [QueryKeys<M>] extends [never] ? { readonly queries?: FreeQueries }
  : { readonly queries: QueryHandlers<M> };

/** Query handlers by name, for definitions without messages. */
// deno-lint-ignore no-explicit-any
type FreeQueries = { readonly [name: string]: (published: any, ...args: any[]) => unknown };

interface CommonOptions {
  /**
   * Errors of message handlers that are not Temporal failures. "report" (default): an update fails,
   * a signal is logged, the workflow continues. "failTask": the task fails and is retried, so that
   * a deployment can fix it.
   */
  readonly handlerErrors?: HandlerErrors;
  /**
   * With worker versioning (`workerDeploymentOptions`): "PINNED" runs stay on their version,
   * "AUTO_UPGRADE" runs move to the current one. Default: the worker's `defaultVersioningBehavior`.
   */
  readonly versioningBehavior?: VersioningBehavior;
  /**
   * Number of completed updates that the next run of continue-as-new remembers: a repeated update
   * with one of their ids gets the same result without its handler. From 0 to 1,000, in 256 KiB of
   * ids and results; the oldest are dropped. They are written to history twice per continue-as-new.
   * Default: 32, in 32 KiB.
   */
  readonly rememberUpdates?: number;
}

/** Definition of a workflow, in addition to its messages and queries. */
export interface WorkflowOptions<F extends AnyRun> extends CommonOptions {
  /**
   * The workflow: sequential code that calls activities, sleeps, receives messages and returns its
   * result. Return `continueAsNew(...)` to start over with a new history; throw an
   * ApplicationFailure to fail.
   */
  readonly run: F;
}

/**
 * The result of a workflow of rounds: its returned type without {@link carry} and continue-as-new.
 */
// deno-lint-ignore no-explicit-any
export type RoundResult<T> = Exclude<T, Carry<any> | ContinueAsNew<any>>;

/** A round continues with the state of `carry`. */
type CheckedRound<S, T> = Extract<T, Carry<unknown>> extends Carry<S> ? unknown
  : { readonly "carry needs the state that the workflow declares": S };

/**
 * Definition of a workflow of rounds: a loop of any length with a carried state. `F` makes the
 * first state.
 */
export interface RoundOptions<F extends AnyFirst, T> extends CommonOptions {
  /**
   * Returns the first state from the workflow's arguments. It must be encodable by the payload
   * converter.
   */
  readonly carry: F;
  /**
   * One round: sequential code like `run`, called again each time it returns `carry(next)`. Any
   * other value is the workflow's result. Only the state passes to the next round, and open work is
   * canceled at its end.
   */
  readonly round: (state: ReturnType<F>, ...args: Parameters<F>) => Promise<T>;
}

/** Maximum of `rememberUpdates`. */
const MOST_REMEMBERED = 1000;

/**
 * Defines a workflow.
 *
 * With `messages`, every query needs a handler with the same key and matching types. Without,
 * `queries` maps names to handlers. A handler gets the last published state (undefined before the
 * first publishState) and the query's arguments; it is synchronous and read-only.
 *
 * @example
 * export const counter = workflow("Counter", {
 *   queries: { value: (published: number) => published },
 *   async run(start: number) { ... },
 * });
 */
export function workflow<F extends AnyRun>(
  name: string,
  run: F & CheckedRun<F>,
): WorkflowDefinition<Parameters<F>, ResultOf<F>>;
export function workflow<
  F extends AnyRun,
  M extends { readonly [key: string]: AnyMessage } = Record<never, never>,
>(
  name: string,
  definition:
    & WorkflowOptions<F & CheckedRun<F>>
    & { readonly messages?: M }
    & QueriesFor<NoInfer<M>>
    & IdOption<Parameters<F>>,
): WorkflowDefinition<Parameters<F>, ResultOf<F>> & DerivedId;
export function workflow<
  F extends AnyFirst,
  T,
  M extends { readonly [key: string]: AnyMessage } = Record<never, never>,
>(
  name: string,
  definition:
    & RoundOptions<F, T>
    & CheckedRound<ReturnType<F>, T>
    & { readonly messages?: M }
    & QueriesFor<NoInfer<M>>
    & IdOption<Parameters<F>>,
): WorkflowDefinition<Parameters<F>, RoundResult<T>> & DerivedId;
export function workflow<
  F extends AnyRun,
  M extends { readonly [key: string]: AnyMessage } = Record<never, never>,
>(
  name: string,
  definition:
    & WorkflowOptions<F & CheckedRun<F>>
    & { readonly messages?: M }
    & QueriesFor<NoInfer<M>>
    & { readonly id?: undefined },
): WorkflowDefinition<Parameters<F>, ResultOf<F>>;
export function workflow<
  F extends AnyFirst,
  T,
  M extends { readonly [key: string]: AnyMessage } = Record<never, never>,
>(
  name: string,
  definition:
    & RoundOptions<F, T>
    & CheckedRound<ReturnType<F>, T>
    & { readonly messages?: M }
    & QueriesFor<NoInfer<M>>
    & { readonly id?: undefined },
): WorkflowDefinition<Parameters<F>, RoundResult<T>>;
export function workflow(
  name: string,
  definition:
    | AnyRun
    | ((WorkflowOptions<AnyRun> | RoundOptions<AnyFirst, unknown>) & {
      messages?: { [key: string]: AnyMessage };
      queries?: FreeQueries;
      id?: (...args: unknown[]) => string;
    }),
): WorkflowDefinition {
  if (typeof name !== "string" || name === "") {
    throw new TypeError("the name of a workflow must be a non-empty string");
  }
  const parts = typeof definition === "function" ? { run: definition } : definition;
  rejectUnknownOptions(`workflow "${name}"`, parts, WORKFLOW_OPTIONS);
  const { run, carry } = runOf(name, parts);
  const versioning = "versioningBehavior" in parts ? parts.versioningBehavior : undefined;
  if (versioning !== undefined && versioning !== "PINNED" && versioning !== "AUTO_UPGRADE") {
    throw new TypeError(
      `workflow "${name}" has the versioning behavior ${
        JSON.stringify(versioning)
      }; valid values: "PINNED" and "AUTO_UPGRADE"`,
    );
  }
  const remembered = "rememberUpdates" in parts ? parts.rememberUpdates : undefined;
  if (
    remembered !== undefined &&
    !(Number.isInteger(remembered) && remembered >= 0 && remembered <= MOST_REMEMBERED)
  ) {
    throw new RangeError(
      `rememberUpdates of workflow "${name}" must be an integer from 0 to ${MOST_REMEMBERED}, not ${remembered}`,
    );
  }
  const id = "id" in parts ? parts.id : undefined;
  if (id !== undefined && typeof id !== "function") {
    throw new TypeError(
      `id of workflow "${name}" must be a function of the arguments that returns the workflow id`,
    );
  }
  return makeDefinition({
    kind: "workflow" as const,
    name,
    run,
    ...(carry !== undefined && { carry }),
    queries: queryTable(
      name,
      "messages" in parts ? parts.messages : undefined,
      "queries" in parts ? parts.queries : undefined,
    ),
    ...("messages" in parts && parts.messages !== undefined &&
      { messages: Object.freeze(Object.values(parts.messages)) }),
    handlerErrors: ("handlerErrors" in parts ? parts.handlerErrors : undefined) ?? "report",
    ...(versioning !== undefined && { versioningBehavior: versioning }),
    ...(remembered !== undefined && { rememberUpdates: remembered }),
    ...(id !== undefined && { id }),
  });
}

const WORKFLOW_OPTIONS:
  & OptionNames<WorkflowOptions<AnyRun> & RoundOptions<AnyFirst, unknown>>
  & OptionNames<MessageParts> = {
    ...{
      run: 1,
      carry: 1,
      round: 1,
      messages: 1,
      queries: 1,
      handlerErrors: 1,
      versioningBehavior: 1,
      rememberUpdates: 1,
      id: 1,
    },
  };
interface MessageParts {
  id: unknown;
  messages: unknown;
  queries: unknown;
}

/** Returns the run function, or the round with its carry. */
function runOf(
  name: string,
  parts: object,
): { readonly run: AnyRun; readonly carry?: (...args: unknown[]) => unknown } {
  const { run, carry, round } = (parts ?? {}) as {
    readonly [key in "run" | "carry" | "round"]?: AnyRun;
  };
  if (carry === undefined && round === undefined) {
    if (typeof run !== "function") throw new TypeError(`workflow "${name}" needs a run function`);
    return { run };
  }
  if (typeof carry !== "function" || typeof round !== "function") {
    throw new TypeError(
      `workflow "${name}" needs two functions: carry, which returns the first state, and round`,
    );
  }
  if (run !== undefined) {
    throw new TypeError(
      `workflow "${name}" has both run and round; with carry, use round instead of run`,
    );
  }
  return { run: round, carry };
}

/** Returns handlers by name. */
function queryTable(
  workflow: string,
  messages: { [key: string]: AnyMessage } | undefined,
  queries: FreeQueries = {},
): FreeQueries {
  const table: { [name: string]: FreeQueries[string] } = {};
  for (const [key, handler] of Object.entries(queries)) {
    const message = messages?.[key];
    if (typeof handler !== "function") {
      throw new TypeError(`query "${key}" of workflow "${workflow}" needs a handler function`);
    }
    if (isReserved(key)) {
      throw new TypeError(
        `workflow "${workflow}" has a handler for the query "${key}": Temporal reserves ${RESERVED_NAMES}`,
      );
    }
    table[message?.kind === "query" ? message.name : key] = handler;
  }
  for (const [key, message] of Object.entries(messages ?? {})) {
    if (message.kind === "query" && table[message.name] === undefined) {
      throw new TypeError(
        `workflow "${workflow}" declares the query "${key}" but has no handler for it`,
      );
    }
  }
  return Object.freeze(table);
}
