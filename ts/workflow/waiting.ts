// Waits for time, and for a single signal.
import { current } from "../executor/program/current.ts";
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { SignalAwaiter } from "../executor/primitives/signals.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { SleepAwaiter } from "../executor/primitives/timers.ts";
import type { Signal } from "./messages.ts";

/** The result of waitForSignal: undefined, the only argument, or all arguments. */
export type SignalValue<A extends unknown[]> = A extends [] ? undefined
  : A extends [infer X] ? X
  : A;

const SLEEP_OPTIONS: OptionNames<{ summary?: string }> = { summary: 1 };

/**
 * Waits by a durable timer: survives restarts, never fires early. `duration` is milliseconds or
 * text such as "30s"; fractions are rounded up, 0 resolves at once without a timer, negative and
 * NaN throw a RangeError.
 */
export function sleep(
  duration: Duration,
  options: { readonly summary?: string } = {},
): Promise<void> {
  rejectUnknownOptions("sleep", options, SLEEP_OPTIONS);
  const durationMs = toMs(duration);
  const fiber = waitingFiber("sleep");
  if (fiber instanceof Error) return rejected(fiber);
  if (durationMs === 0) return Promise.resolve();
  return new SleepAwaiter(fiber, durationMs, options.summary).promise;
}

/**
 * Takes the oldest buffered signal with that name, or waits for one. Waiters for one name are
 * served in the order of their calls, before a receive that handles the name.
 */
export function waitForSignal<A extends unknown[]>(signal: Signal<A>): Promise<SignalValue<A>>;
export function waitForSignal(name: string): Promise<unknown>;
export function waitForSignal(
  // deno-lint-ignore no-explicit-any
  signal: Signal<any> | string,
  ...surplus: unknown[]
): Promise<unknown> {
  rejectSurplusArguments(
    "waitForSignal",
    surplus,
    'wait for a limited time with select: select([on(signal, ...), timer("10s", () => ...)])',
  );
  const fiber = waitingFiber("waitForSignal");
  if (fiber instanceof Error) return rejected(fiber);
  const message = typeof signal === "string" ? { kind: "signal" as const, name: signal } : signal;
  current.run?.noteHandler?.("signal", message.name);
  return new SignalAwaiter(fiber, message).promise;
}
