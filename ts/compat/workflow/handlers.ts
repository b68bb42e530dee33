// Definitions and handlers of signals, updates and queries.
import { noteDefinition } from "../../executor/program/definition_sites.ts";
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { HandlerUnfinishedPolicy } from "../common/options.ts";
import type {
  QueryDefinitionOptions,
  SignalDefinitionOptions,
  UpdateDefinitionOptions,
} from "../common/definitions.ts";
import { throwIfReservedName } from "../common/reserved.ts";
import type { PayloadTypeInfo, SignalTypeInfo } from "../common/type_info.ts";
import type { ValueTypes } from "../typed_values.ts";
import { currentCompatRun } from "../current.ts";
import type { DefaultHandler, HandlerFunction } from "../messages.ts";

/** Brands for the types of arguments and results; they do not exist at run time. */
declare const ARGS: unique symbol;
declare const RESULT: unique symbol;

/** A signal with the types of its arguments. */
export interface SignalDefinition<
  Args extends unknown[] = unknown[],
  Name extends string = string,
> {
  /** Discriminator. */
  type: "signal";
  name: Name;
  /** Type hints for converters. */
  typeInfo?: SignalTypeInfo;
  /** Types of arguments; the property does not exist at run time. */
  [ARGS]?: Args;
}
/** An update with the types of its arguments and its result. */
export interface UpdateDefinition<
  Ret,
  Args extends unknown[] = unknown[],
  Name extends string = string,
> {
  /** Discriminator. */
  type: "update";
  name: Name;
  /** Type hints for converters. */
  typeInfo?: PayloadTypeInfo;
  /** Types of arguments; the property does not exist at run time. */
  [ARGS]?: Args;
  /** Type of the result; the property does not exist at run time. */
  [RESULT]?: Ret;
}
/** A query with the types of its arguments and its result. */
export interface QueryDefinition<
  Ret,
  Args extends unknown[] = unknown[],
  Name extends string = string,
> {
  /** Discriminator. */
  type: "query";
  name: Name;
  /** Type hints for converters. */
  typeInfo?: PayloadTypeInfo;
  /** Types of arguments; the property does not exist at run time. */
  [ARGS]?: Args;
  /** Type of the result; the property does not exist at run time. */
  [RESULT]?: Ret;
}

/** Declares a signal. */
export function defineSignal<Args extends unknown[] = [], Name extends string = string>(
  name: Name,
  options?: SignalDefinitionOptions,
): SignalDefinition<Args, Name> {
  noteDefinition("signal", name, defineSignal);
  return makeDefinition("signal", name, options);
}

/** Declares an update. */
export function defineUpdate<Ret, Args extends unknown[] = [], Name extends string = string>(
  name: Name,
  options?: UpdateDefinitionOptions,
): UpdateDefinition<Ret, Args, Name> {
  noteDefinition("update", name, defineUpdate);
  return makeDefinition("update", name, options);
}

/** Declares a query. */
export function defineQuery<Ret, Args extends unknown[] = [], Name extends string = string>(
  name: Name,
  options?: QueryDefinitionOptions,
): QueryDefinition<Ret, Args, Name> {
  noteDefinition("query", name, defineQuery);
  return makeDefinition("query", name, options);
}

function makeDefinition<Kind, Name, I>(
  type: Kind,
  name: Name,
  options: { typeInfo?: I } | undefined,
) {
  return { type, name, ...(options?.typeInfo !== undefined && { typeInfo: options.typeInfo }) };
}

export interface HandlerOptions<Args extends unknown[] = unknown[]> {
  /** Shown in user interfaces. */
  description?: string;
  /** Whether to warn if the workflow ends while the handler runs (signals and updates). */
  unfinishedPolicy?: HandlerUnfinishedPolicy;
  /** Throws to reject an update before it is recorded. */
  validator?: (...args: Args) => void;
}

const HANDLER_OPTIONS: OptionNames<HandlerOptions> = {
  description: 1,
  unfinishedPolicy: 1,
  validator: 1,
};

/**
 * Sets, replaces or (undefined) removes the handler of a message. Waiting messages are handled in
 * this call.
 */
export function setHandler<Ret, Args extends unknown[]>(
  definition: UpdateDefinition<Ret, Args>,
  handler: ((...args: Args) => Ret | Promise<Ret>) | undefined,
  options?: HandlerOptions<Args>,
): void;
export function setHandler<Ret, Args extends unknown[]>(
  definition: QueryDefinition<Ret, Args>,
  handler: ((...args: Args) => Ret) | undefined,
  options?: HandlerOptions,
): void;
export function setHandler<Args extends unknown[]>(
  definition: SignalDefinition<Args>,
  handler: ((...args: Args) => void | Promise<void>) | undefined,
  options?: HandlerOptions,
): void;
export function setHandler(
  definition: { type: string; name: string; typeInfo?: ValueTypes },
  handler: HandlerFunction | undefined,
  // deno-lint-ignore no-explicit-any
  options: HandlerOptions<any> = {},
): void {
  const run = currentCompatRun(
    "Workflow.setHandler(...) may only be used from a Workflow Execution.",
  );
  rejectMisspelledOptions("setHandler", options, HANDLER_OPTIONS);
  const { messages } = run;
  const { type, name, typeInfo } = definition;
  if (type !== "signal" && type !== "update" && type !== "query") {
    throw new TypeError(`Invalid definition type: ${type}`);
  }
  throwIfReservedName(type, name);
  if (handler === undefined || handler === null) {
    messages[`${type === "query" ? "queries" : `${type}s`}` as "signals" | "updates" | "queries"]
      .delete(name);
    return;
  }
  requireFunction(handler);
  const { description, validator, unfinishedPolicy = HandlerUnfinishedPolicy.WARN_AND_ABANDON } =
    options;
  run.noteHandler(type, name);
  if (type === "query") messages.queries.set(name, { handler, description, typeInfo });
  else if (type === "signal") {
    messages.signals.set(name, { handler, description, unfinishedPolicy, typeInfo });
    messages.dispatchSignals();
  } else {
    messages.updates.set(name, { handler, validator, description, unfinishedPolicy, typeInfo });
    messages.dispatchUpdates();
  }
}

/** Sets the handler for signals without a handler. */
export function setDefaultSignalHandler(handler: DefaultHandler | undefined): void {
  const { messages } = currentCompatRun(
    "Workflow.setDefaultSignalHandler(...) may only be used from a Workflow Execution.",
  );
  messages.defaultSignal = optionalFunction(handler);
  messages.dispatchSignals();
}

/** Sets the handler for updates without a handler. */
export function setDefaultUpdateHandler(handler: DefaultHandler | undefined): void {
  const { messages } = currentCompatRun(
    "Workflow.setDefaultUpdateHandler(...) may only be used from a Workflow Execution.",
  );
  messages.defaultUpdate = optionalFunction(handler);
  messages.dispatchUpdates();
}

/** Sets the handler for queries without a handler. */
export function setDefaultQueryHandler(handler: DefaultHandler | undefined): void {
  const { messages } = currentCompatRun(
    "Workflow.setDefaultQueryHandler(...) may only be used from a Workflow Execution.",
  );
  messages.defaultQuery = optionalFunction(handler);
}

/** Returns whether no signal or update handler is running. */
export function allHandlersFinished(): boolean {
  return currentCompatRun("allHandlersFinished() may only be used from a Workflow Execution.")
    .messages.allFinished;
}

function requireFunction(handler: unknown): void {
  if (typeof handler === "function") return;
  throw new TypeError(
    `Expected handler to be either a function or 'undefined'. Got: '${typeof handler}'`,
  );
}

function optionalFunction(handler: DefaultHandler | undefined): DefaultHandler | undefined {
  if (handler === undefined || handler === null) return undefined;
  requireFunction(handler);
  return handler;
}
