// The plain waits: time, and a single signal.
import { type OptionNames, rejectSurplusArguments, rejectUnknownOptions } from "../base/option_names.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { SignalAwaiter } from "../executor/primitives/signals.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { SleepAwaiter } from "../executor/primitives/timers.ts";
import type { Signal } from "./messages.ts";

/** What waitForSignal gives: nothing, the one argument, or all of them. */
export type SignalValue<A extends unknown[]> = A extends [] ? undefined : A extends [infer X] ? X : A;

const SLEEP_OPTIONS: OptionNames<{ summary?: string }> = { summary: 1 };

/**
 * A durable timer: survives restarts, never fires early. `duration` is milliseconds or text such as "30s"; fractions are rounded up, 0
 * resolves at once with no timer, negative and NaN throw a RangeError.
 */
export function sleep(duration: Duration, options: { readonly summary?: string } = {}): Promise<void> {
  rejectUnknownOptions("sleep", options, SLEEP_OPTIONS);
  const durationMs = toMs(duration);
  const fiber = waitingFiber("sleep");
  if (fiber instanceof Error) return rejected(fiber);
  if (durationMs === 0) return Promise.resolve();
  return new SleepAwaiter(fiber, durationMs, options.summary).promise;
}

/**
 * Takes the oldest buffered signal of that name, or waits for one. Several waiters of one name are served in the order of their calls, and
 * before a receive that handles the name.
 */
export function waitForSignal<A extends unknown[]>(signal: Signal<A>): Promise<SignalValue<A>>;
export function waitForSignal(name: string): Promise<unknown>;
// deno-lint-ignore no-explicit-any
export function waitForSignal(signal: Signal<any> | string, ...surplus: unknown[]): Promise<unknown> {
  rejectSurplusArguments(
    "waitForSignal",
    surplus,
    'wait for a limited time with select: select([on(signal, ...), timer("10s", () => ...)])',
  );
  const fiber = waitingFiber("waitForSignal");
  if (fiber instanceof Error) return rejected(fiber);
  return new SignalAwaiter(fiber, typeof signal === "string" ? { kind: "signal", name: signal } : signal).promise;
}
