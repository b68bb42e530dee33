// Messages, declared once and shared by the workflow and its clients. Plain data at run time;
// arguments and results are in the type.
import { noteDefinition } from "../executor/program/definition_sites.ts";
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import { isReserved, RESERVED_NAMES } from "../executor/program/built_in_queries.ts";
import type { StandardSchemaV1 } from "./standard_schema.ts";

/** A message without response, with arguments `A`. Made by {@link signal}. */
export interface Signal<A extends unknown[] = []> {
  readonly kind: "signal";
  readonly name: string;
  /** Validators of the arguments, by position. */
  readonly args?: ArgSchemas<A>;
  /** Shown in user interfaces. */
  readonly description?: string;
  readonly _a?: A;
}

/** A request with arguments `A` and response `R`. Made by {@link update}. */
export interface Update<A extends unknown[] = [], R = void> {
  readonly kind: "update";
  readonly name: string;
  /** Validators of the arguments, by position. */
  readonly args?: ArgSchemas<A>;
  /** Shown in user interfaces. */
  readonly description?: string;
  readonly _a?: A;
  readonly _r?: R;
}

/** A read-only request over the published state. Made by {@link query}. */
export interface Query<R = unknown, A extends unknown[] = []> {
  readonly kind: "query";
  readonly name: string;
  /** Shown in user interfaces. */
  readonly description?: string;
  readonly _a?: A;
  readonly _r?: R;
}

/** One Standard Schema validator per argument, synchronous. Handlers get their outputs. */
export type ArgSchemas<A extends unknown[]> = {
  readonly [K in keyof A]: StandardSchemaV1<unknown, A[K]>;
};

/** Options of a query. */
export interface QueryOptions {
  /** What it returns; shown by Temporal's UI and `workflow metadata`. */
  readonly description?: string;
}

/** Options of a signal or update. */
export interface MessageOptions<A extends unknown[]> {
  /** What it does; shown by Temporal's UI and `workflow metadata`. */
  readonly description?: string;
  /**
   * Validators of the arguments, by position: zod, valibot, arktype or any Standard Schema. An
   * update with invalid arguments is rejected; a signal is logged and dropped.
   */
  readonly args?: ArgSchemas<A>;
}

const QUERY_OPTIONS: OptionNames<QueryOptions> = { description: 1 };
export const MESSAGE_OPTIONS: OptionNames<MessageOptions<[]>> = { description: 1, args: 1 };

function checkName(kind: string, name: string): void {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`the name of a ${kind} must be a non-empty string`);
  }
  if (isReserved(name)) {
    throw new TypeError(
      `a ${kind} cannot be named "${name}": Temporal reserves ${RESERVED_NAMES}; choose another name`,
    );
  }
}

/**
 * Declares a signal.
 *
 * @example
 * export const approve = signal<[by: string]>("approve");
 */
export function signal<A extends unknown[] = []>(
  name: string,
  options: MessageOptions<A> = {},
): Signal<A> {
  checkName("signal", name);
  rejectUnknownOptions(`signal "${name}"`, options, MESSAGE_OPTIONS);
  noteDefinition("signal", name, signal);
  return Object.freeze({ kind: "signal", name, ...options });
}

/**
 * Declares an update.
 *
 * @example
 * export const addItem = update<[item: Item], number>("add_item");
 */
export function update<A extends unknown[] = [], R = void>(
  name: string,
  options: MessageOptions<A> = {},
): Update<A, R> {
  checkName("update", name);
  rejectUnknownOptions(`update "${name}"`, options, MESSAGE_OPTIONS);
  noteDefinition("update", name, update);
  return Object.freeze({ kind: "update", name, ...options });
}

/**
 * Declares a query with its result and arguments.
 *
 * @example
 * export const status = query<Status>("status");
 * export const items = query<Item[], [filter: string]>("items");
 */
export function query<R = unknown, A extends unknown[] = []>(
  name: string,
  options: QueryOptions = {},
): Query<R, A> {
  checkName("query", name);
  rejectUnknownOptions(`query "${name}"`, options, QUERY_OPTIONS);
  noteDefinition("query", name, query);
  return Object.freeze({ kind: "query", name, ...options });
}
