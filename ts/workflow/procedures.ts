// procedure(name, args): requests work outside of workers, by application code or a person, and
// waits for the result that a client sends (`completeProcedure`, `failProcedure`). It is an
// activity on a queue without workers.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import type { Duration } from "../converter/duration.ts";
import { PROCEDURE_QUEUE, procedureType } from "../converter/procedure_names.ts";
import {
  ActivityAwaiter,
  CANCELLATION,
  prepareActivity,
} from "../executor/primitives/activities.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { NO_PRIORITY } from "./priority.ts";
import { ms, optionalText, quoteValue, readRetryPolicy } from "./retry.ts";
import { wireNames } from "./typed_names.ts";

/** A procedure with arguments `A` and result `R`. Made by {@link procedures}. */
export interface Procedure<A extends unknown[] = [], R = unknown> {
  readonly kind: "procedure";
  readonly name: string;
  readonly _a?: A;
  readonly _r?: R;
}

/** Arguments and result of a procedure in {@link procedures}. Made by {@link signature}. */
export interface ProcedureSignature<A extends unknown[], R> {
  readonly kind: "signature";
  readonly _a?: A;
  readonly _r?: R;
}

/** The procedures of a table, by key. */
export type Procedures<T> = {
  readonly [K in keyof T]: T[K] extends ProcedureSignature<infer A, infer R> ? Procedure<A, R>
    : never;
};

/** Options of {@link procedure}. */
export interface ProcedureOptions {
  /**
   * Longest wait; then it rejects with an ActivityFailure caused by a TimeoutFailure. Default: no
   * limit.
   */
  readonly timeout?: Duration;
  /** Id, unique among the run's open activities. Default: a number. */
  readonly id?: string;
  /** One line for display in the history. */
  readonly summary?: string;
}

/**
 * Declares arguments and result of a procedure, for {@link procedures}.
 *
 * @example
 * signature<[target: number, power: number], number>()
 */
export function signature<A extends unknown[] = [], R = unknown>(): ProcedureSignature<A, R> {
  return Object.freeze({ kind: "signature" });
}

/**
 * Declares the procedures of a workflow. Their names are the keys in snake_case.
 *
 * @example
 * export const game = procedures({ computeDamage: signature<[target: number, power: number], number>() }); // "compute_damage"
 */
// deno-lint-ignore no-explicit-any
export function procedures<T extends { readonly [key: string]: ProcedureSignature<any, any> }>(
  table: T,
): Procedures<T> {
  const made: { [key: string]: unknown } = {};
  for (const [key, name] of wireNames("procedure", Object.keys(table))) {
    const { kind } = (table[key] ?? {}) as Partial<ProcedureSignature<[], unknown>>;
    if (kind !== "signature") {
      throw new TypeError(
        `procedure "${key}" needs signature<[...], ...>() with the types of its arguments and result`,
      );
    }
    made[key] = Object.freeze({ kind: "procedure", name });
  }
  return Object.freeze(made) as Procedures<T>;
}

/** Servers require a timeout of activities. Start-to-close never begins without a worker. */
const NO_LIMIT_MS = 10 * 365 * 86_400_000;

/**
 * Requests a procedure and waits for its result, which a client sends: `client.completeProcedure({
 * workflow, name }, value)`. Rejects with an ActivityFailure caused by the failure of
 * `failProcedure`, or by a TimeoutFailure.
 *
 * @example
 * const damage = await procedure(game.computeDamage, [target, power], { timeout: "1 minute" });
 * const approved = await procedure<boolean>("approve", [order]);
 */
export function procedure<A extends unknown[], R>(
  procedure: Procedure<A, R>,
  ...rest: [] extends A ? [args?: NoInfer<A>, options?: ProcedureOptions]
    : [args: NoInfer<A>, options?: ProcedureOptions]
): Promise<R>;
export function procedure<R = unknown>(
  name: string,
  args?: readonly unknown[],
  options?: ProcedureOptions,
): Promise<R>;
export function procedure(
  given: { readonly name: string } | string,
  args: readonly unknown[] = [],
  options: ProcedureOptions = {},
  ...surplus: unknown[]
): Promise<unknown> {
  const name: unknown = typeof given === "string"
    ? given
    : (given as { readonly name: string } | undefined)?.name;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      'procedure needs a member of procedures({...}), or a name: procedure("compute_damage", [target, power])',
    );
  }
  if (!Array.isArray(args)) {
    throw new TypeError(
      `procedure "${name}" needs its arguments as an array, not ${
        quoteValue(args)
      }: procedure("${name}", [a, b])`,
    );
  }
  rejectUnknownOptions(`procedure "${name}"`, options, PROCEDURE_OPTIONS);
  rejectSurplusArguments(
    "procedure",
    surplus,
    "pass arguments as an array: procedure(name, [a, b], options)",
  );
  const timeoutMs = ms("timeout", options.timeout, 0);
  const spec = prepareActivity({
    activityType: procedureType(name),
    activityId: optionalText("id", options.id) ?? "",
    taskQueue: PROCEDURE_QUEUE,
    scheduleToCloseTimeoutMs: timeoutMs,
    scheduleToStartTimeoutMs: 0,
    startToCloseTimeoutMs: timeoutMs === 0 ? NO_LIMIT_MS : 0,
    heartbeatTimeoutMs: 0,
    // A procedure failed by a client is not retried.
    retryPolicy: ONE_ATTEMPT,
    cancellationType: CANCELLATION.tryCancel,
    summary: optionalText("summary", options.summary),
    priority: NO_PRIORITY,
    versioningIntent: 0,
  });
  const fiber = waitingFiber(`procedure "${name}"`);
  if (fiber instanceof Error) return rejected(fiber);
  return new ActivityAwaiter(fiber, spec, args).promise;
}

const PROCEDURE_OPTIONS: OptionNames<ProcedureOptions> = { timeout: 1, id: 1, summary: 1 };
const ONE_ATTEMPT = readRetryPolicy({ maximumAttempts: 1 });
