// select: the first of several arms, with code for each. timer: named durable timers, and timer
// arms.
import { rejectSurplusArguments } from "../base/option_names.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import type { ArmShape } from "../executor/program/definition.ts";
import { callingFiber, waitingFiber } from "../executor/scheduler/api_guard.ts";
import { MisuseError } from "../executor/program/errors.ts";
import { SelectScope } from "../executor/primitives/select.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { SleepAwaiter } from "../executor/primitives/timers.ts";
import type { Arm, SignalHandler, UpdateHandler } from "./on.ts";
import { quoteValue } from "./retry.ts";

/** The value of a select: the result of any of its bodies. */
export type SelectValue<A extends readonly unknown[]> = {
  [K in keyof A]: A[K] extends Arm<infer R> ? Awaited<R> : never;
}[number];

/** Type error for a value that is not an arm. */
export interface NotAnArm<Why extends string> {
  readonly "this cannot be an arm of select": Why;
}
type CheckedArms<A extends readonly unknown[]> = A["length"] extends 0
  ? NotAnArm<"it is empty, so it would never return">
  : {
    readonly [K in keyof A]: A[K] extends Arm<unknown> ? A[K]
      // deno-lint-ignore no-explicit-any
      : A[K] extends UpdateHandler<any>
        ? NotAnArm<"an update needs a response: handle it in a receive">
      : A[K] extends PromiseLike<unknown>
        ? NotAnArm<"a promise needs a body: on(promise, (value) => ...)">
      : NotAnArm<"create arms with on and timer">;
  };

/** An arm whose body returns an `R`. */
type ArmOf<R> = Arm<R | Promise<R>> | SignalHandler<never, R | Promise<R>>;

/**
 * Waits for the first of several arms and runs its body; the value is the body's. Arms that are
 * ready at the call win in written order: a buffered signal, a settled promise, a timer of duration
 * 0. Otherwise the arm whose event is first in history wins. Before the body runs, the other arms
 * are canceled: their timers, and what their functions started; signals stay buffered, and promises
 * continue. A failure of a function or promise is thrown. The call and its bodies follow the rules
 * of the call site.
 *
 * @example
 * const answer = await select([
 *   on(approve, ([by]) => `approved by ${by}`),
 *   on(() => checks.run(order), (report) => report.verdict), // cancelled when another arm wins
 *   timer("3 days", () => "no answer"),
 * ]);
 */
export function select<R = never, const A extends readonly unknown[] = readonly unknown[]>(
  arms: [R] extends [never] ? A & CheckedArms<A> : readonly ArmOf<NoInfer<R>>[],
  ...surplus: never[]
): Promise<[R] extends [never] ? SelectValue<A> : R> {
  rejectSurplusArguments(
    "select",
    surplus,
    'select needs one array of arms; add a time limit as an arm: timer("10s", () => ...)',
  );
  const { run } = callingFiber("select");
  if (!Array.isArray(arms)) {
    run.misuse(new MisuseError("select needs an array of on(...) and timer(...) arms"));
  }
  if (arms.length === 0) {
    run.misuse(new MisuseError("select has no arms, so it would never return"));
  }
  const signals = new Set<string>();
  // `from`: forEach skips the holes of an array.
  Array.from(arms).forEach((arm: unknown, i) => {
    const wrong = problemOf(arm, signals);
    if (wrong !== undefined) run.misuse(new MisuseError(`arm ${i + 1} of select ${wrong}`));
  });
  const fiber = waitingFiber("select");
  if (fiber instanceof Error) return rejected(fiber);
  const scope = new SelectScope(fiber, arms as readonly ArmShape[]);
  return scope.awaiter.promise.then((body) => body()) as Promise<
    [R] extends [never] ? SelectValue<A> : R
  >;
}

function problemOf(arm: unknown, signals: Set<string>): string | undefined {
  const { source, message, then } = (arm ?? {}) as {
    source?: unknown;
    message?: { name: string };
    then?: unknown;
  };
  switch (source) {
    case "signal":
      if (signals.has(message!.name)) {
        return `is for signal "${message!.name}", like an earlier arm, which would always win`;
      }
      signals.add(message!.name);
      return undefined;
    case "timer":
    case "promise":
    case "call":
      return undefined;
    case "update":
      return `is update "${message!.name}"; an update needs a response, so handle it in a receive`;
    default:
      return typeof then === "function"
        ? "is a promise without a body: write on(promise, (value) => ...)"
        : `is ${quoteValue(arm)}; create arms with on(...) and timer(...)`;
  }
}

// Forms with a body first: otherwise the result of a body would lose its literal type.

/**
 * An arm of a select: a durable timer, optionally named, that starts with the select and is
 * canceled if another arm wins. With duration 0 it wins unless an earlier arm is ready.
 *
 * @example
 * for (;;) await select([on(stack, add), timer("60s", expire)]); // 60 seconds again after each stack
 */
export function timer<R extends BodyValue>(duration: Duration, body: () => R): Arm<R>;
export function timer<R extends BodyValue>(name: string, duration: Duration, body: () => R): Arm<R>;
/**
 * A named durable timer; the name is shown in the history, as by `sleep(duration, { summary: name
 * })`. It starts at once; its promise can be an arm of several selects in a row.
 *
 * @example
 * const deadline = timer("offer ends", "1 hour");
 * for (;;) await select([on(bid, take), on(deadline, close)]); // an hour for all the bids together
 */
export function timer(name: string, duration: Duration): Promise<void>;
export function timer(
  first: Duration,
  second: Duration | (() => unknown),
  third?: () => unknown,
  ...surplus: unknown[]
): Promise<void> | Arm<unknown> {
  const isUnnamedArm = typeof second === "function";
  rejectSurplusArguments(
    "timer",
    isUnnamedArm ? [third, ...surplus] : surplus,
    "timer needs a name, a duration and a function",
  );
  if (isUnnamedArm) return armOf(undefined, first, second);
  if (typeof first !== "string" || first === "") {
    throw new TypeError(`the name of a timer must be a non-empty string, not ${quoteValue(first)}`);
  }
  if (third !== undefined) return armOf(first, second, third);
  const durationMs = toMs(second);
  const fiber = waitingFiber("timer");
  if (fiber instanceof Error) return rejected(fiber);
  if (durationMs === 0) return Promise.resolve();
  return new SleepAwaiter(fiber, durationMs, first, first).promise;
}

// deno-lint-ignore ban-types
type BodyValue = string | {} | null | undefined | void;

function armOf(name: string | undefined, duration: Duration, body: () => unknown): Arm<unknown> {
  if (typeof body !== "function") {
    throw new TypeError(`the body of a timer must be a function, not ${quoteValue(body)}`);
  }
  return { source: "timer", name, durationMs: toMs(duration), body } as ArmShape & Arm<unknown>;
}
