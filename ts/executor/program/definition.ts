// What the executor needs to know of a workflow definition, of messages and of handler results, at run time. The typed constructors are
// in ts/workflow; these are plain data with a brand under Symbol.for, so that two copies of the package understand each other.
import type { SearchAttributes } from "../../converter/search_attributes.ts";

/** A signal, update or query as data. */
export interface MessageShape {
  readonly kind: "signal" | "update" | "query";
  readonly name: string;
  /** For people, who read it in user interfaces. */
  readonly description?: string;
  /** Standard Schema validators of the arguments, by position. */
  readonly args?: readonly SchemaShape[];
}

/** The part of Standard Schema (spec 1.1.0) that is used. */
export interface SchemaShape {
  readonly "~standard": {
    readonly validate: (value: unknown) => unknown;
  };
}

export interface HandlerShape {
  readonly source: "signal" | "update";
  readonly message: MessageShape;
  readonly handle: (args: unknown[], state: unknown) => unknown;
  readonly validate: ((args: unknown[], state: unknown) => unknown) | undefined;
}

/** An arm of select: what decides it, and the code that runs when it has won. */
export type ArmShape =
  | { readonly source: "signal"; readonly message: MessageShape; readonly handle: (args: unknown[], state: undefined) => unknown }
  | { readonly source: "timer"; readonly name: string | undefined; readonly durationMs: number; readonly body: () => unknown }
  | { readonly source: "promise"; readonly promise: PromiseLike<unknown>; readonly body: (value: unknown) => unknown }
  | { readonly source: "call"; readonly call: () => unknown; readonly body: (value: unknown) => unknown };

/** What happens with an error of a message handler that is not a Temporal failure. */
export type HandlerErrors = "report" | "failTask";

/**
 * What becomes of a run of a versioned worker when another version of its deployment becomes the current one. "PINNED": it stays with the
 * version that it began on. "AUTO_UPGRADE": its next task goes to the current version.
 */
export type VersioningBehavior = "PINNED" | "AUTO_UPGRADE";

export interface DefinitionShape {
  readonly name: string;
  /** Absent: the worker's default. */
  readonly versioningBehavior?: VersioningBehavior;
  // deno-lint-ignore no-explicit-any
  readonly run: (...args: any[]) => unknown;
  /**
   * Makes the state that the first round begins with, of the arguments. Then `run` is one round: it gets the state before the arguments, and
   * goes on with the next round when it returns what `makeCarry` makes.
   */
  // deno-lint-ignore no-explicit-any
  readonly carry?: (...args: any[]) => unknown;
  // deno-lint-ignore no-explicit-any
  readonly queries: { readonly [name: string]: (published: any, ...args: any[]) => unknown };
  /** The messages that it declares, if it does. */
  readonly messages?: readonly MessageShape[];
  readonly handlerErrors: HandlerErrors;
  /** How many answered updates go on to the run that continues this one. Absent: the executor's default. */
  readonly rememberUpdates?: number;
}

const RESULT = Symbol.for("temporalex.result.1");
const CONTINUE = Symbol.for("temporalex.continue-as-new.1");
const CARRY = Symbol.for("temporalex.carry.1");
const DEFINITION = Symbol.for("temporalex.workflow.1");

export type ResultKind = "noreply" | "reply" | "stop" | "stopReply" | "async";

/** What a message handler returned. */
export interface HandlerResult {
  readonly kind: ResultKind;
  readonly state: unknown;
  readonly response?: unknown;
  readonly fn?: (updateState: unknown) => unknown;
}

/** A proxy that cannot be asked has nothing. */
function has(value: unknown, key: symbol): boolean {
  try {
    return typeof value === "object" && value !== null && key in value;
  } catch {
    return false;
  }
}

export function makeResult(result: HandlerResult): HandlerResult {
  Object.defineProperty(result, RESULT, { value: true });
  return result;
}

export function isHandlerResult(value: unknown): value is HandlerResult {
  return has(value, RESULT);
}

export interface ContinueAsNewOptionsShape {
  readonly workflowType?: string;
  readonly taskQueue?: string;
  readonly runTimeoutMs?: number;
  readonly taskTimeoutMs?: number;
  readonly memo?: { readonly [key: string]: unknown };
  readonly searchAttributes?: SearchAttributes;
}

export interface ContinueAsNewShape {
  readonly args: readonly unknown[];
  readonly options: ContinueAsNewOptionsShape;
  /** The last argument is the state of a workflow that declares `carry`. */
  readonly carries?: boolean;
}

export function makeContinueAsNew(shape: ContinueAsNewShape): ContinueAsNewShape {
  Object.defineProperty(shape, CONTINUE, { value: true });
  return shape;
}

export function isContinueAsNew(value: unknown): value is ContinueAsNewShape {
  return has(value, CONTINUE);
}

/** What a round returned to go on with another one. */
export interface CarryShape {
  /** What the next round begins with. */
  readonly state: unknown;
}

export function makeCarry(shape: CarryShape): CarryShape {
  Object.defineProperty(shape, CARRY, { value: true });
  return shape;
}

export function isCarry(value: unknown): value is CarryShape {
  return has(value, CARRY);
}

export function makeDefinition<T extends DefinitionShape>(definition: T): T {
  Object.defineProperty(definition, DEFINITION, { value: true });
  return Object.freeze(definition);
}

/** True for what `workflow(...)` makes, whichever copy of the package made it. */
export function isWorkflowDefinition(value: unknown): value is DefinitionShape {
  return has(value, DEFINITION);
}
