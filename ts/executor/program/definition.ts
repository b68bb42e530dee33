// The executor's view of workflow definitions, messages and handler results. The typed constructors
// are in ts/workflow; these are plain data branded under Symbol.for, shared by two copies of the
// package.
import type { SearchAttributes } from "../../converter/search_attributes.ts";

/** A signal, update or query as data. */
export interface MessageShape {
  readonly kind: "signal" | "update" | "query";
  readonly name: string;
  /** Shown in user interfaces. */
  readonly description?: string;
  /** Standard Schema validators of the arguments, by position. */
  readonly args?: readonly SchemaShape[];
}

/** The used part of Standard Schema (spec 1.1.0). */
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

/** An arm of select: what decides it, and the code that runs if it wins. */
export type ArmShape =
  | {
    readonly source: "signal";
    readonly message: MessageShape;
    readonly handle: (args: unknown[], state: undefined) => unknown;
  }
  | {
    readonly source: "timer";
    readonly name: string | undefined;
    readonly durationMs: number;
    readonly body: () => unknown;
  }
  | {
    readonly source: "promise";
    readonly promise: PromiseLike<unknown>;
    readonly body: (value: unknown) => unknown;
  }
  | {
    readonly source: "call";
    readonly call: () => unknown;
    readonly body: (value: unknown) => unknown;
  };

/** How errors of message handlers that are not Temporal failures are treated. */
export type HandlerErrors = "report" | "failTask";

/**
 * What happens to a run of a versioned worker when another version becomes current. "PINNED": it
 * stays on its version. "AUTO_UPGRADE": its next task goes to the current version.
 */
export type VersioningBehavior = "PINNED" | "AUTO_UPGRADE";

export interface DefinitionShape {
  readonly name: string;
  /** Absent: the worker's default. */
  readonly versioningBehavior?: VersioningBehavior;
  // deno-lint-ignore no-explicit-any
  readonly run: (...args: any[]) => unknown;
  /**
   * Returns the state of the first round for the arguments. `run` is then one round: it gets the
   * state before the arguments, and starts another round by returning the result of `makeCarry`.
   */
  // deno-lint-ignore no-explicit-any
  readonly carry?: (...args: any[]) => unknown;
  // deno-lint-ignore no-explicit-any
  readonly queries: { readonly [name: string]: (published: any, ...args: any[]) => unknown };
  /** The declared messages, if any. */
  readonly messages?: readonly MessageShape[];
  readonly handlerErrors: HandlerErrors;
  /** Number of completed updates that the next run of the chain remembers. Absent: the default. */
  readonly rememberUpdates?: number;
  /** Returns the workflow id for the arguments of a start that gives none. */
  // deno-lint-ignore no-explicit-any
  readonly id?: (...args: any[]) => string;
}

const RESULT = Symbol.for("temporalex.result.1");
const CONTINUE = Symbol.for("temporalex.continue-as-new.1");
const CARRY = Symbol.for("temporalex.carry.1");
const DEFINITION = Symbol.for("temporalex.workflow.1");

export type ResultKind = "noreply" | "reply" | "stop" | "stopReply" | "async";

/** The result of a message handler. */
export interface HandlerResult {
  readonly kind: ResultKind;
  readonly state: unknown;
  readonly response?: unknown;
  readonly fn?: (updateState: unknown) => unknown;
}

/** False for a proxy that throws. */
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

/** The result of a round that continues with another one. */
export interface CarryShape {
  /** The state of the next round. */
  readonly state: unknown;
}

export function makeCarry(shape: CarryShape): CarryShape {
  Object.defineProperty(shape, CARRY, { value: true });
  return shape;
}

export function isCarry(value: unknown): value is CarryShape {
  return has(value, CARRY);
}

/**
 * Returns a function with the properties of the definition. A call of it throws: a workflow is
 * started.
 */
export function makeDefinition<T extends DefinitionShape>(shape: T): T & (() => never) {
  const definition = () => {
    throw new TypeError(
      `the workflow "${shape.name}" was called: a workflow is started, not called. In an application use ` +
        "client.start(workflow, { id, args }), in a workflow spawn(workflow, ...args)",
    );
  };
  Reflect.deleteProperty(definition, "length");
  for (const name of Object.keys(shape)) {
    Object.defineProperty(definition, name, { value: shape[name as keyof T], enumerable: true });
  }
  Object.defineProperty(definition, DEFINITION, { value: Object.freeze(shape) });
  return Object.freeze(definition) as unknown as T & (() => never);
}

/**
 * Calls `run` as a method of the definition's plain properties. V8 names a method by its receiver:
 * a frame of a method of the definition itself would be "Function.run".
 */
export function callRun(definition: DefinitionShape, args: readonly unknown[]): Promise<unknown> {
  const shape = (definition as { readonly [DEFINITION]?: unknown })[DEFINITION];
  return (typeof shape === "object" ? shape as DefinitionShape : definition).run(
    ...args,
  ) as Promise<unknown>;
}

/** True for the result of `workflow(...)`, from any copy of the package. */
export function isWorkflowDefinition(value: unknown): value is DefinitionShape {
  return typeof value === "function" ? Object.hasOwn(value, DEFINITION) : has(value, DEFINITION);
}
