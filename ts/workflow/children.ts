// Child workflows, which this workflow starts, awaits, signals and cancels. A child is a separate
// workflow with its own id, history and workers; it shares result, cancellation and parent close
// policy with its parent.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import type { TaskPriority } from "../base/priority.ts";
import type { Duration } from "../converter/duration.ts";
import type { SearchAttributes } from "../converter/search_attributes.ts";
import {
  cancelledByHandle,
  Child,
  CHILD_CANCELLATION,
  ChildAwaiter,
  type ChildOptionsShape,
} from "../executor/primitives/children.ts";
import { deriveId } from "../converter/derived_id.ts";
import { callingFiber, waitingFiber } from "../executor/scheduler/api_guard.ts";
import { ExternalSignalAwaiter } from "../executor/primitives/externals.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import type { WorkflowDefinition } from "./definition.ts";
import type { Signal } from "./messages.ts";
import { NO_PRIORITY, readPriority } from "./priority.ts";
import { ms, optionalText, quoteValue, readRetryPolicy, type RetryOptions } from "./retry.ts";

/**
 * Options of a child workflow, except its arguments. Durations: milliseconds or text such as "10s".
 */
export interface ChildWorkflowOptions {
  /**
   * Workflow id. Default: what the child's definition derives (`workflow(name, { id })`), else a
   * UUID, the same on replay. A business key ensures a single open run.
   */
  readonly id?: string;
  /** Task queue of the child. Default: the parent's. */
  readonly taskQueue?: string;
  /**
   * Whether an id of a closed run may be reused. Default: ALLOW_DUPLICATE. An open run's id never
   * is.
   */
  readonly idReusePolicy?: "ALLOW_DUPLICATE" | "ALLOW_DUPLICATE_FAILED_ONLY" | "REJECT_DUPLICATE";
  /**
   * What happens when the parent closes: TERMINATE (default), REQUEST_CANCEL, or ABANDON (it
   * continues).
   */
  readonly parentClosePolicy?: "TERMINATE" | "ABANDON" | "REQUEST_CANCEL";
  /**
   * On cancellation: "waitCancellationCompleted" (default) requests it and waits for the end of the
   * child; "tryCancel" requests it and rejects at once; "abandon" rejects at once and lets it run.
   * "waitCancellationRequested" waits for the end too, as in Temporal's SDKs.
   */
  readonly cancellationType?:
    | "waitCancellationCompleted"
    | "waitCancellationRequested"
    | "tryCancel"
    | "abandon";
  /** Retry policy of the child. Default: no retries. */
  readonly retry?: RetryOptions;
  /** Limit of all its runs together, including retries and continue-as-new. */
  readonly executionTimeout?: Duration;
  /** Limit of one run. */
  readonly runTimeout?: Duration;
  /** Limit of one workflow task. */
  readonly taskTimeout?: Duration;
  /** A cron expression: the service restarts it repeatedly, and its result comes at the end. */
  readonly cronSchedule?: string;
  /** Data in describe and list responses, not searchable. */
  readonly memo?: { readonly [key: string]: unknown };
  /** Attributes for queries of lists. */
  readonly searchAttributes?: SearchAttributes;
  /** One line for display in the history. */
  readonly summary?: string;
  /** More text for display. */
  readonly details?: string;
  /** Order of its tasks in the queue. Default: the parent's. */
  readonly priority?: TaskPriority;
}

/** `args`, optional if every argument is. */
export type ChildArgs<A extends unknown[]> = [] extends A ? { readonly args?: A }
  : { readonly args: A };

/** The options argument of a child; optional if nothing in it is required. */
export type ChildOptions<A extends unknown[]> = [] extends A
  ? [options?: ChildWorkflowOptions & ChildArgs<A>]
  : [options: ChildWorkflowOptions & ChildArgs<A>];

/** A started child workflow with result `R`. */
export interface ChildWorkflowHandle<R = unknown> {
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
  /**
   * Waits for the end. Resolves to the result, or rejects with a ChildWorkflowFailure that has the
   * cause. May be called repeatedly; a canceled wait does not cancel the child.
   */
  result(): Promise<R>;
  /**
   * Sends a signal; resolves when the service has recorded it. Rejects with an ApplicationFailure
   * if closed.
   */
  signal<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    ...args: NoInfer<A>
  ): Promise<void>;
  /**
   * Requests cancellation according to `cancellationType`; `result()` has the outcome. Later calls
   * have no effect. The request leaves with the task; a Temporal server drops it if the parent
   * closes in the same task.
   */
  cancel(reason?: string): void;
}

// The overload with a definition is last: TypeScript 7 reports its mismatch.

/** Starts a child by the name of its workflow type. */
export function executeChild<R = unknown>(
  workflowType: string,
  options?: ChildWorkflowOptions & { readonly args?: readonly unknown[] },
): Promise<R>;
/**
 * Starts a child workflow and waits for its result. Rejects with a ChildWorkflowFailure that has
 * the cause, or a WorkflowExecutionAlreadyStartedError if its id is taken.
 *
 * @example
 * const tracking = await executeChild(shipping, { id: `shipping-${order.id}`, args: [order.items], retry: { maximumAttempts: 3 } });
 */
export function executeChild<A extends unknown[], R>(
  workflow: WorkflowDefinition<A, R>,
  ...options: ChildOptions<NoInfer<A>>
): Promise<R>;
export function executeChild(
  workflow: { readonly name: string } | string,
  options: Given = {},
  ...surplus: unknown[]
): Promise<unknown> {
  rejectSurplusArguments("executeChild", surplus, OPTIONS_HOLD_ARGS);
  const shape = checked("executeChild", workflow, options);
  const fiber = waitingFiber("executeChild");
  if (fiber instanceof Error) return rejected(fiber);
  return new ChildAwaiter(fiber, new Child(fiber, shape), "end", true).promise;
}

/** Starts a child by the name of its workflow type. */
export function startChild<R = unknown>(
  workflowType: string,
  options?: ChildWorkflowOptions & { readonly args?: readonly unknown[] },
): Promise<ChildWorkflowHandle<R>>;
/**
 * Starts a child workflow, waits for its start, and returns a handle, for example to signal it or
 * to let it run (`parentClosePolicy: "ABANDON"`). Rejects with a
 * WorkflowExecutionAlreadyStartedError if its id is taken.
 *
 * @example
 * const handle = await startChild(shipping, { args: [order.items] });
 * await handle.signal(expedite);
 * const tracking = await handle.result();
 */
export function startChild<A extends unknown[], R>(
  workflow: WorkflowDefinition<A, R>,
  ...options: ChildOptions<NoInfer<A>>
): Promise<ChildWorkflowHandle<R>>;
export function startChild(
  workflow: { readonly name: string } | string,
  options: Given = {},
  ...surplus: unknown[]
): Promise<ChildWorkflowHandle> {
  rejectSurplusArguments("startChild", surplus, OPTIONS_HOLD_ARGS);
  const shape = checked("startChild", workflow, options);
  const fiber = waitingFiber("startChild");
  if (fiber instanceof Error) return rejected(fiber);
  const child = new Child(fiber, shape);
  return new ChildAwaiter(fiber, child, "start", true, () => handleOf(child)).promise as Promise<
    ChildWorkflowHandle
  >;
}

/** Starts a child by the name of its workflow type. */
export function spawn<R = unknown>(workflowType: string, ...args: unknown[]): Promise<R>;
/**
 * Starts a child workflow with these arguments and waits for its result, as {@link executeChild}
 * without options.
 *
 * @example
 * const result = await spawn(combat, { attacker, defender });
 */
export function spawn<A extends unknown[], R>(
  workflow: WorkflowDefinition<A, R>,
  ...args: NoInfer<A>
): Promise<R>;
export function spawn(
  workflow: { readonly name: string } | string,
  ...args: unknown[]
): Promise<unknown> {
  const shape = checked("spawn", workflow, { args });
  const fiber = waitingFiber("spawn");
  if (fiber instanceof Error) return rejected(fiber);
  return new ChildAwaiter(fiber, new Child(fiber, shape), "end", true).promise;
}

function handleOf(child: Child): ChildWorkflowHandle {
  const { workflowId } = child;
  return Object.freeze({
    workflowId,
    firstExecutionRunId: child.runId!,
    result() {
      const fiber = waitingFiber("result of a child workflow");
      if (fiber instanceof Error) return rejected(fiber);
      return new ChildAwaiter(fiber, child, "end", false).promise;
    },
    signal(signal: { readonly name: string } | string, ...args: unknown[]) {
      const name = requireName("signal", signal);
      const fiber = waitingFiber(`signal "${name}" to a child workflow`);
      if (fiber instanceof Error) return rejected(fiber);
      return new ExternalSignalAwaiter(fiber, { workflowId, runId: "", isChild: true }, name, args)
        .promise;
    },
    cancel(reason?: string) {
      const why = optionalText("the reason of a cancel request", reason) ?? "";
      callingFiber("cancel of a child workflow");
      child.cancel(why, cancelledByHandle(child, why));
    },
  }) as ChildWorkflowHandle;
}

/** Returns the name of a definition, or the name itself. Throws a TypeError for anything else. */
export function requireName(api: string, definition: { readonly name: string } | string): string {
  const name: unknown = typeof definition === "string"
    ? definition
    : (definition as { name?: string } | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  const shown = definition === undefined
    ? "undefined (check that the module exports this name)"
    : definition === ""
    ? "an empty string"
    : `a value of type ${typeof definition} without a name`;
  throw new TypeError(`${api} needs a definition or a name, not ${shown}`);
}

type Given = ChildWorkflowOptions & { readonly args?: readonly unknown[] };

/** Numbers of temporal.api.enums.v1. */
const PARENT_CLOSE = { TERMINATE: 1, ABANDON: 2, REQUEST_CANCEL: 3 } as const;
const ID_REUSE = {
  ALLOW_DUPLICATE: 1,
  ALLOW_DUPLICATE_FAILED_ONLY: 2,
  REJECT_DUPLICATE: 3,
} as const;
const CHILD_OPTIONS: OptionNames<Given> = {
  ...{
    id: 1,
    args: 1,
    taskQueue: 1,
    idReusePolicy: 1,
    parentClosePolicy: 1,
    cancellationType: 1,
    retry: 1,
  },
  ...{
    executionTimeout: 1,
    runTimeout: 1,
    taskTimeout: 1,
    cronSchedule: 1,
    memo: 1,
    searchAttributes: 1,
  },
  ...{ summary: 1, details: 1, priority: 1 },
};
const OPTIONS_HOLD_ARGS = "pass arguments in args: { args: [a, b] }";

function oneOf<T extends object>(option: string, table: T, value: keyof T): T[keyof T] {
  if (Object.hasOwn(table, value)) return table[value];
  throw new TypeError(
    `${option} must be one of ${Object.keys(table).join(", ")}, not ${JSON.stringify(value)}`,
  );
}

/** Converts the options for the executor. Throws for invalid values. */
function checked(
  api: string,
  workflow: { readonly name: string } | string,
  options: Given,
): ChildOptionsShape {
  const workflowType = requireName(api, workflow);
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(
      `${api}: options must be an object, not ${quoteValue(options)}; pass arguments in its args`,
    );
  }
  const { args = [], retry } = options;
  rejectUnknownOptions(api, options, CHILD_OPTIONS);
  if (options.id !== undefined && (typeof options.id !== "string" || options.id === "")) {
    throw new TypeError(`${api}: id must be a non-empty string, not ${quoteValue(options.id)}`);
  }
  if (!Array.isArray(args)) throw new TypeError(`${api}: args must be an array of the arguments`);
  const id = options.id ?? deriveId(workflow, args);
  const text = (option: "taskQueue" | "cronSchedule" | "summary" | "details") =>
    optionalText(`${api}: ${option}`, options[option]);
  for (const option of ["memo", "searchAttributes"] as const) {
    const value: unknown = options[option];
    if (
      value !== undefined &&
      (typeof value !== "object" || value === null || (option === "memo" && Array.isArray(value)))
    ) {
      throw new TypeError(
        `${api}: ${option} must be an object that maps names to values, not ${quoteValue(value)}`,
      );
    }
  }
  return {
    workflowId: id,
    workflowType,
    args,
    taskQueue: text("taskQueue") ?? "",
    workflowExecutionTimeoutMs: ms("executionTimeout", options.executionTimeout, 0),
    workflowRunTimeoutMs: ms("runTimeout", options.runTimeout, 0),
    workflowTaskTimeoutMs: ms("taskTimeout", options.taskTimeout, 0),
    parentClosePolicy: oneOf(
      "parentClosePolicy",
      PARENT_CLOSE,
      options.parentClosePolicy ?? "TERMINATE",
    ),
    workflowIdReusePolicy: oneOf(
      "idReusePolicy",
      ID_REUSE,
      options.idReusePolicy ?? "ALLOW_DUPLICATE",
    ),
    cancellationType: oneOf(
      "cancellationType",
      CHILD_CANCELLATION,
      options.cancellationType ?? "waitCancellationCompleted",
    ),
    retryPolicy: retry === undefined ? undefined : readRetryPolicy(retry),
    cronSchedule: text("cronSchedule") ?? "",
    priority: readPriority(options.priority, NO_PRIORITY),
    versioningIntent: 0,
    memo: options.memo,
    searchAttributes: options.searchAttributes,
    summary: text("summary"),
    details: text("details"),
  };
}
